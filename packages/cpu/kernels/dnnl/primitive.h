// oneDNN's primitives as kernels use them: made once per shapes, run without an allocation.
#ifndef DRYSTONE_CPU_DNNL_PRIMITIVE_H_
#define DRYSTONE_CPU_DNNL_PRIMITIVE_H_

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include <dnnl.hpp>

#include "core/kernel.h"
#include "omp/omp.h"

namespace drystone::cpu::dnnl_part {

using Desc = dnnl::memory::desc;
using Shape = dnnl::memory::dims;
using Type = dnnl::memory::data_type;

const dnnl::engine& engine();
const dnnl::stream& stream();
// Sets how many threads oneDNN takes from this one: the host's limit for what has so many operations
// on so many elements, else one, as handing on takes a while. How many they are.
int threads_for(std::int64_t operations, std::int64_t elements);
// Scratch memory of the caller's, float32 that stays float32.
dnnl::primitive_attr attributes();

// oneDNN's name of float32, and of the floats of 16 bits.
Type type_of(TF_DataType dtype);
// Whether the processor multiplies such elements itself: what it has no instructions for is widened.
bool is_native(TF_DataType dtype);

// Dense, the last dimension fastest.
Desc dense(const Shape& dims, Type type = Type::f32);
// With any order of the elements in memory that suits.
Desc any(const Shape& dims, Type type = Type::f32);

// An argument of a primitive: what it is, and where its elements are.
struct Operand {
  int argument;
  const void* data;
};

// A primitive whose threads wait for one another is made where the system gives no threads: it must be made
// again, for one.
struct NoGang : std::exception {};

// A primitive with the shapes, and the threads, that it was made for.
class Primitive {
 public:
  // Every argument that a run gives must be among `operands`.
  Primitive(dnnl::primitive primitive, std::vector<std::pair<int, Desc>> operands,
            const Desc& scratch);
  ~Primitive();
  Primitive(const Primitive&) = delete;
  Primitive& operator=(const Primitive&) = delete;

  // Several threads may run it at once.
  void run(const Call& call, std::initializer_list<Operand> given,
           const std::vector<Operand>& more = {}) const;

 private:
  struct Arguments;
  Arguments* take() const;

  dnnl::primitive primitive_;
  std::vector<std::pair<int, Desc>> operands_;
  Desc scratch_;
  int threads_;
  bool needs_gang_;
  mutable std::atomic<Arguments*> spare_{nullptr};
};

std::unique_ptr<Primitive> make_reorder(const Desc& from, const Desc& to);

// What a primitive is chosen by: dims of inputs and the like.
class Key {
 public:
  Key& operator<<(std::int64_t value) {
    if (count_ < kMost) values_[count_] = value;
    ++count_;
    return *this;
  }
  Key& operator<<(DimsView dims) {
    *this << static_cast<std::int64_t>(dims.size());
    for (const std::int64_t dim : dims) *this << dim;
    return *this;
  }
  bool fits() const { return count_ <= kMost; }
  bool operator==(const Key& other) const {
    return count_ == other.count_ &&
           std::memcmp(values_, other.values_,
                       sizeof values_[0] * static_cast<std::size_t>(count_)) == 0;
  }

 private:
  static constexpr int kMost = 40;
  int count_ = 0;
  std::int64_t values_[kMost];
};

// Plans of a kernel by their keys. The latest one is found without a lock. Once there are kMost,
// what else comes is made for its call alone: oneDNN keeps such primitives for a while itself.
template <class Plan>
class Plans {
 public:
  // body(plan) with the plan of the key, or one that make() gives.
  template <class Make, class Body>
  void with(const Key& key, Make&& make, Body&& body) {
    const Item* item = latest_.load(std::memory_order_acquire);
    if (item == nullptr || !(item->key == key)) item = find(key, make);
    if (item != nullptr) {
      body(*item->plan);
      return;
    }
    const std::unique_ptr<Plan> plan = made(make);
    body(*plan);
  }

 private:
  static constexpr std::size_t kMost = 64;
  struct Item {
    Key key;
    std::unique_ptr<Plan> plan;
  };

  template <class Make>
  static std::unique_ptr<Plan> made(Make&& make) {
    try {
      return make();
    } catch (const NoGang&) {
      drystone_omp_set_threads(1);
      return make();
    }
  }

  template <class Make>
  const Item* find(const Key& key, Make&& make) {
    if (!key.fits()) return nullptr;
    const std::lock_guard lock(mutex_);
    for (const auto& item : items_) {
      if (!(item->key == key)) continue;
      latest_.store(item.get(), std::memory_order_release);
      return item.get();
    }
    if (items_.size() == kMost) return nullptr;
    items_.push_back(std::make_unique<Item>(Item{key, made(make)}));
    latest_.store(items_.back().get(), std::memory_order_release);
    return items_.back().get();
  }

  std::atomic<const Item*> latest_{nullptr};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Item>> items_;
};

}  // namespace drystone::cpu::dnnl_part

#endif  // DRYSTONE_CPU_DNNL_PRIMITIVE_H_

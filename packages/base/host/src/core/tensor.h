// What a TF_Tensor is inside the host.
#ifndef DRYSTONE_HOST_CORE_TENSOR_H_
#define DRYSTONE_HOST_CORE_TENSOR_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/blocks.h"
#include "core/live.h"
#include "drystone/tensor.h"

namespace drystone::host {

struct GuardOwner;

inline constexpr std::size_t kAlignment = 64;

// A block of memory with a reference count. Not copied, not moved: handles point to it.
struct Memory {
  std::atomic<int> references{1};
  TF_DataType dtype = TF_FLOAT;                         // whose elements are destroyed with it
  void* data = nullptr;
  std::size_t length = 0;
  void (*deallocator)(void*, std::size_t, void*) = nullptr;
  void* argument = nullptr;
  std::uint64_t token = 0;                              // of memory that the embedder lent
  std::atomic<TF_Tensor*> adapted{nullptr};             // what libraries' kernels get in its place
  bool ours = false;                                    // allocated by the host, behind this struct;
                                                        // `argument` is an Arena then, `token` a slot
  bool planned : 1 = false;                             // it lies in that arena
  bool guarded : 1 = false;                             // guard bytes around `data`: core/memory_guards.h
  std::uint8_t device = 0;                              // 1 + its ordinal: `data` is no host memory
  bool opaque = false;                                  // `data` is the embedder's object
  bool constant = false;                                // a plan holds it: worth working ahead for
  bool stored = false;                                  // elements are in a file, see core/stored.h
  bool shared = false;                                  // with others, which are not counted
  bool lent = false;                                    // to a run, which copies it: see DS_NewFeed
};
static_assert(sizeof(Memory) <= 64);

void free_memory(Memory* memory) noexcept;  // that nothing refers to any more

inline void retain(Memory* memory) noexcept {
  if (memory != nullptr) memory->references.fetch_add(1, std::memory_order_relaxed);
}
// NULL is accepted.
inline void release(Memory* memory) noexcept {
  if (memory == nullptr) return;
  if (memory->references.load(std::memory_order_acquire) == 1 ||
      memory->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    free_memory(memory);
  }
}

// Memory of the host's, aligned; zeroed where the dtype needs it. `owner`: whose kernel fills it, with guard
// bytes around it; NULL: without. Throws bad_alloc.
Memory* allocate(TF_DataType dtype, std::size_t length, const GuardOwner* owner = nullptr);

// Where it lies; what was taken includes the head that the host puts before the data.
Allocation allocation_of(const Memory& memory) noexcept;

// Dimensions: up to four without an allocation.
class Dims {
 public:
  Dims() = default;
  void assign(const std::int64_t* dims, int count) {
    if (count > kFew || more_ != nullptr) return assign_more(dims, count);
    for (int k = 0; k < count; ++k) few_[k] = dims[k];
    count_ = count;
  }
  int rank() const { return count_; }
  const std::int64_t* data() const { return more_ == nullptr ? few_ : more_.get(); }
  std::int64_t operator[](int k) const { return data()[k]; }
  bool equal(const std::int64_t* dims, int count) const {
    if (count != count_) return false;
    const std::int64_t* own = data();
    for (int k = 0; k < count; ++k) {
      if (own[k] != dims[k]) return false;
    }
    return true;
  }

 private:
  static constexpr int kFew = 4;
  void assign_more(const std::int64_t* dims, int count);

  std::int64_t few_[kFew];
  std::unique_ptr<std::int64_t[]> more_;
  int count_ = 0;
};

// The number of elements, or nothing when a dimension is negative or the product overflows.
std::optional<std::int64_t> elements(const std::int64_t* dims, int count) noexcept;

// Bytes that one element takes in memory: 24 for strings, 8 for handles; 0 for an unknown dtype.
std::size_t stored_size(TF_DataType dtype) noexcept;

// Whether elements are objects that must be zeroed first and destroyed last.
bool has_objects(TF_DataType dtype) noexcept;

}  // namespace drystone::host

// A handle of memory: one cache line.
struct TF_Tensor {
  TF_Tensor() { drystone::host::born(drystone::host::Kind::tensor); }
  TF_Tensor(TF_DataType dtype_, const std::int64_t* dims_, int count,
            drystone::host::Memory* memory_)
      : dtype(dtype_) {
    dims.assign(dims_, count);
    memory = memory_;
    drystone::host::born(drystone::host::Kind::tensor);
  }
  ~TF_Tensor() {
    users.store(kDeleted, std::memory_order_relaxed);  // which stays until something else lies here
    drystone::host::release(memory);
    drystone::host::died(drystone::host::Kind::tensor);
  }
  TF_Tensor(const TF_Tensor&) = delete;
  TF_Tensor& operator=(const TF_Tensor&) = delete;

  // Elements. Dims were checked when they were set.
  std::int64_t count() const noexcept {
    std::uint64_t product = 1;  // wraps beside a dimension of 0
    const std::int64_t* dim = dims.data();
    for (int k = 0; k < dims.rank(); ++k) product *= static_cast<std::uint64_t>(dim[k]);
    return static_cast<std::int64_t>(product);
  }

  static void* operator new(std::size_t size) { return drystone::host::allocate_block(size); }
  static void operator delete(void* tensor, std::size_t size) noexcept {
    drystone::host::free_block(tensor, size);
  }

  [[no_unique_address]] drystone::host::Dims dims;
  TF_DataType dtype = TF_FLOAT;              // in the room that dims leave
  drystone::host::Memory* memory = nullptr;  // NULL: no value yet
  std::atomic<std::int32_t> users{1};        // of the executor, which shares whole tensors
  static constexpr std::int32_t kDeleted = -0x44454144;
  bool is_session_constant = false;          // of a variable that the plan does not change
};
static_assert(sizeof(TF_Tensor) <= drystone::host::kBlockUnit);

namespace drystone::host {

// A tensor with fresh memory; fails for bad dims or an unknown dtype.
TF_Tensor* new_tensor(TF_DataType dtype, const std::int64_t* dims, int count);
// The same for what a kernel asks for, whose size may come from data: fails with RESOURCE_EXHAUSTED for what
// this machine has no memory for (core/memory_limit.h).
TF_Tensor* new_tensor_that_fits(TF_DataType dtype, const std::int64_t* dims, int count,
                                const GuardOwner* owner = nullptr);

// TF_NewTensor for memory at any address, for runs to copy: DS_NewFeed. NULL for what is no tensor.
TF_Tensor* new_lent(TF_DataType dtype, const std::int64_t* dims, int count, void* data, std::size_t length,
                    void (*deallocator)(void*, std::size_t, void*), void* argument);

// Another handle of the same memory.
TF_Tensor* share(const TF_Tensor& tensor);

// Rows of a tensor of plain numbers along its first dimension: in its memory where they begin at a
// multiple of kAlignment, else a copy.
TF_Tensor* rows_of(const TF_Tensor& whole, std::int64_t first, std::int64_t count);

// TF_Tensor::users counts who holds a tensor as a whole; its memory counts tensors. Everyone who is
// given a tensor gives it back by drop(): TF_DeleteTensor is that.
inline TF_Tensor* hold(TF_Tensor* tensor) noexcept {
  tensor->users.fetch_add(1, std::memory_order_relaxed);
  return tensor;
}

// The same for a holder, not a borrower: no other holder counts while it is the only one.
inline TF_Tensor* hold_own(TF_Tensor* tensor) noexcept {
  if (tensor->users.load(std::memory_order_acquire) != 1) return hold(tensor);
  tensor->users.store(2, std::memory_order_relaxed);
  return tensor;
}

// NULL is accepted.
inline void drop(TF_Tensor* tensor) noexcept {
  if (tensor == nullptr) return;
  if (tensor->users.load(std::memory_order_acquire) == 1 ||
      tensor->users.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    delete tensor;
  }
}

// Whether the holder of the tensor is the only one that can reach its memory, which is the host's.
inline bool is_exclusive(const TF_Tensor& tensor) noexcept {
  return tensor.memory != nullptr && tensor.memory->ours &&
         tensor.users.load(std::memory_order_acquire) == 1 &&
         tensor.memory->references.load(std::memory_order_acquire) == 1;
}

// Make `to` refer to what `from` refers to.
void assign(TF_Tensor* to, const TF_Tensor& from);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_TENSOR_H_

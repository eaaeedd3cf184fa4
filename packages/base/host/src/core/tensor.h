// What a TF_Tensor is inside the host.
#ifndef DRYSTONE_HOST_CORE_TENSOR_H_
#define DRYSTONE_HOST_CORE_TENSOR_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "drystone/tensor.h"

namespace drystone::host {

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
  bool ours = false;                                    // allocated by the host, behind this struct
  bool opaque = false;                                  // `data` is the embedder's object
  bool constant = false;                                // a plan holds it: worth working ahead for
};

void free_memory(Memory* memory) noexcept;  // that nobody refers to any more

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

// Memory of the host's, aligned; zeroed where the dtype needs it. Throws bad_alloc.
Memory* allocate(TF_DataType dtype, std::size_t length);

// Dimensions: up to four without an allocation.
class Dims {
 public:
  Dims() = default;
  void assign(const std::int64_t* dims, int count) {
    if (count > kFew || !more_.empty()) return assign_more(dims, count);
    for (int k = 0; k < count; ++k) few_[k] = dims[k];
    count_ = count;
  }
  int rank() const { return count_; }
  const std::int64_t* data() const { return more_.empty() ? few_ : more_.data(); }
  std::int64_t operator[](int k) const { return data()[k]; }

 private:
  static constexpr int kFew = 4;
  void assign_more(const std::int64_t* dims, int count);

  int count_ = 0;
  std::int64_t few_[kFew];
  std::vector<std::int64_t> more_;
};

// The number of elements, or nothing when a dimension is negative or the product overflows.
std::optional<std::int64_t> elements(const std::int64_t* dims, int count) noexcept;

// Bytes that one element takes in memory: 24 for strings, 8 for handles; 0 for an unknown dtype.
std::size_t stored_size(TF_DataType dtype) noexcept;

// Whether elements are objects that must be zeroed first and destroyed last.
bool has_objects(TF_DataType dtype) noexcept;

}  // namespace drystone::host

struct TF_Tensor {
  TF_Tensor();
  TF_Tensor(TF_DataType dtype, const std::int64_t* dims, int count, drystone::host::Memory* memory);
  ~TF_Tensor();
  TF_Tensor(const TF_Tensor&) = delete;
  TF_Tensor& operator=(const TF_Tensor&) = delete;

  // Elements. Dims were checked when they were set.
  std::int64_t count() const noexcept {
    std::uint64_t product = 1;  // wraps beside a dimension of 0
    const std::int64_t* dim = dims.data();
    for (int k = 0; k < dims.rank(); ++k) product *= static_cast<std::uint64_t>(dim[k]);
    return static_cast<std::int64_t>(product);
  }

  static void* operator new(std::size_t size);
  static void operator delete(void* tensor, std::size_t size) noexcept;

  TF_DataType dtype = TF_FLOAT;
  drystone::host::Dims dims;
  drystone::host::Memory* memory = nullptr;  // NULL: no value yet
  std::atomic<std::int32_t> users{1};        // of the executor, which shares whole tensors
};

namespace drystone::host {

// A tensor with fresh memory; fails for bad dims or an unknown dtype.
TF_Tensor* new_tensor(TF_DataType dtype, const std::int64_t* dims, int count);

// Another handle of the same memory.
TF_Tensor* share(const TF_Tensor& tensor);

// Make `to` refer to what `from` refers to.
void assign(TF_Tensor* to, const TF_Tensor& from);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_TENSOR_H_

// Tensor lists, and tensors whose elements only the embedder knows.
#ifndef DRYSTONE_HOST_KERNELS_TENSOR_LIST_H_
#define DRYSTONE_HOST_KERNELS_TENSOR_LIST_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/tensor.h"
#include "device/lane.h"
#include "drystone_host/kernels.h"

namespace drystone::host::kernels {

// A tensor that several lists hold as a whole, or nothing.
class Item {
 public:
  Item() = default;
  // Takes the handle over.
  explicit Item(TF_Tensor* tensor) noexcept : tensor_(tensor) {}
  Item(const Item& other) noexcept : tensor_(other.tensor_) {
    if (tensor_ != nullptr) tensor_->users.fetch_add(1, std::memory_order_relaxed);
  }
  Item(Item&& other) noexcept : tensor_(std::exchange(other.tensor_, nullptr)) {}
  Item& operator=(Item other) noexcept {
    std::swap(tensor_, other.tensor_);
    return *this;
  }
  ~Item() {
    if (tensor_ != nullptr && tensor_->users.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete tensor_;
    }
  }
  TF_Tensor* get() const { return tensor_; }

 private:
  TF_Tensor* tensor_ = nullptr;
};

}  // namespace drystone::host::kernels

struct DS_TensorList {
  TF_DataType dtype = TF_FLOAT;
  std::int32_t rank = -1;           // of elements; -1: unknown
  std::vector<std::int64_t> dims;   // of elements
  std::int64_t limit = -1;
  std::vector<drystone::host::kernels::Item> items;
  const drystone::host::Lane* place = nullptr;  // of whose memory elements are, NULL: of the host's

  // Fails with OUT_OF_RANGE for a bad index.
  drystone::host::kernels::Item& at(std::int64_t k);
  const drystone::host::kernels::Item& at(std::int64_t k) const {
    return const_cast<DS_TensorList*>(this)->at(k);
  }
};

namespace drystone::host::kernels {

// Has all elements lie where work of the lane finds them, NULL: in host memory. Who else holds the list sees the
// same values.
void bring_to(DS_TensorList& list, Lane* lane);
// A tensor where work of the lane finds it.
std::unique_ptr<TF_Tensor> brought_to(std::unique_ptr<TF_Tensor> tensor, Lane* lane);

// The list in a tensor; NULL for a tensor without one.
DS_TensorList* list_in(const TF_Tensor& tensor) noexcept;

// A scalar with the list.
std::unique_ptr<TF_Tensor> list_tensor(DS_TensorList list);

// A list as the facts say, all elements unset. Fails with INVALID_ARGUMENT for absurd ones.
DS_TensorList list_of(const DS_ListFacts* facts);

// Writes what the caller's struct is long enough for; NULL is accepted.
void tell(const DS_TensorList& list, DS_ListFacts* facts);

}  // namespace drystone::host::kernels

#endif  // DRYSTONE_HOST_KERNELS_TENSOR_LIST_H_

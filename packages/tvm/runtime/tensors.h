// Tensors as compiled functions take them: of the host without a copy where memory is aligned, of
// other devices always.
#ifndef DRYSTONE_TVM_TENSORS_H_
#define DRYSTONE_TVM_TENSORS_H_

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <memory_resource>
#include <optional>
#include <vector>

#include "convention.h"
#include "driver.h"
#include "drystone/sdk/error.hpp"
#include "drystone/tensor.h"

namespace drystone_tvm {

// The DLPack dtype of a TensorFlow one; nothing for those that are not numbers in memory.
std::optional<DLDataType> dlpack_dtype(TF_DataType dtype);

// The arguments of one call. Tensors that are added must outlive it.
class Arguments {
 public:
  // Of `most` tensors at most, described in `memory`. `call`: tensors of the host are copied to the
  // device of this call of CUDA, and results back; null for tensors that are where the function is to
  // find them.
  Arguments(DLDevice device, std::size_t most, std::pmr::memory_resource* memory, cuda::Call* call = nullptr)
      : device_(device), call_(call), tensors_(memory), sizes_(memory), values_(memory) {
    tensors_.reserve(most);
    values_.reserve(most);
    sizes_.reserve(kUsualSizes * most);
  }
  drystone::sdk::Error add_input(const TF_Tensor* tensor, DLDataType dtype);
  drystone::sdk::Error add_output(TF_Tensor* tensor, DLDataType dtype);
  const Any* values();
  std::int32_t count() const { return static_cast<std::int32_t>(tensors_.size()); }
  // What the function wrote to copies of outputs goes to where the outputs are.
  drystone::sdk::Error finish();

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<void, Free>;

  // Of memory that cannot be used as it is.
  drystone::sdk::Result<void*> copied(const TF_Tensor* tensor, bool copy_in);
  // Where the elements of a tensor are used; null where they must be copied first.
  void* usable(const TF_Tensor* tensor) const;
  void add(const TF_Tensor* tensor, DLDataType dtype, void* data);

  DLDevice device_;
  cuda::Call* call_;
  static constexpr std::size_t kUsualSizes = 8;  // and strides of a tensor

  std::pmr::vector<DLTensor> tensors_;
  std::pmr::vector<std::int64_t> sizes_;  // of each tensor its sizes, then its strides
  std::pmr::vector<Any> values_;
  std::vector<Memory> copies_;
  std::vector<std::pair<TF_Tensor*, const void*>> copied_outputs_;
};

}  // namespace drystone_tvm

#endif  // DRYSTONE_TVM_TENSORS_H_

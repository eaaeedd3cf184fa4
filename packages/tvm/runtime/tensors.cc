#include "tensors.h"

#include <cstddef>
#include <cstring>
#include <utility>

namespace drystone_tvm {
namespace {

using drystone::sdk::Error;
using drystone::sdk::Result;

constexpr std::uint8_t kInt = 0;
constexpr std::uint8_t kUInt = 1;
constexpr std::uint8_t kFloat = 2;
constexpr std::uint8_t kBfloat = 4;
constexpr std::uint8_t kComplex = 5;
constexpr std::uint8_t kBool = 6;
constexpr std::uint8_t kFloat8E4M3B11FNUZ = 9;
constexpr std::uint8_t kFloat8E4M3FN = 10;
constexpr std::uint8_t kFloat8E4M3FNUZ = 11;
constexpr std::uint8_t kFloat8E5M2 = 12;
constexpr std::uint8_t kFloat8E5M2FNUZ = 13;

alignas(kAlignment) char nothing[kAlignment];  // where tensors without elements point

bool is_aligned(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory) % kAlignment == 0; }

}  // namespace

std::optional<DLDataType> dlpack_dtype(TF_DataType dtype) {
  switch (dtype) {
    case TF_FLOAT: return DLDataType{kFloat, 32, 1};
    case TF_DOUBLE: return DLDataType{kFloat, 64, 1};
    case TF_HALF: return DLDataType{kFloat, 16, 1};
    case TF_BFLOAT16: return DLDataType{kBfloat, 16, 1};
    case TF_INT8: return DLDataType{kInt, 8, 1};
    case TF_INT16: return DLDataType{kInt, 16, 1};
    case TF_INT32: return DLDataType{kInt, 32, 1};
    case TF_INT64: return DLDataType{kInt, 64, 1};
    case TF_UINT8: return DLDataType{kUInt, 8, 1};
    case TF_UINT16: return DLDataType{kUInt, 16, 1};
    case TF_UINT32: return DLDataType{kUInt, 32, 1};
    case TF_UINT64: return DLDataType{kUInt, 64, 1};
    case TF_BOOL: return DLDataType{kBool, 8, 1};
    case TF_COMPLEX64: return DLDataType{kComplex, 64, 1};
    case TF_COMPLEX128: return DLDataType{kComplex, 128, 1};
    case TF_QINT8: return DLDataType{kInt, 8, 1};
    case TF_QUINT8: return DLDataType{kUInt, 8, 1};
    case TF_QINT16: return DLDataType{kInt, 16, 1};
    case TF_QUINT16: return DLDataType{kUInt, 16, 1};
    case TF_QINT32: return DLDataType{kInt, 32, 1};
    case TF_FLOAT8_E5M2: return DLDataType{kFloat8E5M2, 8, 1};
    case TF_FLOAT8_E4M3FN: return DLDataType{kFloat8E4M3FN, 8, 1};
    case TF_FLOAT8_E4M3FNUZ: return DLDataType{kFloat8E4M3FNUZ, 8, 1};
    case TF_FLOAT8_E4M3B11FNUZ: return DLDataType{kFloat8E4M3B11FNUZ, 8, 1};
    case TF_FLOAT8_E5M2FNUZ: return DLDataType{kFloat8E5M2FNUZ, 8, 1};
    default: return std::nullopt;
  }
}

Error Arguments::add_input(const TF_Tensor* tensor, DLDataType dtype) {
  void* data = usable(tensor);
  if (data == nullptr) {
    const Result<void*> copy = copied(tensor, true);
    if (!copy.ok()) return copy.error();
    data = *copy;
  }
  add(tensor, dtype, data);
  return {};
}

Error Arguments::add_output(TF_Tensor* tensor, DLDataType dtype) {
  void* data = usable(tensor);
  if (data == nullptr) {
    const Result<void*> copy = copied(tensor, false);
    if (!copy.ok()) return copy.error();
    data = *copy;
    copied_outputs_.emplace_back(tensor, data);
  }
  add(tensor, dtype, data);
  return {};
}

const Any* Arguments::values() {
  values_.clear();
  std::int64_t* sizes = sizes_.data();
  for (DLTensor& tensor : tensors_) {
    tensor.shape = sizes;
    tensor.strides = sizes + tensor.rank;
    sizes += std::ptrdiff_t{2} * tensor.rank;
    Any value{kTensorPointer, 0, {}};
    value.pointer = &tensor;
    values_.push_back(value);
  }
  return values_.data();
}

Error Arguments::finish() {
  for (auto& [tensor, data] : copied_outputs_) {
    const std::size_t size = TF_TensorByteSize(tensor);
    if (call_ == nullptr) {
      std::memcpy(TF_TensorData(tensor), data, size);
    } else if (Error error = call_->take(TF_TensorData(tensor), data, size); !error.ok()) {
      return error;
    }
  }
  return call_ == nullptr ? Error() : call_->finish();
}

void* Arguments::usable(const TF_Tensor* tensor) const {
  if (TF_TensorByteSize(tensor) == 0) return nothing;
  if (call_ != nullptr) return nullptr;
  void* data = TF_TensorData(tensor);
  return device_.type != kCpu || is_aligned(data) ? data : nullptr;
}

Result<void*> Arguments::copied(const TF_Tensor* tensor, bool copy_in) {
  const std::size_t size = TF_TensorByteSize(tensor);
  if (call_ != nullptr) return call_->copied(copy_in ? TF_TensorData(tensor) : nullptr, size);
  const std::size_t rounded = (size + kAlignment - 1) / kAlignment * kAlignment;
  Memory copy(std::aligned_alloc(kAlignment, rounded));
  if (!copy) return Error(TF_RESOURCE_EXHAUSTED, "no memory for an aligned copy of a tensor");
  if (copy_in) std::memcpy(copy.get(), TF_TensorData(tensor), size);
  void* out = copy.get();
  copies_.push_back(std::move(copy));
  return out;
}

void Arguments::add(const TF_Tensor* tensor, DLDataType dtype, void* data) {
  const int rank = TF_NumDims(tensor);
  const std::size_t begin = sizes_.size();
  for (int i = 0; i < rank; ++i) sizes_.push_back(TF_Dim(tensor, i));
  // Strides behind the sizes: some compiled functions read them where they are stated only.
  sizes_.resize(begin + 2 * static_cast<std::size_t>(rank));
  std::int64_t step = 1;
  for (std::size_t i = begin + static_cast<std::size_t>(rank); i-- > begin;) {
    sizes_[i + static_cast<std::size_t>(rank)] = step;
    step *= sizes_[i];
  }
  tensors_.push_back({data, device_, rank, dtype, nullptr, nullptr, 0});
}

}  // namespace drystone_tvm

// A TF_Tensor that deletes itself, with typed access to its elements.
//
// Since ABI 1.0. Needs the host's tensor functions. A Tensor is one handle; several may share
// one block of memory, so inputs of kernels are read-only. Spans live as long as their Tensor.
#ifndef DRYSTONE_SDK_TENSOR_HPP_
#define DRYSTONE_SDK_TENSOR_HPP_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "drystone/sdk/buffer.hpp"
#include "drystone/sdk/dtype.hpp"
#include "drystone/sdk/error.hpp"
#include "drystone/sdk/shape.hpp"
#include "drystone/sdk/status.hpp"
#include "drystone/sdk/tensor_proto.hpp"
#include "drystone/tensor.h"
#include "drystone/tstring.h"

namespace drystone::sdk {

class Tensor {
 public:
  Tensor() = default;
  // Takes the handle over.
  explicit Tensor(TF_Tensor* tensor) : tensor_(tensor) {}

  // With fresh memory, whose elements are undefined. Fails for dims that do not fit.
  static Result<Tensor> allocate(TF_DataType dtype, const std::vector<std::int64_t>& dims) {
    const std::int64_t count = Shape::count_of(dims);
    const std::size_t size =
        dtype == TF_STRING ? sizeof(TF_TString) : TF_DataTypeSize(dtype);
    if (count < 0 || size == 0 || static_cast<std::size_t>(count) > SIZE_MAX / size) {
      return invalid_argument("no tensor of dtype " + dtype_name(dtype) +
                              " has these dimensions");
    }
    Tensor out(TF_AllocateTensor(dtype, dims.data(), static_cast<int>(dims.size()),
                                 static_cast<std::size_t>(count) * size));
    if (out.get() == nullptr) return Error(TF_RESOURCE_EXHAUSTED, "no memory for a tensor");
    return out;
  }

  // The value of a constant, from the bytes of its TensorProto.
  static Result<Tensor> from_proto(const TensorProtoView& proto) {
    TF_Buffer bytes = {proto.bytes().data(), proto.bytes().size(), nullptr};
    const std::int64_t none = 0;
    Tensor out(TF_AllocateTensor(TF_INT8, &none, 1, 0));
    Status status;
    TF_TensorFromProto(&bytes, out.get(), status.get());
    if (Error error = status.take(); !error.ok()) return error;
    return out;
  }

  TF_Tensor* get() const { return tensor_.get(); }
  TF_Tensor* release() { return tensor_.release(); }
  TF_DataType dtype() const { return TF_TensorType(get()); }
  int rank() const { return TF_NumDims(get()); }
  std::int64_t dim(int index) const { return TF_Dim(get(), index); }
  std::vector<std::int64_t> dims() const {
    std::vector<std::int64_t> out;
    if (rank() > 0) out.reserve(static_cast<std::size_t>(rank()));
    for (int i = 0; i < rank(); ++i) out.push_back(dim(i));
    return out;
  }
  std::size_t element_count() const {
    return static_cast<std::size_t>(TF_TensorElementCount(get()));
  }

  // The elements; INVALID_ARGUMENT for a tensor of another dtype than T's.
  template <class T>
  Result<Span<const T>> values() const {
    if (Error error = check_dtype(dtype_of<T>::value); !error.ok()) return error;
    return Span<const T>(static_cast<const T*>(TF_TensorData(get())), element_count());
  }
  template <class T>
  Result<Span<T>> mutable_values() {
    if (Error error = check_dtype(dtype_of<T>::value); !error.ok()) return error;
    return Span<T>(static_cast<T*>(TF_TensorData(get())), element_count());
  }

  // Element `index` of a string tensor; "" for any other tensor.
  std::string_view string(std::size_t index) const {
    const auto* all = static_cast<const TF_TString*>(TF_TensorData(get()));
    if (dtype() != TF_STRING || index >= element_count()) return {};
    return {TF_TString_GetDataPointer(all + index), TF_TString_GetSize(all + index)};
  }
  // Copies the text. Does nothing to a tensor that holds no strings.
  void set_string(std::size_t index, std::string_view text) {
    if (dtype() != TF_STRING || index >= element_count()) return;
    auto* all = static_cast<TF_TString*>(TF_TensorData(get()));
    TF_TString_Copy(all + index, text.data(), text.size());
  }

 private:
  struct Delete {
    void operator()(TF_Tensor* tensor) const { TF_DeleteTensor(tensor); }
  };

  Error check_dtype(TF_DataType wanted) const {
    if (get() != nullptr && dtype() == wanted) return {};
    return invalid_argument("a tensor of dtype " + dtype_name(dtype()) +
                            " was asked for elements of dtype " + dtype_name(wanted));
  }

  std::unique_ptr<TF_Tensor, Delete> tensor_;
};

}  // namespace drystone::sdk

#endif  // DRYSTONE_SDK_TENSOR_HPP_

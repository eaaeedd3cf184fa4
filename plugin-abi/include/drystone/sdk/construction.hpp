// Attributes of a node while its kernel is made.
//
// Since ABI 1.0. Needs the host's kernel functions. Every accessor fails with the host's own status
// (NOT_FOUND, INVALID_ARGUMENT) for an attribute that is not there or of another kind.
#ifndef DRYSTONE_SDK_CONSTRUCTION_HPP_
#define DRYSTONE_SDK_CONSTRUCTION_HPP_

#include <cstdint>
#include <string>
#include <vector>

#include "drystone/kernels.h"
#include "drystone/sdk/error.hpp"
#include "drystone/sdk/status.hpp"
#include "drystone/sdk/tensor.hpp"

namespace drystone::sdk {

class Construction {
 public:
  explicit Construction(TF_OpKernelConstruction* construction) : construction_(construction) {}
  TF_OpKernelConstruction* get() const { return construction_; }

  // The node's name.
  std::string name() const {
    const TF_StringView text = TF_OpKernelConstruction_GetName(construction_);
    return {text.data == nullptr ? "" : text.data, text.len};
  }
  bool has(const char* attr) {
    const bool out = TF_OpKernelConstruction_HasAttr(construction_, attr, status_.get());
    return status_.take().ok() && out;
  }

  Result<std::int64_t> integer(const char* attr) {
    return one<std::int64_t>(TF_OpKernelConstruction_GetAttrInt64, attr);
  }
  Result<float> real(const char* attr) {
    return one<float>(TF_OpKernelConstruction_GetAttrFloat, attr);
  }
  Result<bool> boolean(const char* attr) {
    const Result<TF_Bool> out = one<TF_Bool>(TF_OpKernelConstruction_GetAttrBool, attr);
    if (!out.ok()) return out.error();
    return *out != 0;
  }
  Result<TF_DataType> type(const char* attr) {
    return one<TF_DataType>(TF_OpKernelConstruction_GetAttrType, attr);
  }
  Result<std::string> string(const char* attr) {
    const Result<Size> size = size_of(attr);
    if (!size.ok()) return size.error();
    std::string out(size->total, '\0');
    TF_OpKernelConstruction_GetAttrString(construction_, attr, out.data(), out.size(),
                                          status_.get());
    if (Error error = status_.take(); !error.ok()) return error;
    return out;
  }
  Result<Tensor> tensor(const char* attr) {
    TF_Tensor* out = nullptr;
    TF_OpKernelConstruction_GetAttrTensor(construction_, attr, &out, status_.get());
    Tensor owner(out);
    if (Error error = status_.take(); !error.ok()) return error;
    return owner;
  }

  Result<std::vector<std::int64_t>> integers(const char* attr) {
    return list<std::int64_t>(TF_OpKernelConstruction_GetAttrInt64List, attr);
  }
  Result<std::vector<float>> reals(const char* attr) {
    return list<float>(TF_OpKernelConstruction_GetAttrFloatList, attr);
  }
  Result<std::vector<TF_DataType>> types(const char* attr) {
    return list<TF_DataType>(TF_OpKernelConstruction_GetAttrTypeList, attr);
  }
  Result<std::vector<std::string>> strings(const char* attr) {
    const Result<Size> size = size_of(attr);
    if (!size.ok()) return size.error();
    std::vector<char*> values(size->count);
    std::vector<std::size_t> lengths(size->count);
    std::vector<char> storage(size->total + 1);
    TF_OpKernelConstruction_GetAttrStringList(construction_, attr, values.data(), lengths.data(),
                                              static_cast<int>(size->count), storage.data(),
                                              size->total, status_.get());
    if (Error error = status_.take(); !error.ok()) return error;
    std::vector<std::string> out;
    for (std::size_t i = 0; i < values.size(); ++i) out.emplace_back(values[i], lengths[i]);
    return out;
  }

 private:
  struct Size {
    std::size_t count = 0;
    std::size_t total = 0;
  };

  Result<Size> size_of(const char* attr) {
    std::int32_t count = 0;
    std::int32_t total = 0;
    TF_OpKernelConstruction_GetAttrSize(construction_, attr, &count, &total, status_.get());
    if (Error error = status_.take(); !error.ok()) return error;
    Size out;
    out.count = static_cast<std::size_t>(count > 0 ? count : 0);
    out.total = static_cast<std::size_t>(total > 0 ? total : 0);
    return out;
  }

  template <class T, class Get>
  Result<T> one(Get read, const char* attr) {
    T out{};  // NOLINT(bugprone-invalid-enum-default-initialization): overwritten, or not returned
    read(construction_, attr, &out, status_.get());
    if (Error error = status_.take(); !error.ok()) return error;
    return out;
  }

  template <class T, class Get>
  Result<std::vector<T>> list(Get read, const char* attr) {
    const Result<Size> size = size_of(attr);
    if (!size.ok()) return size.error();
    std::vector<T> out(size->count);
    read(construction_, attr, out.data(), static_cast<int>(out.size()), status_.get());
    if (Error error = status_.take(); !error.ok()) return error;
    return out;
  }

  TF_OpKernelConstruction* construction_;
  Status status_;
};

}  // namespace drystone::sdk

#endif  // DRYSTONE_SDK_CONSTRUCTION_HPP_

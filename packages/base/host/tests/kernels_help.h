// What the tests of the kernels module share: protos, registration, running.
#ifndef DRYSTONE_HOST_TESTS_KERNELS_HELP_H_
#define DRYSTONE_HOST_TESTS_KERNELS_HELP_H_

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "checking.h"
#include "drystone/kernels_experimental.h"
#include "drystone/sdk/attr.hpp"
#include "drystone/sdk/wire.hpp"
#include "drystone/tstring.h"
#include "drystone_host/core.h"
#include "drystone_host/kernels.h"

namespace help {

using drystone::wire::Writer;
namespace attr = drystone::sdk::attr;

// A status that deletes itself.
class Status {
 public:
  Status() = default;
  ~Status() { TF_DeleteStatus(status_); }
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;
  operator TF_Status*() const { return status_; }
  TF_Code code() const { return TF_GetCode(status_); }
  bool ok() const { return code() == TF_OK; }
  std::string text() const { return TF_Message(status_); }
  bool says(TF_Code wanted, const char* part) const {
    const bool fits = code() == wanted && text().find(part) != std::string::npos;
    if (!fits) std::fprintf(stderr, "status %d: %s\n", code(), text().c_str());
    return fits;
  }

 private:
  TF_Status* status_ = TF_NewStatus();
};

inline std::string field(std::uint32_t number, std::string_view bytes) {
  std::string out;
  Writer(&out).bytes(number, bytes);
  return out;
}

inline std::string field(std::uint32_t number, std::uint64_t value) {
  std::string out;
  Writer(&out).varint(number, value);
  return out;
}

// An ArgDef of a fixed dtype.
inline std::string arg(const char* name, TF_DataType type, bool is_ref = false) {
  return field(1, name) + field(3, static_cast<std::uint64_t>(type)) +
         (is_ref ? field(16, std::uint64_t{1}) : "");
}

// An ArgDef whose dtype, number or list of dtypes (fields 4, 5, 6) come from attributes.
inline std::string arg_by(const char* name, std::uint32_t by, const char* attribute) {
  return field(1, name) + field(by, attribute);
}

// An AttrDef; `standard` is an AttrValue's bytes, "" for none.
inline std::string attr_def(const char* name, const char* type, const std::string& standard = "") {
  return field(1, name) + field(2, type) + (standard.empty() ? "" : field(3, standard));
}

struct Op {
  std::string name;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> attrs;

  std::string bytes() const {
    std::string out = field(1, name);
    for (const auto& one : inputs) out += field(2, one);
    for (const auto& one : outputs) out += field(3, one);
    for (const auto& one : attrs) out += field(4, one);
    return out;
  }
};

struct Node {
  std::string op;
  std::vector<std::pair<std::string, std::string>> attrs;
  std::vector<std::string> inputs;
  std::string name = "node";

  std::string bytes() const {
    std::string out = field(1, name) + field(2, op);
    for (const auto& one : inputs) out += field(3, one);
    for (const auto& [key, value] : attrs) out += field(5, field(1, key) + field(2, value));
    return out;
  }
};

// Borrows a string as a buffer.
struct Bytes {
  explicit Bytes(std::string text) : bytes(std::move(text)) {
    buffer = TF_Buffer{bytes.empty() ? static_cast<const void*>("") : bytes.data(), bytes.size(),
                       nullptr};
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  operator const TF_Buffer*() const { return &buffer; }

  std::string bytes;
  TF_Buffer buffer;
};

inline std::string text_of(TF_StringView view) { return std::string(view.data, view.len); }

template <class T>
TF_Tensor* tensor(TF_DataType dtype, const std::vector<int64_t>& dims,
                  const std::vector<T>& values) {
  const std::size_t size = values.size() * sizeof(T);
  TF_Tensor* out = TF_AllocateTensor(dtype, dims.data(), static_cast<int>(dims.size()), size);
  if (size != 0) std::memcpy(TF_TensorData(out), values.data(), size);
  return out;
}

inline TF_Tensor* floats(const std::vector<float>& values) {
  return tensor(TF_FLOAT, {static_cast<int64_t>(values.size())}, values);
}

inline std::vector<float> floats_of(const TF_Tensor* from) {
  const auto* data = static_cast<const float*>(TF_TensorData(from));
  return std::vector<float>(data, data + TF_TensorElementCount(from));
}

inline std::string take(TF_Buffer* buffer) {
  std::string out(static_cast<const char*>(buffer->data), buffer->length);
  TF_DeleteBuffer(buffer);
  return out;
}

// Kernels whose create and compute are functions of the test's, set before each call.
inline std::function<void(TF_OpKernelConstruction*)> on_create;
inline std::function<void(TF_OpKernelContext*)> on_compute;
inline std::function<void(TF_OpKernelContext*, TF_AsyncOpKernelDoneCallback*)> on_async;
inline int created = 0;
inline int deleted = 0;

inline void* create(TF_OpKernelConstruction* ctx) {
  ++created;
  if (on_create) on_create(ctx);
  return &created;
}
inline void compute(void* state, TF_OpKernelContext* ctx) {
  CHECK(state == &created);
  if (on_compute) on_compute(ctx);
}
inline void compute_async(void*, TF_OpKernelContext* ctx, TF_AsyncOpKernelDoneCallback* done) {
  on_async(ctx, done);
}
inline void destroy(void* state) {
  CHECK(state == &created);
  ++deleted;
}

inline void must_register(TF_KernelBuilder* builder, const char* name) {
  Status status;
  TF_RegisterKernelBuilder(name, builder, status);
  CHECK(status.ok());
}

inline void register_op(const char* op) {
  must_register(TF_NewKernelBuilder(op, "CPU", create, compute, destroy), "Scripted");
}

inline DS_Kernel* make(const Op& op, const Node& node, TF_Status* status) {
  const Bytes node_def(node.bytes());
  const Bytes op_def(op.bytes());
  const int64_t id = DS_FindKernel(node_def, op_def, nullptr, status);
  return id < 0 ? nullptr : DS_NewKernel(id, node_def, op_def, nullptr, status);
}

inline DS_Kernel* must_make(const Op& op, const Node& node) {
  Status status;
  DS_Kernel* kernel = make(op, node, status);
  if (!status.ok()) std::fprintf(stderr, "make: %s\n", status.text().c_str());
  CHECK(kernel != nullptr && status.ok());
  return kernel;
}

// A call whose struct is zeroed and sized.
inline DS_KernelCall call() {
  DS_KernelCall out{};
  out.struct_size = DS_KERNEL_CALL_STRUCT_SIZE;
  return out;
}

}  // namespace help

#endif  // DRYSTONE_HOST_TESTS_KERNELS_HELP_H_

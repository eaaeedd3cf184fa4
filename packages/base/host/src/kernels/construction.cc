// Reading single attributes: see drystone/kernels.h.
#include "kernels/construction.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "core/buffer.h"
#include "kernels/tensor_proto.h"

namespace drystone::host::kernels {

sdk::AttrView find_attr(const TF_OpKernelConstruction* ctx, const char* name) {
  require(ctx, "ctx");
  require(name, "attr_name");
  const sdk::AttrView found = ctx->node.attr(name);
  if (!found.present()) {
    fail(TF_NOT_FOUND, "node '" + std::string(ctx->node.name()) + "' of op '" +
                           std::string(ctx->node.op()) + "' has no attribute '" + name + "'");
  }
  return found;
}

void wrong_kind(const TF_OpKernelConstruction* ctx, const char* name, const char* needed) {
  fail(TF_INVALID_ARGUMENT, "attribute '" + std::string(name) + "' of node '" +
                                std::string(ctx->node.name()) + "' is not " + needed);
}

namespace {

// Reads an attribute with `get`, which answers an optional, into `*out`.
template <class T, class Get>
void read(TF_OpKernelConstruction* ctx, const char* name, const char* kind, T* out, Get&& get) {
  const sdk::AttrView attr = find_attr(ctx, name);
  require(out, "val");
  const auto value = std::forward<Get>(get)(attr);
  if (!value) wrong_kind(ctx, name, kind);
  *out = static_cast<T>(*value);
}

// The bytes of the message that the attribute is: a tensor or a function.
std::string_view message_of(const sdk::AttrView& attr, sdk::AttrKind kind) {
  std::string_view out;
  wire::Reader fields(attr.bytes());
  while (fields.next()) {
    if (fields.field() == static_cast<std::uint32_t>(kind)) out = fields.bytes();
  }
  return out;
}

int total_of_list(const sdk::AttrView& attr, std::int64_t* count) {
  std::int64_t total = -1;
  *count = 0;
  wire::Reader outer(attr.bytes());
  while (outer.next()) {
    if (outer.field() != 1) continue;
    wire::Reader inner(outer.bytes());
    while (inner.next()) {
      if (inner.field() == 2) total = std::max<std::int64_t>(total, 0) +
                                      static_cast<std::int64_t>(inner.bytes().size());
      if (inner.field() == 7) total = std::max<std::int64_t>(total, 0) +
                                      std::max(sdk::Shape::parse(inner.bytes()).rank(), 0);
    }
  }
  *count = static_cast<std::int64_t>(std::max(
      {attr.strings().size(), attr.integers().size(), attr.reals().size(), attr.booleans().size(),
       attr.types().size(), attr.shapes().size(), attr.tensors().size(),
       attr.functions().size()}));
  return static_cast<int>(std::min<std::int64_t>(total, std::numeric_limits<int>::max()));
}

}  // namespace
}  // namespace drystone::host::kernels

using namespace drystone::host;
using namespace drystone::host::kernels;
using drystone::sdk::AttrKind;
using drystone::sdk::AttrView;

extern "C" {

bool TF_OpKernelConstruction_HasAttr(TF_OpKernelConstruction* ctx, const char* attr_name,
                                     TF_Status* status) {
  bool has = false;
  guarded(status, __func__, [&] {
    require(ctx, "ctx");
    require(attr_name, "attr_name");
    has = ctx->node.attr(attr_name).present();
  });
  return has;
}

TF_StringView TF_OpKernelConstruction_GetName(TF_OpKernelConstruction* ctx) {
  if (ctx == nullptr) return {nullptr, 0};
  return {ctx->node.name().data(), ctx->node.name().size()};
}

void TF_OpKernelConstruction_GetAttrSize(TF_OpKernelConstruction* ctx, const char* attr_name,
                                         int32_t* list_size, int32_t* total_size,
                                         TF_Status* status) {
  std::int64_t count = -1;
  int total = -1;
  guarded(status, __func__, [&] {
    AttrView attr;
    try {
      attr = find_attr(ctx, attr_name);
    } catch (const Failure& failure) {
      fail(TF_INVALID_ARGUMENT, failure.message);
    }
    if (attr.kind() == AttrKind::list) total = total_of_list(attr, &count);
    if (const auto text = attr.string()) total = static_cast<int>(text->size());
    if (const auto shape = attr.shape()) total = shape->rank();
  });
  if (list_size != nullptr) *list_size = static_cast<int32_t>(count);
  if (total_size != nullptr) *total_size = total;
}

void TF_OpKernelConstruction_GetAttrType(TF_OpKernelConstruction* ctx, const char* attr_name,
                                         TF_DataType* val, TF_Status* status) {
  guarded(status, __func__, [&] {
    read(ctx, attr_name, "a type", val, [](const AttrView& attr) { return attr.type(); });
  });
}

void TF_OpKernelConstruction_GetAttrInt64(TF_OpKernelConstruction* ctx, const char* attr_name,
                                          int64_t* val, TF_Status* status) {
  guarded(status, __func__, [&] {
    read(ctx, attr_name, "an int", val, [](const AttrView& attr) { return attr.integer(); });
  });
}

void TF_OpKernelConstruction_GetAttrInt32(TF_OpKernelConstruction* ctx, const char* attr_name,
                                          int32_t* val, TF_Status* status) {
  guarded(status, __func__, [&] {
    read(ctx, attr_name, "an int that fits 32 bits", val, [](const AttrView& attr) {
      auto value = attr.integer();
      if (value && *value != static_cast<int32_t>(*value)) value.reset();
      return value;
    });
  });
}

void TF_OpKernelConstruction_GetAttrFloat(TF_OpKernelConstruction* ctx, const char* attr_name,
                                          float* val, TF_Status* status) {
  guarded(status, __func__, [&] {
    read(ctx, attr_name, "a float", val, [](const AttrView& attr) { return attr.real(); });
  });
}

void TF_OpKernelConstruction_GetAttrBool(TF_OpKernelConstruction* ctx, const char* attr_name,
                                         TF_Bool* val, TF_Status* status) {
  guarded(status, __func__, [&] {
    read(ctx, attr_name, "a bool", val, [](const AttrView& attr) { return attr.boolean(); });
  });
}

void TF_OpKernelConstruction_GetAttrString(TF_OpKernelConstruction* ctx, const char* attr_name,
                                           char* val, size_t max_length, TF_Status* status) {
  guarded(status, __func__, [&] {
    const auto text = find_attr(ctx, attr_name).string();
    if (!text) wrong_kind(ctx, attr_name, "a string");
    const size_t count = std::min(text->size(), max_length);
    if (count == 0) return;
    require(val, "val");
    std::memcpy(val, text->data(), count);
  });
}

void TF_OpKernelConstruction_GetAttrTensorShape(TF_OpKernelConstruction* ctx,
                                                const char* attr_name, int64_t* dims,
                                                size_t num_dims, TF_Status* status) {
  guarded(status, __func__, [&] {
    const auto shape = find_attr(ctx, attr_name).shape();
    if (!shape || !shape->known_rank()) wrong_kind(ctx, attr_name, "a shape of known rank");
    if (shape->dims().size() != num_dims) {
      fail(TF_INVALID_ARGUMENT, "attribute '" + std::string(attr_name) + "' has rank " +
                                    std::to_string(shape->rank()) + ", there is room for " +
                                    std::to_string(num_dims) + " dimensions");
    }
    if (num_dims != 0) require(dims, "dims");
    std::copy(shape->dims().begin(), shape->dims().end(), dims);
  });
}

void TF_OpKernelConstruction_GetAttrTensor(TF_OpKernelConstruction* ctx, const char* attr_name,
                                           TF_Tensor** val, TF_Status* status) {
  guarded(status, __func__, [&] {
    const AttrView attr = find_attr(ctx, attr_name);
    if (attr.kind() != AttrKind::tensor) wrong_kind(ctx, attr_name, "a tensor");
    require(val, "val");
    *val = tensor_from_proto(message_of(attr, AttrKind::tensor));
  });
}

TF_Buffer* TF_OpKernelConstruction_GetAttrFunction(TF_OpKernelConstruction* ctx,
                                                   const char* attr_name, TF_Status* status) {
  TF_Buffer* out = nullptr;
  guarded(status, __func__, [&] {
    const AttrView attr = find_attr(ctx, attr_name);
    if (attr.kind() != AttrKind::function) wrong_kind(ctx, attr_name, "a function");
    const std::string_view bytes = message_of(attr, AttrKind::function);
    out = TF_NewBufferFromString(bytes.data(), bytes.size());
    if (out == nullptr) throw std::bad_alloc();
  });
  return out;
}

TF_Buffer* TF_OpKernelConstruction_GetNodeDef(TF_OpKernelConstruction* ctx, TF_Status* status) {
  TF_Buffer* out = nullptr;
  guarded(status, __func__, [&] {
    require(ctx, "ctx");
    out = TF_NewBufferFromString(ctx->node.bytes().data(), ctx->node.bytes().size());
    if (out == nullptr) throw std::bad_alloc();
  });
  return out;
}

void TF_OpKernelConstruction_Failure(TF_OpKernelConstruction* ctx, TF_Status* status) {
  if (ctx == nullptr || ctx->failure || (status != nullptr && status->code == TF_OK)) return;
  answered(0, [&] {
    if (status == nullptr) ctx->failure.emplace(TF_INTERNAL, "it failed and gave no status");
    else ctx->failure = failure_in(*status);
    return 0;
  });
}

}  // extern "C"

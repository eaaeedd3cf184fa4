// Queries about ops: see drystone/registry.h and drystone_host/ops.h.
#include "core/buffer.h"
#include "core/failure.h"
#include "core/json.h"
#include "drystone/logging.h"
#include "drystone/registry.h"
#include "drystone/sdk/wire.hpp"
#include "drystone_host/ops.h"
#include "ops/infer.h"
#include "ops/registry.h"
#include "ops/services.h"

namespace drystone::host::ops {
namespace {

// The OpList of what plugins registered.
std::string plugin_list() {
  std::string list;
  wire::Writer out(&list);
  for (const auto& op : plugin_ops()) out.bytes(1, op->bytes);
  return list;
}

// The embedder's OpList without the ops that plugins registered as well.
void append_embedder_ops(std::string& list) {
  const std::string all = embedder_ops();
  wire::Reader in(all);
  while (in.next()) {
    if (in.field() != 1) continue;
    wire::Reader op(in.bytes());
    std::string_view name;
    while (op.next()) {
      if (op.field() == 1) name = op.bytes();
    }
    if (find_plugin_op(name) == nullptr) list.append(in.raw());
  }
}

// Every op. An embedder that cannot answer is logged, because nothing else can tell it.
std::string whole_list() {
  std::string list = plugin_list();
  try {
    append_embedder_ops(list);
  } catch (const Failure& failure) {
    TF_Log(TF_ERROR, "%s", failure.message.c_str());
  }
  return list;
}

std::string definition(const char* op) {
  require(op, "the name of the op");
  auto found = find_op_def(op);
  if (!found) fail(TF_NOT_FOUND, "op '" + std::string(op) + "' is unknown");
  return std::move(*found);
}

std::string describe() {
  Json json;
  json.array();
  for (const auto& op : plugin_ops()) {
    json.object();
    json.text("name", op->def.name);
    json.text("library", op->library);
    json.boolean("has_shape_function", op->shape_function != nullptr);
    json.boolean("stateful", op->def.is_stateful);
    json.integer("leaked_handles", leaked_handles(op->def.name));
    json.close();
  }
  json.close();
  return json.str();
}

}  // namespace
}  // namespace drystone::host::ops

namespace host = drystone::host;
namespace ops = drystone::host::ops;

extern "C" {

// The release whose headers and plugins the host was checked against.
TF_CAPI_EXPORT const char* TF_Version(void) { return "2.15.1"; }

TF_CAPI_EXPORT void TF_InitMain(const char*, int*, char***) {}

TF_CAPI_EXPORT TF_Buffer* TF_GetAllOpList(void) {
  return host::answered<TF_Buffer*>(nullptr, [] {
    const std::string list = ops::whole_list();
    return TF_NewBufferFromString(list.data(), list.size());
  });
}

TF_CAPI_EXPORT int TF_OpIsStateful(const char* op_type, TF_Status* status) {
  int answer = 0;
  host::guarded(status, __func__, [&] {
    answer = ops::parse_op_def(ops::definition(op_type)).is_stateful ? 1 : 0;
  });
  return answer;
}

TF_CAPI_EXPORT void DS_FindOp(const char* op, TF_Buffer* out, TF_Status* status) {
  host::guarded(status, __func__, [&] { host::fill(out, ops::definition(op)); });
}

TF_CAPI_EXPORT int64_t DS_OpGeneration(void) { return ops::generation(); }

TF_CAPI_EXPORT void DS_PluginOps(TF_Buffer* out, TF_Status* status) {
  host::guarded(status, __func__, [&] { host::fill(out, ops::plugin_list()); });
}

TF_CAPI_EXPORT void DS_ListOps(TF_Buffer* out, TF_Status* status) {
  host::guarded(status, __func__, [&] { host::fill(out, ops::describe()); });
}

}  // extern "C"

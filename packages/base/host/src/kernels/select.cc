// Listing kernels, and choosing one for a node: see drystone_host/kernels.h.
#include <algorithm>
#include <vector>

#include "core/buffer.h"
#include "core/dtype_names.h"
#include "core/failure.h"
#include "core/json.h"
#include "core/quoted.h"
#include "drystone_host/kernels.h"
#include "kernels/node.h"
#include "kernels/registry.h"

using namespace drystone::host;
using namespace drystone::host::kernels;
namespace sdk = drystone::sdk;

namespace {

void write(Json* json, const Constraint& constraint) {
  json->object();
  json->text("attr", constraint.attr);
  json->key("types");
  json->array();
  for (const int type : constraint.types) json->integer(type);
  json->close();
  json->close();
}

void write(Json* json, const Registered& kernel) {
  json->object();
  json->integer("id", kernel.id);
  json->text("op", kernel.definition.op);
  json->text("name", kernel.name);
  json->text("device", kernel.definition.device);
  json->integer("priority", kernel.definition.priority);
  json->text("label", kernel.definition.label);
  json->key("constraints");
  json->array();
  for (const Constraint& constraint : kernel.definition.constraints) write(json, constraint);
  json->close();
  json->texts("host_memory", kernel.definition.host_memory);
  json->boolean("is_async", kernel.compute_async != nullptr);
  json->text("library", kernel.library);
  json->close();
}

bool holds(const Node& node, const Constraint& constraint) {
  const sdk::AttrView attr = node.attr(constraint.attr);
  const auto allowed = [&](TF_DataType type) {
    const auto& types = constraint.types;
    return std::find(types.begin(), types.end(), static_cast<int>(type)) != types.end();
  };
  if (const auto type = attr.type()) return allowed(*type);
  if (attr.kind() != sdk::AttrKind::list) return false;
  const auto types = attr.types();
  return std::all_of(types.begin(), types.end(), allowed);
}

// Why the kernel does not fit the node; "" when it does.
std::string obstacle(const Node& node, const Definition& definition, std::string_view device) {
  if (definition.device != device) return "it is for device " + definition.device;
  const std::string_view label = node.attr("_kernel").string().value_or("");
  if (definition.label != label) return "its label is " + quoted(definition.label);
  for (const Constraint& constraint : definition.constraints) {
    if (!holds(node, constraint)) {
      std::string text = "attribute " + quoted(constraint.attr) + " must be one of";
      for (const int type : constraint.types) text.append(" ").append(dtype_name(type));
      return text;
    }
  }
  return "";
}

std::int64_t choose(const Node& node, std::string_view device) {
  RegisteredPtr best;
  std::string reasons;
  for (const RegisteredPtr& kernel : kernels_of(node.op())) {
    const std::string why = obstacle(node, kernel->definition, device);
    if (!why.empty()) {
      reasons += "\n  kernel " + std::to_string(kernel->id) + " '" + kernel->name + "' of " +
                 kernel->library + ": " + why;
    } else if (best == nullptr || kernel->definition.priority > best->definition.priority) {
      best = kernel;
    }
  }
  if (best != nullptr) return best->id;
  fail(TF_NOT_FOUND, "no kernel of op '" + std::string(node.op()) + "' for device " +
                         std::string(device) + " fits node '" + std::string(node.name()) + "'" +
                         (reasons.empty() ? ": none is registered" : ":" + reasons));
}

}  // namespace

extern "C" {

void DS_ListKernels(const char* op, TF_Buffer* json, TF_Status* status) {
  guarded(status, __func__, [&] {
    Json out;
    out.array();
    for (const RegisteredPtr& kernel : op == nullptr ? all_kernels() : kernels_of(op)) write(&out, *kernel);
    out.close();
    fill(json, out.str());
  });
}

int64_t DS_FindKernel(const TF_Buffer* node_def, const TF_Buffer* op_def, const char* device_type,
                      TF_Status* status) {
  int64_t id = -1;
  guarded(status, __func__, [&] {
    const Node node(view(node_def), op_def == nullptr ? "" : view(op_def));
    const bool is_default = device_type == nullptr || *device_type == '\0';
    id = choose(node, is_default ? "CPU" : device_type);
  });
  return id;
}

}  // extern "C"

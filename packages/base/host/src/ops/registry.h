// Ops that are known: those that plugins registered, then those of the embedder.
#ifndef DRYSTONE_HOST_OPS_REGISTRY_H_
#define DRYSTONE_HOST_OPS_REGISTRY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drystone/ops.h"
#include "ops/op_def.h"

namespace drystone::host {

// The serialized OpDef of an op, attribute defaults included; nullopt for an unknown op. Fails
// (Failure) only where the embedder cannot give its list.
std::optional<std::string> find_op_def(std::string_view name);

namespace ops {

using ShapeFunction = void (*)(TF_ShapeInferenceContext*, TF_Status*);

// An op that a plugin registered. Never removed: libraries stay loaded.
struct PluginOp {
  OpDef def;
  std::string bytes;  // of the definition
  std::string library;
  ShapeFunction shape_function = nullptr;
  bool is_watched = false;                       // of an untrusted library
  mutable std::atomic<bool> shapes_clean{false};  // a call of it left the host's state as it was
  mutable std::atomic<bool> refusal_told{false};  // it refused what a kernel took, which was said
};

// Add a valid definition. An equal one that is known already is left as it is (but takes a shape
// function if it has none); a different one fails with ALREADY_EXISTS naming its library.
void add(OpDef def, ShapeFunction shape_function, std::string library);

// The op if a plugin registered it, else NULL.
std::shared_ptr<const PluginOp> find_plugin_op(std::string_view name);

// All of them, sorted by name.
std::vector<std::shared_ptr<const PluginOp>> plugin_ops();

// How many changes there were: an embedder need not ask again while it stays the same.
std::int64_t generation() noexcept;

}  // namespace ops
}  // namespace drystone::host

#endif  // DRYSTONE_HOST_OPS_REGISTRY_H_

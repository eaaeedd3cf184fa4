// Shapes, and the context of one shape inference.
#ifndef DRYSTONE_HOST_OPS_SHAPE_H_
#define DRYSTONE_HOST_OPS_SHAPE_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "drystone/ops.h"
#include "ops/handles.h"
#include "ops/op_def.h"

namespace drystone::host::ops {

inline constexpr std::int64_t kMaxRank = 254;
inline constexpr std::int64_t kUnknown = -1;

// A dimension is 0 or more, -1 (unknown), or below -1: unknown, and equal to others of that number.
struct Shape {
  bool known = false;  // the rank
  std::vector<std::int64_t> dims;

  std::int64_t rank() const { return known ? static_cast<std::int64_t>(dims.size()) : kUnknown; }

  // Whether a tensor may have both: ranks and dimensions are equal where both know them.
  bool agrees_with(const Shape& other) const;
};

// "[2, ?]", or "?" for an unknown rank.
std::string to_text(const Shape& shape);

// Where a node's attribute stands, else the definition's default; empty for neither.
struct NodeAttrs {
  std::string node;
  std::vector<std::pair<std::string, std::string>> values;  // name, AttrValue bytes

  std::string_view find(const OpDef& def, std::string_view name) const;
};

// Reads name and attributes of a NodeDef. Fails with INVALID_ARGUMENT for malformed bytes.
NodeAttrs parse_node(std::string_view node_def);

// How many tensors the arguments stand for. Fails with INVALID_ARGUMENT where an attribute that
// says so is missing, or is negative or too large.
std::size_t count_tensors(const OpDef& def, const std::vector<ArgDef>& args,
                          const NodeAttrs& attrs);

}  // namespace drystone::host::ops

struct TF_ShapeHandle {
  drystone::host::ops::Shape shape;
};

struct TF_DimensionHandle {
  std::int64_t value = drystone::host::ops::kUnknown;
};

struct TF_ShapeInferenceContext {
  const drystone::host::ops::OpDef* def = nullptr;
  drystone::host::ops::NodeAttrs attrs;
  std::vector<drystone::host::ops::Shape> inputs;
  std::vector<drystone::host::ops::Shape> outputs;
};

namespace drystone::host::ops {

Handles<TF_ShapeHandle>& shape_handles();
Handles<TF_DimensionHandle>& dimension_handles();

// Held in each call of a shape function to the host, and while its context ends.
std::recursive_mutex& calls_lock();

// Fails with INVALID_ARGUMENT unless the context is that of a shape function that runs now.
TF_ShapeInferenceContext& live_context(TF_ShapeInferenceContext* context);

// The context of the innermost shape function on this thread, or NULL: the owner of new handles.
TF_ShapeInferenceContext* running_context() noexcept;

// Makes a context valid, and deletes and counts handles that were left when it ends.
class ContextScope {
 public:
  explicit ContextScope(TF_ShapeInferenceContext* context);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

  // Ends it early; how many handles were left.
  std::size_t end() noexcept;

 private:
  TF_ShapeInferenceContext* context_;
  TF_ShapeInferenceContext* before_;
};

}  // namespace drystone::host::ops

#endif  // DRYSTONE_HOST_OPS_SHAPE_H_

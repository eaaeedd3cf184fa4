// Running the shape function of a plugin's op: see drystone_host/ops.h.
#include "ops/infer.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "core/buffer.h"
#include "core/failure.h"
#include "core/plugin_call.h"
#include "drystone/logging.h"
#include "drystone_host/ops.h"
#include "library/host_state.h"
#include "library/loaded.h"
#include "threads/abandonable_call.h"

namespace drystone::host::ops {
namespace {

struct Leaks {
  std::mutex lock;
  std::map<std::string, std::int64_t, std::less<>> by_op;
};

// Never destroyed: threads of plugins may outlive main().
Leaks& leaks() {
  static auto& only = *new Leaks;
  return only;
}

void note_leaks(const std::string& op, std::size_t count) {
  if (count == 0) return;
  const std::lock_guard guard(leaks().lock);
  leaks().by_op[op] += static_cast<std::int64_t>(count);
}

std::string named(const PluginOp& op, const std::string& node) {
  return "the shape function of op " + op.def.name + " (node '" + node + "', library " +
         op.library + ")";
}

// Runs the function; what it throws or sets becomes a Failure. It is looked at until one call of it has
// changed nothing of the process.
void call(const PluginOp& op, TF_ShapeInferenceContext& context) {
  TF_Status status;
  ContextScope scope(&context);
  std::optional<HostState> host;
  if (op.is_watched && !op.shapes_clean.load()) host.emplace();
  try {
    const PluginCall running("the shape function", op.library.c_str(), context.attrs.node, op.def.name);
    op.shape_function(&context, &status);
  } catch (const std::exception& error) {
    set(&status, TF_INTERNAL, "it threw an exception", error.what());
  } catch (...) {
    set(&status, TF_INTERNAL, "it threw an exception", "of unknown type");
  }
  note_leaks(op.def.name, scope.end());
  if (host && settle_changes(op.library, *host, "while a shape function ran")) op.shapes_clean.store(true);
  if (status.code == TF_OK) return;
  pass_on(status, named(op, context.attrs.node) + ": ",
          {{DS_PAYLOAD_NODE, context.attrs.node}, {DS_PAYLOAD_OP, op.def.name}, {DS_PAYLOAD_LIBRARY, op.library}});
}

// What a shape function is asked, for as long as it takes.
struct Asked {
  std::shared_ptr<const PluginOp> op;
  TF_ShapeInferenceContext context;
};

void call_and_leave(const std::shared_ptr<Asked>& asked) {
  const auto work = [asked] { call(*asked->op, asked->context); };
  if (call_abandonable(asked->op->library, work, {}) == CallEnd::returned) return;
  fail(TF_CANCELLED, named(*asked->op, asked->context.attrs.node) + " was left as it had not returned");
}

void check_inputs(const PluginOp& op, const TF_ShapeInferenceContext& context) {
  const std::size_t needed = count_tensors(op.def, op.def.inputs, context.attrs);
  if (needed == context.inputs.size()) return;
  fail(TF_INVALID_ARGUMENT, "node '" + context.attrs.node + "' (" + op.def.name + ") has " +
                                std::to_string(context.inputs.size()) + " inputs, but needs " +
                                std::to_string(needed));
}

void prepare(TF_ShapeInferenceContext& context, const PluginOp& op, std::string_view node_def,
             std::vector<Shape> inputs) {
  context.def = &op.def;
  context.attrs = parse_node(node_def);
  context.inputs = std::move(inputs);
  check_inputs(op, context);
  context.outputs.resize(count_tensors(op.def, op.def.outputs, context.attrs));
}

std::vector<Shape> read_shapes(int count, const int* ranks, const std::int64_t* dims) {
  if (count < 0) fail(TF_INVALID_ARGUMENT, "num_inputs must not be negative");
  if (count > 0) require(ranks, "ranks");
  std::vector<Shape> shapes(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) {
    if (ranks[k] < 0) continue;
    if (ranks[k] > kMaxRank) {
      fail(TF_INVALID_ARGUMENT, "input " + std::to_string(k) + " has rank " +
                                    std::to_string(ranks[k]) + "; at most " +
                                    std::to_string(kMaxRank) + " is possible");
    }
    if (ranks[k] > 0) require(dims, "dims");
    shapes[static_cast<std::size_t>(k)] = Shape{true, {dims, dims + ranks[k]}};
    if (ranks[k] > 0) dims += ranks[k];
  }
  return shapes;
}

std::string_view packed(const std::vector<std::int64_t>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof numbers[0]};
}

}  // namespace

std::vector<Shape> infer_shapes(std::string_view op, std::string_view node_def,
                                std::vector<Shape> inputs) {
  const auto found = find_plugin_op(op);
  if (found == nullptr) {
    fail(TF_NOT_FOUND, "no library registered op '" + std::string(op) + "'");
  }
  const auto asked = std::make_shared<Asked>();  // the function may take forever
  asked->op = found;
  TF_ShapeInferenceContext& context = asked->context;
  prepare(context, *found, node_def, std::move(inputs));
  if (found->shape_function != nullptr) {
    if (!found->is_watched) call(*found, context);
    else call_and_leave(asked);
  }
  return std::move(context.outputs);
}

std::vector<Shape> stated_shapes(std::string_view op, std::string_view node_def, std::vector<Shape> inputs) {
  const auto found = find_plugin_op(op);
  if (found == nullptr || found->shape_function == nullptr) return {};
  try {
    TF_ShapeInferenceContext context;
    prepare(context, *found, node_def, std::move(inputs));
    call(*found, context);
    return std::move(context.outputs);
  } catch (const Failure& failure) {
    if (found->refusal_told.exchange(true)) return {};
    TF_Log(TF_WARNING, "%s; its kernel took the same inputs", failure.message.c_str());
    return {};
  }
}

std::int64_t leaked_handles(std::string_view op) {
  const std::lock_guard guard(leaks().lock);
  const auto found = leaks().by_op.find(op);
  return found == leaks().by_op.end() ? 0 : found->second;
}

}  // namespace drystone::host::ops

extern "C" TF_CAPI_EXPORT void DS_InferShapes(const char* op, const TF_Buffer* node_def,
                                              int num_inputs, const int* ranks,
                                              const int64_t* dims, TF_Buffer* out,
                                              TF_Status* status) {
  namespace host = drystone::host;
  host::guarded(status, __func__, [&] {
    host::require(op, "op");
    auto inputs = host::ops::read_shapes(num_inputs, ranks, dims);
    const auto outputs =
        host::ops::infer_shapes(op, host::view(node_def), std::move(inputs));
    std::vector<int64_t> numbers = {static_cast<int64_t>(outputs.size())};
    for (const auto& shape : outputs) {
      numbers.push_back(shape.rank());
      numbers.insert(numbers.end(), shape.dims.begin(), shape.dims.end());
    }
    host::fill(out, host::ops::packed(numbers));
  });
}

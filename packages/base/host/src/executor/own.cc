// Instructions that the executor computes itself: see InstructionDef.own in plan.proto.
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "executor/run.h"
#include "kernels/variable.h"

namespace drystone::host::executor {
namespace {

TF_Tensor* scalar(TF_DataType dtype) { return new_tensor(dtype, nullptr, 0); }

struct Drop {
  void operator()(TF_Tensor* tensor) const noexcept { drop(tensor); }
};
using Dropped = std::unique_ptr<TF_Tensor, Drop>;

// Strings that are the embedder's objects.
bool is_text_elsewhere(const TF_Tensor* value) {
  return value->dtype == TF_STRING && value->memory != nullptr && value->memory->opaque;
}

thread_local Within::Of outer __attribute__((tls_model("initial-exec"))) = {};

}  // namespace

Within::Within(const Run& run, bool asks) : before_(std::exchange(outer, {&run, asks})) {}
Within::~Within() { outer = before_; }

bool is_within_run() { return outer.run != nullptr; }

RunStop* stop_within() { return outer.run == nullptr ? nullptr : const_cast<Run*>(outer.run)->stop(); }

DS_RunOptions options_within() {
  DS_RunOptions out{};
  out.struct_size = DS_RUN_OPTIONS_STRUCT_SIZE;
  if (outer.run != nullptr) outer.run->lend(&out);
  if (!outer.asks) out.poll = nullptr;
  return out;
}

int threads_within() {
  return outer.run != nullptr ? outer.run->threads_in_parallel() : std::numeric_limits<int>::max();
}

void Run::lend(DS_RunOptions* options) const {
  options->run_context = run_context_;
  options->deadline_ms = remaining_ms();
  options->step_id = facts_.step_id;
  options->cancellation = cancellation_;
  options->poll = poll_;
  if (facts_.rendezvous.send_func != nullptr) options->rendezvous = &facts_.rendezvous;
}

// Whether an executable gave the results. It takes strings as the host has them.
bool Run::compiled(const Instruction& in, TF_Tensor** inputs, TF_Tensor** outputs) {
  const auto count = static_cast<std::size_t>(in.inputs.count);
  if (std::none_of(inputs, inputs + count, is_text_elsewhere)) {
    return computed(in, inputs, outputs);
  }
  std::vector<TF_Tensor*> given(inputs, inputs + count);
  std::vector<Dropped> made;
  for (std::size_t k = 0; k < count; ++k) {
    if (!is_text_elsewhere(given[k])) continue;
    Dropped text(adapted(in, k, given[k], TF_STRING));
    given[k] = text.get();
    made.push_back(std::move(text));
  }
  return computed(in, given.data(), outputs);
}

bool Run::computed(const Instruction& in, TF_Tensor* const* inputs, TF_Tensor** outputs) {
  const std::int32_t results = in.outputs.count - 1;
  {
    const Within scope(*this, true);
    if (!in.compiled->compute(inputs, in.inputs.count, outputs + 1, results)) return false;
  }
  try {
    outputs[0] = scalar(TF_BOOL);
  } catch (...) {
    for (std::int32_t k = 1; k <= results; ++k) drop(std::exchange(outputs[k], nullptr));
    throw;
  }
  *static_cast<bool*>(outputs[0]->memory->data) = true;
  return true;
}

// The variable that a handle stands for, if it has a value of the instruction's dtype; else NULL.
kernels::VariablePtr Run::variable_to_read(const Instruction& in, const TF_Tensor* handle) {
  TF_Tensor* made = nullptr;
  if (handle->memory != nullptr && handle->memory->opaque) {
    handle = made = adapted(in, 0, handle, TF_RESOURCE);
  }
  kernels::VariablePtr variable;
  if (handle->memory != nullptr && handle->dtype == TF_RESOURCE && handle->count() == 1) {
    variable = kernels::find_variable(*handle, 0);
  }
  drop(made);
  const bool fits = variable != nullptr && variable->dtype() == in.value_type && variable->version() != 0;
  return fits ? variable : nullptr;
}

// Whether the handle is that of a variable with a value, which is read with its version.
bool Run::versioned(const Instruction& in, TF_Tensor** inputs, TF_Tensor** outputs) {
  const kernels::VariablePtr variable = variable_to_read(in, inputs[0]);
  if (variable == nullptr) return false;
  auto found = variable->versioned();
  if (found.first == nullptr) return false;
  std::unique_ptr<TF_Tensor> version(scalar(TF_INT64));
  *static_cast<std::int64_t*>(version->memory->data) = found.second;
  outputs[0] = found.first.release();
  outputs[1] = version.release();
  return true;
}

}  // namespace drystone::host::executor

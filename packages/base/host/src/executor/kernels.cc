// Calling kernels of libraries and of the embedder: see executor/run.h.
#include <algorithm>
#include <vector>

#include "core/failure.h"
#include "executor/run.h"
#include "kernels/kernel.h"
#include "kernels/variable.h"

namespace drystone::host::executor {
namespace {

constexpr std::size_t kFew = 16;

struct Tensors {
  std::vector<TF_Tensor*> held;
  ~Tensors() {
    for (TF_Tensor* tensor : held) drop(tensor);
  }
};

// The value of an output that refers to a variable: the input that does, or a new one. Takes the
// handle over.
TF_Tensor* referring(DS_Variable* variable, const std::vector<DS_Variable*>& variables,
                     TF_Tensor* const* inputs) {
  for (std::size_t k = 0; k < variables.size(); ++k) {
    if (variables[k] == nullptr) continue;
    if (kernels::variable_of(variables[k]) != kernels::variable_of(variable)) continue;
    DS_DeleteVariable(variable);
    return hold(inputs[k]);
  }
  return new_reference(variable);
}

Subject subject_of(const Instruction& in) {
  return in.kernel != nullptr ? in.kernel->subject() : Subject{.node = in.node, .op = in.op};
}

}  // namespace

void Run::kernel(const Instruction& in, TF_Tensor** inputs, const TF_Bool* given_up,
                 TF_Tensor** outputs) {
  if (in.compiled != nullptr && compiled(in, inputs, outputs)) return;
  if (in.reads_version && versioned(in, inputs, outputs)) return;
  if (in.reads_there) read_there(in, inputs, outputs);
  else if (in.kernel == nullptr) callback(in, in.callback, inputs, outputs);
  else if (in.fallback >= 0) kernel_or_callback(in, inputs, given_up, outputs);
  else if (in.has_refs) kernel_with_references(in, inputs, outputs);
  else library_kernel(in, inputs, given_up, outputs);
}

// Calls the kernel if its inputs are what it takes as they are; whether it did.
bool Run::plain_kernel(const Block& block, const Instruction& in, TF_Tensor** values) {
  DS_Kernel& kernel = *in.kernel;
  const auto count = static_cast<std::size_t>(in.inputs.count);
  const std::int32_t* numbers = block.inputs.data() + in.inputs.start;
  const TF_DataType* types = kernel.inputs.types.data();
  TF_Tensor* inputs[kFew];
  if (count > kFew) return false;
  for (std::size_t k = 0; k < count; ++k) {
    const auto v = static_cast<std::size_t>(numbers[k]);
    TF_Tensor* value = values[v] != nullptr ? values[v] : block.initial[v];
    if (value->dtype != types[k] || value->memory == nullptr || value->memory->opaque) return false;
    inputs[k] = value;
  }
  facts_.overwritable = in.gives_up ? block.given_up.data() + in.inputs.start : nullptr;
  if (deadline_) facts_.deadline_ms = remaining_ms();
  kernels::run_kernel_unchecked(kernel, facts_, inputs, values + in.outputs.start);
  return true;
}

void Run::kernel_or_callback(const Instruction& in, TF_Tensor** inputs, const TF_Bool* given_up,
                             TF_Tensor** outputs) {
  const std::vector<TF_Tensor*> before(inputs, inputs + in.inputs.count);
  try {
    library_kernel(in, inputs, given_up, outputs);
    return;
  } catch (const Failure& failure) {
    if (failure.code != TF_UNIMPLEMENTED) throw;
  }
  std::copy(before.begin(), before.end(), inputs);
  callback(in, in.fallback, inputs, outputs);
  if (in.device != 0) put_there(in, outputs);
}

void Run::library_kernel(const Instruction& in, TF_Tensor** inputs, const TF_Bool* given_up,
                         TF_Tensor** outputs) {
  const auto count = static_cast<std::size_t>(in.inputs.count);
  Tensors made;
  if (std::any_of(inputs, inputs + count, is_opaque)) {
    for (std::size_t k = 0; k < count; ++k) {
      if (!is_opaque(inputs[k])) continue;
      inputs[k] = adapted(in, k, inputs[k], in.kernel->inputs.types[k]);
      made.held.push_back(inputs[k]);
    }
    given_up = nullptr;  // what was made in their place stays with them
  }
  facts_.overwritable = given_up;
  if (deadline_) facts_.deadline_ms = remaining_ms();
  if (in.device != 0) return device_kernel(in, inputs, facts_, outputs);
  kernels::run_kernel(*in.kernel, facts_, inputs, outputs, true);
}

void Run::kernel_with_references(const Instruction& in, TF_Tensor** inputs, TF_Tensor** outputs) {
  const auto count = static_cast<std::size_t>(in.inputs.count);
  const auto results = static_cast<std::size_t>(in.outputs.count);
  Tensors made;
  std::vector<DS_Variable*> variables(count);
  std::vector<DS_Variable*> returned(results);
  for (std::size_t k = 0; k < count; ++k) {
    if (in.kernel->inputs.is_ref[k] == 0) {
      if (!is_opaque(inputs[k])) continue;
      inputs[k] = adapted(in, k, inputs[k], in.kernel->inputs.types[k]);
      made.held.push_back(inputs[k]);
      continue;
    }
    variables[k] = reference(inputs[k]);
    if (variables[k] != nullptr) continue;
    if (!is_opaque(inputs[k])) {
      fail_at(subject_of(in), {TF_INVALID_ARGUMENT, "input " + std::to_string(k) + " must be a reference to a variable"});
    }
    made.held.push_back(adapted(in, k, inputs[k], kReference));
    variables[k] = reference(made.held.back());
  }
  DS_KernelCall facts = facts_;
  facts.overwritable = nullptr;
  facts.deadline_ms = remaining_ms();
  facts.input_variables = variables.data();
  facts.output_variables = returned.data();
  if (in.device != 0) device_kernel(in, inputs, facts, outputs);
  else kernels::run_kernel(*in.kernel, facts, inputs, outputs, true);
  for (std::size_t k = 0; k < results; ++k) {
    if (returned[k] == nullptr) continue;
    drop(std::exchange(outputs[k], nullptr));
    outputs[k] = referring(returned[k], variables, inputs);
  }
}

// What a library's kernel gets in place of an opaque value; the value keeps it.
TF_Tensor* Run::adapted(const Instruction& in, std::size_t k, const TF_Tensor* opaque,
                        TF_DataType dtype) {
  TF_Tensor* known = opaque->memory->adapted.load(std::memory_order_acquire);
  if (known != nullptr && known->dtype == dtype) return hold(known);
  clear(&status_);
  TF_Tensor* out = dtype == kReference ? adapted_variable(opaque)
                   : callbacks_.adapt == nullptr || reference(opaque) != nullptr
                       ? nullptr
                       : callbacks_.adapt(callbacks_.context, opaque, dtype, &status_);
  if (out == nullptr) {
    const std::string input = "input " + std::to_string(k) + ": ";
    if (status_.code != TF_OK) fail_at(subject_of(in), failure_in(status_, input));
    fail_at(subject_of(in), {TF_INVALID_ARGUMENT, input + "a value that only the embedder knows"});
  }
  if (opaque->memory->constant && out->memory != nullptr) out->memory->constant = true;
  hold(out);
  if (!opaque->memory->adapted.compare_exchange_strong(known, out, std::memory_order_acq_rel)) {
    drop(out);
  }
  return out;
}

bool Run::chooses(const Instruction& in, std::size_t k, const TF_Tensor* condition) {
  if (condition->count() != 1) {
    fail_at(subject_of(in), {TF_INVALID_ARGUMENT, "its choice has " + std::to_string(condition->count()) + " elements, it must have one"});
  }
  if (condition->memory == nullptr || is_opaque(condition)) return holds(in, k, condition);
  return element_truth(*condition);
}

bool Run::holds(const Instruction& in, std::size_t k, const TF_Tensor* condition) {
  Tensors made;
  if (is_opaque(condition) && condition->dtype == TF_STRING) {
    made.held.push_back(adapted(in, k, condition, TF_STRING));
    condition = made.held.back();
  }
  if (condition->memory == nullptr || is_opaque(condition)) {
    fail_at(subject_of(in), {TF_INVALID_ARGUMENT, "a condition must be a number or a string"});
  }
  return truth(*condition);
}

TF_Tensor* Run::adapted_variable(const TF_Tensor* opaque) {
  if (callbacks_.adapt_variable == nullptr) return nullptr;
  DS_Variable* variable = callbacks_.adapt_variable(callbacks_.context, opaque, &status_);
  return variable == nullptr ? nullptr : new_reference(variable);
}

void Run::callback(const Instruction& in, std::int32_t number, TF_Tensor** inputs,
                   TF_Tensor** outputs) {
  clear(&status_);
  const Within scope(*this, false);
  callbacks_.compute(callbacks_.context, run_context_, number, inputs, in.inputs.count,
                     outputs, in.outputs.count, &status_);
  const bool complete =
      in.kind == Kind::transfer ||  // what is not there is dead
      std::all_of(outputs, outputs + in.outputs.count,
                  [](const TF_Tensor* output) { return output != nullptr; });
  if (status_.code == TF_OK && complete) return;
  for (std::int32_t k = 0; k < in.outputs.count; ++k) drop(std::exchange(outputs[k], nullptr));
  if (status_.code == TF_OK) set(&status_, TF_INTERNAL, "DS_Callbacks.compute", "an output is missing");
  throw failure_in(status_);
}

void Run::session_constant(const Instruction& in, TF_Tensor** inputs, TF_Tensor** outputs) {
  const auto number = static_cast<std::size_t>(in.session_constant);
  const std::uint64_t now = plan_.session.generation.load(std::memory_order_acquire);
  {
    const std::lock_guard lock(plan_.mutex);
    if (plan_.generation != now) plan_.forget();
    plan_.generation = now;
    plan_.kept.resize(static_cast<std::size_t>(plan_.program->session_constants));
    const auto& kept = plan_.kept[number];
    if (!kept.empty()) {
      for (std::size_t k = 0; k < kept.size(); ++k) outputs[k] = hold(kept[k]);
      if (in.kind == Kind::copy) devices_->keep(outputs[0]);  // another thread may have the plan forget it
      return;
    }
  }
  if (in.kind == Kind::copy) copy(in, inputs, outputs);
  else kernel(in, inputs, nullptr, outputs);
  const std::lock_guard lock(plan_.mutex);
  auto& kept = plan_.kept[number];
  if (plan_.generation != now || !kept.empty()) return;
  for (std::int32_t k = 0; k < in.outputs.count; ++k) {
    if (outputs[k]->memory != nullptr) outputs[k]->memory->constant = true;
    kept.push_back(hold(outputs[k]));
  }
}

}  // namespace drystone::host::executor

DS_Plan::DS_Plan(DS_Session& session_, std::unique_ptr<drystone::host::executor::Program> program_)
    : session(session_), program(std::move(program_)) {
  for (const auto& block : program->blocks) {
    asks = asks || std::ranges::any_of(block.instructions, [](const auto& in) {
             return in.callback >= 0 || in.fallback >= 0 || in.kind == drystone::host::executor::Kind::transfer;
           });
    asks = asks || std::ranges::any_of(block.initial, [](const TF_Tensor* value) {
             return value != nullptr && drystone::host::executor::is_opaque(value);
           });
  }
  session.retain();
}

DS_Plan::~DS_Plan() {
  forget();
  program.reset();
  session.release();
}

void DS_Plan::forget() noexcept {
  for (auto& outputs : kept) {
    for (TF_Tensor* output : outputs) drystone::host::drop(output);
    outputs.clear();
  }
}

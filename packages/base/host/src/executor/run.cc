// Running blocks in order: see executor/run.h.
#include "executor/run.h"

#include <algorithm>
#include <cstring>

#include "core/failure.h"
#include "drystone/tstring.h"
#include "executor/ticker.h"
#include "kernels/variable.h"

namespace drystone::host::executor {
namespace {

constexpr int kMostDepth = 2000;  // of calls within calls
constexpr int kFew = 16;          // inputs of a kernel that need no allocation

std::int64_t next_step() {
  static std::atomic<std::int64_t> step{std::int64_t{1} << 40};
  return step.fetch_add(1, std::memory_order_relaxed);
}

// Values of a call for a scope: what is still in them is dropped.
class Values {
 public:
  Values(Stack& stack, std::size_t count) : stack_(stack), count_(count), at_(stack.take(count)) {}
  ~Values() {
    for (std::size_t k = 0; k < count_; ++k) drop(at_[k]);
    stack_.give(count_);
  }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  TF_Tensor** data() { return at_; }

 private:
  Stack& stack_;
  std::size_t count_;
  TF_Tensor** at_;
};

// Tensors that are dropped at the end of a scope.
struct Held {
  std::vector<TF_Tensor*> tensors;
  ~Held() {
    for (TF_Tensor* tensor : tensors) drop(tensor);
  }
};

// Whether a value is an object of the embedder's in the place of numbers: a variable of its own.
bool stands_for_variable(const TF_Tensor& value) {
  return value.memory != nullptr && value.memory->opaque && TF_DataTypeSize(value.dtype) != 0;
}

}  // namespace

Stack::~Stack() {
  for (std::size_t k = 1; k < pages_.size(); ++k) delete[] pages_[k].values;
}

TF_Tensor** Stack::take(std::size_t count) {
  if (pages_.empty()) pages_.push_back({first_, std::size(first_), 0});
  while (pages_[current_].size - pages_[current_].used < count) {
    while (current_ + 1 < pages_.size() && pages_[current_ + 1].size < count) {
      delete[] pages_.back().values;  // pages after the current one are empty
      pages_.pop_back();
    }
    if (current_ + 1 == pages_.size()) {
      const std::size_t size = std::max(count, pages_[current_].size * 2);
      pages_.push_back({new TF_Tensor*[size], size, 0});
    }
    ++current_;
  }
  Page& page = pages_[current_];
  TF_Tensor** out = page.values + page.used;
  page.used += count;
  std::fill_n(out, count, nullptr);
  return out;
}

void Stack::give(std::size_t count) noexcept {
  while (pages_[current_].used == 0 && current_ > 0) --current_;
  pages_[current_].used -= count;
}

Run::Run(DS_Plan& plan, const DS_RunOptions* options, Trace* trace)
    : plan_(plan), callbacks_(plan.session.callbacks), trace_(trace) {
  facts_.struct_size = DS_KERNEL_CALL_STRUCT_SIZE;
  facts_.graph_def_version = plan.program->graph_def_version;
  DS_RunOptions given{};
  if (options != nullptr) {
    std::memcpy(&given, options, std::min<std::size_t>(options->struct_size, sizeof given));
  }
  facts_.step_id = given.step_id != 0 ? given.step_id : next_step();
  run_context_ = given.run_context;
  cancellation_ = given.cancellation;
  has_limits_ = given.cancellation != nullptr || given.deadline_ms > 0;
  if (given.poll != nullptr) {
    poll_ = given.poll;
    ticks_ = &ticks();
    tick_ = ticks_->load(std::memory_order_relaxed);
  }
  if (given.deadline_ms > 0) {
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    deadline_ = std::chrono::steady_clock::now() +
                std::chrono::milliseconds(std::min(given.deadline_ms, kMost));
  }
}

std::int64_t Run::remaining_ms() const {
  if (!deadline_) return 0;
  const auto left = *deadline_ - std::chrono::steady_clock::now();
  return std::max<std::int64_t>(
      1, std::chrono::duration_cast<std::chrono::milliseconds>(left).count());
}

// Asks the embedder whether to go on.
void Run::poll(const Instruction& in) {
  tick_ = ticks().load(std::memory_order_relaxed);
  if (poll_(run_context_) == 0) return;
  fail(TF_CANCELLED, "the run was interrupted before node '" + in.node + "' (" + in.op + ")");
}

void Run::check_limits(const Instruction& in) {
  if (cancellation_ != nullptr && cancellation_->is_set.load(std::memory_order_relaxed)) {
    fail(TF_CANCELLED, "the run was cancelled before node '" + in.node + "' (" + in.op + ")");
  }
  if (deadline_ && std::chrono::steady_clock::now() > *deadline_) {
    fail(TF_DEADLINE_EXCEEDED,
         "the run was stopped at node '" + in.node + "' (" + in.op + "): its time is over");
  }
}

void Run::run(const Block& block, TF_Tensor** values, TF_Tensor** fetches) {
  if (block.has_frames) run_dataflow(*this, block, values, fetches);
  else run_in_order(block, values, fetches);
}

void Run::run_in_order(const Block& block, TF_Tensor** values, TF_Tensor** fetches) {
  const bool watches = watches_time();
  if (trace_ != nullptr) [[unlikely]] {
    record_in_order(block, values);
  } else {
    for (const Instruction& in : block.instructions) {
      if (watches) check_time(in);
      advance(block, in, values);
      drop_dead(block, in, values);
    }
  }
  for (std::size_t k = 0; k < block.fetches.size(); ++k) {
    const auto v = static_cast<std::size_t>(block.fetches[k]);
    TF_Tensor* value = values[v] != nullptr ? values[v] : block.initial[v];
    fetches[k] = block.fetch_moves[k] ? std::exchange(values[v], nullptr) : hold(value);
  }
}

void Run::advance(const Block& block, const Instruction& in, TF_Tensor** values) {
  switch (in.kind) {
    case Kind::constant: case Kind::nothing: case Kind::trigger:
      break;
    case Kind::forward: {
      const auto inputs = block.inputs_of(in);
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        const auto v = static_cast<std::size_t>(inputs[k]);
        TF_Tensor* value = values[v] != nullptr ? values[v] : block.initial[v];
        values[static_cast<std::size_t>(in.outputs.start) + k] =
            block.given_up[static_cast<std::size_t>(in.inputs.start) + k] != 0 && values[v] != nullptr
                ? std::exchange(values[v], nullptr)
                : hold(value);
      }
      break;
    }
    default: {
      const auto inputs = block.inputs_of(in);
      TF_Tensor* few[kFew];
      std::vector<TF_Tensor*> more;
      TF_Tensor** gathered = few;
      if (inputs.size() > kFew) {
        more.resize(inputs.size());
        gathered = more.data();
      }
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        const auto v = static_cast<std::size_t>(inputs[k]);
        gathered[k] = values[v] != nullptr ? values[v] : block.initial[v];
      }
      compute(block, in, gathered,
              in.gives_up ? block.given_up.data() + in.inputs.start : nullptr,
              values + in.outputs.start);
    }
  }
}

// Puts the current values of variables in the place of references to them.
void Run::read_variables(const Block& block, const Instruction& in, TF_Tensor** inputs,
                         std::vector<TF_Tensor*>* read) {
  for (std::int32_t k = 0; k < in.deref.count; ++k) {
    const auto slot = static_cast<std::size_t>(block.deref[static_cast<std::size_t>(in.deref.start + k)]);
    TF_Tensor*& input = inputs[slot];
    const DS_Variable* variable = reference(input);
    if (variable == nullptr && stands_for_variable(*input)) {
      read->push_back(adapted(in, slot, input, kReference));
      variable = reference(read->back());
    }
    if (variable == nullptr) continue;
    read->push_back(kernels::variable_of(variable)->initialized().release());
    input = read->back();
  }
}

void Run::compute(const Block& block, const Instruction& in, TF_Tensor** inputs,
                  const TF_Bool* given_up, TF_Tensor** outputs) {
  Held read;  // current values of variables that are read
  if (in.deref.count > 0 && in.kernel != nullptr) read_variables(block, in, inputs, &read.tensors);
  switch (in.kind) {
    case Kind::kernel: kernel(in, inputs, given_up, outputs); break;
    case Kind::steady: steady(in, inputs, outputs); break;
    case Kind::forward:
      for (std::int32_t k = 0; k < in.inputs.count; ++k) outputs[k] = hold(inputs[k]);
      break;
    case Kind::call: {
      Values arguments(stack, static_cast<std::size_t>(in.inputs.count));
      for (std::int32_t k = 0; k < in.inputs.count; ++k) arguments.data()[k] = hold(inputs[k]);
      call(in, in.blocks[0], arguments.data(), in.inputs.count, outputs);
      break;
    }
    case Kind::if_: case Kind::case_: choose(in, inputs, outputs); break;
    case Kind::while_: loop(in, inputs, outputs); break;
    default: break;
  }
}

void Run::call(const Instruction& in, std::int32_t block, TF_Tensor** arguments,
               std::int32_t count, TF_Tensor** results) {
  const Block& callee = plan_.program->blocks[static_cast<std::size_t>(block)];
  if (++depth_ > kMostDepth) {
    --depth_;
    fail(TF_RESOURCE_EXHAUSTED, "functions call one another more than " +
                                    std::to_string(kMostDepth) + " deep at node '" + in.node + "'");
  }
  try {
    Values values(stack, static_cast<std::size_t>(callee.values()));
    for (std::int32_t k = 0; k < count; ++k) {
      values.data()[k] = std::exchange(arguments[k], nullptr);
    }
    run(callee, values.data(), results);
  } catch (Failure& failure) {
    --depth_;
    failure.message += "\n  in function '" + callee.name + "', called by node '" + in.node + "'";
    throw;
  } catch (...) {
    --depth_;
    throw;
  }
  --depth_;
}

void Run::choose(const Instruction& in, TF_Tensor** inputs, TF_Tensor** outputs) {
  const std::int32_t count = in.inputs.count - 1;
  std::size_t branch = 0;
  if (in.kind == Kind::if_) {
    branch = holds(in, 0, inputs[0]) ? 0 : 1;
  } else {
    std::int32_t index = -1;
    const TF_Tensor& choice = *inputs[0];
    const bool is_number = choice.memory != nullptr && !choice.memory->opaque;
    if (choice.dtype == TF_INT32 && choice.count() == 1 && is_number) {
      std::memcpy(&index, choice.memory->data, sizeof index);
    }
    branch = index < 0 || static_cast<std::size_t>(index) >= in.blocks.size()
                 ? in.blocks.size() - 1
                 : static_cast<std::size_t>(index);
  }
  Values arguments(stack, static_cast<std::size_t>(count));
  for (std::int32_t k = 0; k < count; ++k) arguments.data()[k] = hold(inputs[k + 1]);
  call(in, in.blocks[branch], arguments.data(), count, outputs);
}

void Run::loop(const Instruction& in, TF_Tensor** inputs, TF_Tensor** outputs) {
  const auto count = static_cast<std::size_t>(in.inputs.count);
  Values variables(stack, count);
  Values arguments(stack, count);
  for (std::size_t k = 0; k < count; ++k) variables.data()[k] = hold(inputs[k]);
  while (true) {
    if (watches_time()) check_time(in);
    for (std::size_t k = 0; k < count; ++k) arguments.data()[k] = hold(variables.data()[k]);
    Values verdict(stack, 1);
    call(in, in.blocks[0], arguments.data(), in.inputs.count, verdict.data());
    if (!holds(in, 0, verdict.data()[0])) break;
    Values next(stack, count);
    call(in, in.blocks[1], variables.data(), in.inputs.count, next.data());
    for (std::size_t k = 0; k < count; ++k) {
      variables.data()[k] = std::exchange(next.data()[k], nullptr);
    }
  }
  for (std::size_t k = 0; k < count; ++k) {
    outputs[k] = std::exchange(variables.data()[k], nullptr);
  }
}

bool truth(const TF_Tensor& value) {
  if (value.dims.rank() != 0) return value.count() > 0;
  const void* data = value.memory->data;
  if (value.dtype == TF_STRING) return TF_TString_GetSize(static_cast<const TF_TString*>(data)) > 0;
  const std::size_t size = stored_size(value.dtype);
  if (value.dtype == TF_FLOAT) {
    float x = 0;
    std::memcpy(&x, data, sizeof x);
    return x != 0;
  }
  if (value.dtype == TF_DOUBLE) {
    double x = 0;
    std::memcpy(&x, data, sizeof x);
    return x != 0;
  }
  const auto* bytes = static_cast<const unsigned char*>(data);
  return std::any_of(bytes, bytes + size, [](unsigned char byte) { return byte != 0; });
}

}  // namespace drystone::host::executor

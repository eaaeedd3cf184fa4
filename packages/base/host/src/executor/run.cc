// Running blocks in order: see executor/run.h.
#include "executor/run.h"

#include <algorithm>
#include <cstring>

#include "core/failure.h"
#include "drystone/tstring.h"
#include "executor/ticker.h"
#include "executor/parallel_schedule.h"
#include "executor/trace.h"
#include "kernels/variable.h"

namespace drystone::host::executor {
namespace {

constexpr int kMostDepth = 2000;  // of calls within calls
constexpr int kFewInputs = 16;   // inputs of a kernel that need no allocation
constexpr std::chrono::milliseconds kAsks{50};  // between two questions to the embedder

std::int64_t next_step() {
  static std::atomic<std::int64_t> step{std::int64_t{1} << 40};
  return step.fetch_add(1, std::memory_order_relaxed);
}

// Tensors that are dropped at the end of a scope.
struct HeldTensors {
  std::vector<TF_Tensor*> tensors;
  ~HeldTensors() {
    for (TF_Tensor* tensor : tensors) drop(tensor);
  }
};

// Whether a value is an object of the embedder's in the place of numbers: a variable of its own.
bool stands_for_variable(const TF_Tensor& value) {
  return value.memory != nullptr && value.memory->opaque && TF_DataTypeSize(value.dtype) != 0;
}

}  // namespace

constexpr std::size_t kFirstPage = 256;

Stack::Stack() { pages_.push_back({new TF_Tensor*[kFirstPage](), kFirstPage, 0}); }

Stack::~Stack() {
  for (const Page& page : pages_) delete[] page.values;
}

Stack& Stack::of_thread() {
  thread_local Stack stack;
  return stack;
}

TF_Tensor** Stack::take_elsewhere(std::size_t count) {
  while (current_ + 1 < pages_.size() && pages_[current_ + 1].size < count) {
    delete[] pages_.back().values;  // pages after the current one are empty
    pages_.pop_back();
  }
  if (current_ + 1 == pages_.size()) {
    const std::size_t size = std::max(count, pages_[current_].size * 2);
    pages_.push_back({new TF_Tensor*[size](), size, 0});
  }
  Page& page = pages_[++current_];
  page.used = count;
  return page.values;
}

Run::Run(DS_Plan& plan, const DS_RunOptions* options, Trace* trace, RunStop* stop)
    : stack(Stack::of_thread()), plan_(plan), callbacks_(plan.session.callbacks), trace_(trace),
      most_in_parallel_(threads_within()) {
  facts_.struct_size = DS_KERNEL_CALL_STRUCT_SIZE;
  facts_.graph_def_version = plan.program->graph_def_version;
  DS_RunOptions given{};
  if (options != nullptr) {
    std::memcpy(&given, options, std::min<std::size_t>(options->struct_size, sizeof given));
  }
  facts_.states = &plan.session.states;
  if (!plan.program->devices.empty()) {
    devices_ = std::make_shared<RunDevices>(plan.session.lanes, plan.program->devices, trace != nullptr);
  }
  facts_.step_id = given.step_id != 0 ? given.step_id : next_step();
  if (given.rendezvous != nullptr) facts_.rendezvous = *given.rendezvous;
  run_context_ = given.run_context;
  cancellation_ = given.cancellation;
  has_limits_ = given.cancellation != nullptr || given.deadline_ms > 0;
  if (given.poll != nullptr) {
    poll_ = given.poll;
    ticks_ = ticks();
    if (ticks_ != nullptr) tick_ = ticks_->load(std::memory_order_relaxed);
    else has_limits_ = true;  // there is no counter: the clock says when to ask
  }
  if (given.deadline_ms > 0) {
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    deadline_ = std::chrono::steady_clock::now() +
                std::chrono::milliseconds(std::min(given.deadline_ms, kMost));
  }
  if (stop != nullptr) now_ = &stop->place_of_now();
  else stop = stop_within();
  if (stop != nullptr) {
    stop_ = stop;
    has_limits_ = true;
  } else if (watches_time()) {
    const auto ask = [](void* run) { return static_cast<Run*>(run)->asked() != RunStop::Why::none; };
    stop_->asks_on_this_thread(ask, this);
  }
}

std::unique_ptr<Run> Run::for_another_thread() const {
  auto out = std::make_unique<Run>(plan_, nullptr, trace_);
  out->run_context_ = run_context_;
  out->facts_ = facts_;
  out->facts_.overwritable = nullptr;
  out->has_limits_ = has_limits_;
  out->cancellation_ = cancellation_;
  out->deadline_ = deadline_;
  out->stop_ = stop_;
  out->now_ = now_;
  out->depth_ = depth_;
  out->most_in_parallel_ = most_in_parallel_;
  return out;
}

std::int64_t Run::remaining_ms() const {
  if (!deadline_) return 0;
  const auto left = *deadline_ - std::chrono::steady_clock::now();
  return std::max<std::int64_t>(
      1, std::chrono::duration_cast<std::chrono::milliseconds>(left).count());
}

// Asks the embedder whether to go on.
void Run::poll(const Instruction& in) {
  if (const auto* counter = ticks()) tick_ = counter->load(std::memory_order_relaxed);
  if (poll_(run_context_) == 0) return;
  fail_interrupted(&in, "before");
}

void Run::check_limits(const Instruction& in) {
  if (stop_->is_set()) stop_->fail_in_node();
  if (cancellation_ != nullptr && cancellation_->is_set.load(std::memory_order_relaxed)) {
    fail_cancelled(&in, "before");
  }
  if (deadline_ && std::chrono::steady_clock::now() > *deadline_) fail_late(&in);
  if (poll_ != nullptr && ticks_ == nullptr && is_on_its_thread() && is_time_to_ask()) poll(in);
}

// A kernel asks whether it should go on, on the run's thread.
RunStop::Why Run::asked() {
  RunStop::Why why = RunStop::Why::none;
  if (cancellation_ != nullptr && cancellation_->is_set.load(std::memory_order_relaxed)) {
    why = RunStop::Why::cancelled;
  } else if (deadline_ && std::chrono::steady_clock::now() > *deadline_) {
    why = RunStop::Why::time;
  } else if (poll_ != nullptr && is_time_to_ask() && poll_(run_context_) != 0) {
    why = RunStop::Why::interrupted;
  }
  if (why != RunStop::Why::none) stop_->end(why);
  return why;
}

bool Run::is_time_to_ask() {
  if (ticks_ != nullptr) {
    static_cast<void>(ticks());  // it goes on counting
    const std::uint32_t now = ticks_->load(std::memory_order_relaxed);
    return std::exchange(tick_, now) != now;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now < ask_again_) return false;
  ask_again_ = now + kAsks;
  return true;
}

void Run::run(const Block& block, TF_Tensor** values, TF_Tensor** fetches) {
  if (block.has_frames) run_dataflow(*this, block, values, fetches);
  else run_in_order(block, values, fetches);
}

void Run::run_in_order(const Block& block, TF_Tensor** values, TF_Tensor** fetches) {
  const auto count = static_cast<std::int32_t>(block.instructions.size());
  if (block.parallel_schedule != nullptr && run_in_parallel(block, values)) {
    // it has run
  } else if (trace_ != nullptr) {
    Recording recording(*trace_, block, values);
    run_range(block, 0, count, values, &recording);
  } else {
    run_range(block, 0, count, values, nullptr);
  }
  for (std::size_t k = 0; k < block.fetches.size(); ++k) {
    const auto v = static_cast<std::size_t>(block.fetches[k]);
    TF_Tensor* value = values[v] != nullptr ? values[v] : block.initial[v];
    fetches[k] = block.fetch_moves[k] ? std::exchange(values[v], nullptr) : hold(value);
  }
}

void Run::run_range(const Block& block, std::int32_t begin, std::int32_t end, TF_Tensor** values,
                    Recording* recording) {
  const bool watches = watches_time();
  if (recording != nullptr) return recording->range(*this, begin, end, values);
  for (std::int32_t k = begin; k < end; ++k) {
    const Instruction& in = block.instructions[static_cast<std::size_t>(k)];
    if (watches) check_time(in);
    advance(block, in, values);
    drop_dead(block, in, values);
  }
}

void Run::advance(const Block& block, const Instruction& in, TF_Tensor** values) {
  switch (in.kind) {
    case Kind::constant: case Kind::nothing: case Kind::trigger:
      break;
    case Kind::forward: {
      if (in.deref.count > 0) {
        compute_step(block, in, values);
        break;
      }
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
    default:
      if (!in.is_plain || !plain_kernel(block, in, values)) compute_step(block, in, values);
  }
}

void Run::compute_step(const Block& block, const Instruction& in, TF_Tensor** values) {
  const auto inputs = block.inputs_of(in);
  TF_Tensor* few[kFewInputs];
  std::vector<TF_Tensor*> more;
  TF_Tensor** gathered = few;
  if (inputs.size() > kFewInputs) {
    more.resize(inputs.size());
    gathered = more.data();
  }
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const auto v = static_cast<std::size_t>(inputs[k]);
    gathered[k] = values[v] != nullptr ? values[v] : block.initial[v];
  }
  const TF_Bool* given_up = in.gives_up ? block.given_up.data() + in.inputs.start : nullptr;
  const auto forget_taken = [&] {
    for (std::size_t k = 0; given_up != nullptr && k < inputs.size(); ++k) {
      if (gathered[k] == nullptr) values[inputs[k]] = nullptr;
    }
  };
  try {
    compute(block, in, gathered, given_up, values + in.outputs.start);
  } catch (...) {
    forget_taken();
    throw;
  }
  forget_taken();
}

// Puts the current values of variables in the place of references to them.
void Run::read_variables(const Block& block, const Instruction& in, TF_Tensor** inputs,
                         std::vector<TF_Tensor*>* read) {
  for (const std::int32_t number : in.deref.of(block.deref)) {
    const auto slot = static_cast<std::size_t>(number);
    TF_Tensor*& input = inputs[slot];
    const DS_Variable* variable = reference(input);
    if (variable == nullptr && stands_for_variable(*input)) {
      read->push_back(adapted(in, slot, input, kReference));
      variable = reference(read->back());
    }
    if (variable == nullptr) continue;
    Lane* const lane = in.kind == Kind::copy && in.device != 0 ? &devices_->lane(in.device) : nullptr;
    read->push_back(kernels::variable_of(variable)->read(lane).release());
    input = read->back();
    input->is_session_constant = in.is_constant;
  }
}

namespace {

// Kernels may keep what they make of values that no other code sees yet.
void mark_session_constant(TF_Tensor* const* values, std::int32_t count) {
  for (std::int32_t k = 0; k < count; ++k) {
    if (values[k] != nullptr && values[k]->users.load(std::memory_order_relaxed) == 1) values[k]->is_session_constant = true;
  }
}

}  // namespace

void Run::compute(const Block& block, const Instruction& in, TF_Tensor** inputs,
                  const TF_Bool* given_up, TF_Tensor** outputs) {
  HeldTensors read;  // current values of variables that are read
  const bool calls = in.kind == Kind::call || in.kind == Kind::if_ || in.kind == Kind::case_ ||
                     in.kind == Kind::while_;
  const bool reads = in.kernel != nullptr || in.kind == Kind::forward || in.kind == Kind::copy || calls;
  if (in.deref.count > 0 && reads) {
    read_variables(block, in, inputs, &read.tensors);
    if (calls) given_up = nullptr;  // what was read stays with the variable
  }
  switch (in.kind) {
    case Kind::kernel:
      kernel(in, inputs, given_up, outputs);
      if (in.is_constant) mark_session_constant(outputs, in.outputs.count);
      break;
    case Kind::transfer: callback(in, in.callback, inputs, outputs); break;
    case Kind::session_constant: session_constant(in, inputs, outputs); break;
    case Kind::copy:
      if (in.is_constant) session_constant(in, inputs, outputs);
      else copy(in, inputs, outputs);
      break;
    case Kind::forward:
      for (std::int32_t k = 0; k < in.inputs.count; ++k) outputs[k] = hold(inputs[k]);
      break;
    case Kind::call: call(in, in.blocks[0], inputs, given_up, outputs); break;
    case Kind::if_: case Kind::case_: choose(in, inputs, given_up, outputs); break;
    case Kind::while_: case Kind::loop: loop(in, inputs, given_up, outputs); break;
    default: break;
  }
}

namespace {

// An input as a callee's own: taken where it is given up, else held.
TF_Tensor* own(TF_Tensor*& input, bool is_given_up) {
  return is_given_up ? std::exchange(input, nullptr) : hold(input);
}

}  // namespace

// Counts calls within calls, for a scope.
class Run::Depth {
 public:
  Depth(Run& run, const Instruction& in) : run_(run) {
    if (run_.depth_ >= kMostDepth) {
      fail(TF_RESOURCE_EXHAUSTED, "functions call one another more than " + std::to_string(kMostDepth) + " deep at node '" + in.node + "'",
           {{DS_PAYLOAD_NODE, in.node}, {DS_PAYLOAD_OP, in.op}});
    }
    ++run_.depth_;
  }
  ~Depth() { --run_.depth_; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;

 private:
  Run& run_;
};

void Run::call(const Instruction& in, std::int32_t block, TF_Tensor** inputs,
               const TF_Bool* given_up, TF_Tensor** results) {
  const Block& callee = plan_.program->blocks[static_cast<std::size_t>(block)];
  const Depth depth(*this, in);
  try {
    Values values(stack, static_cast<std::size_t>(callee.values()));
    for (std::size_t k = 0; k < static_cast<std::size_t>(callee.feeds); ++k) {
      if (!callee.has_frames && !callee.feed_is_used[k]) continue;
      values[k] = own(inputs[k], given_up != nullptr && given_up[k] != 0);
    }
    run(callee, values.data(), results);
  } catch (Failure& failure) {
    failure.reached_through(callee.name, in.node);
    throw;
  }
}

void Run::choose(const Instruction& in, TF_Tensor** inputs, const TF_Bool* given_up,
                 TF_Tensor** outputs) {
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
  call(in, in.blocks[branch], inputs + 1, given_up == nullptr ? nullptr : given_up + 1, outputs);
}

// Whether the condition of a loop holds for `variables`. `values` are the condition's, which is
// `running` while it runs.
bool Run::goes_on(const Instruction& in, const Block*& running, TF_Tensor** variables,
                  TF_Tensor** values) {
  const Block& condition = plan_.program->blocks[static_cast<std::size_t>(in.blocks[0])];
  for (std::size_t k = 0; k < static_cast<std::size_t>(condition.feeds); ++k) {
    if (!condition.has_frames && !condition.feed_is_used[k]) continue;
    values[k] = condition.lent_from == 0 ? variables[k] : hold(variables[k]);
  }
  struct End {
    const Block& condition;
    TF_Tensor** values;
    TF_Tensor* verdict = nullptr;
    ~End() {
      drop(verdict);
      for (std::int32_t k = 0; k < condition.feeds; ++k) {
        TF_Tensor* feed = std::exchange(values[k], nullptr);
        if (condition.lent_from != 0) drop(feed);
      }
    }
  } end{condition, values};
  running = &condition;
  run(condition, values, &end.verdict);
  running = nullptr;
  return in.kind == Kind::loop ? chooses(in, 0, end.verdict) : holds(in, 0, end.verdict);
}

// The loop's variables are the feeds of its body, which are there from iteration to iteration. A loop
// of frames has inputs after them that stay the same; its blocks are part of the block that it is in.
void Run::loop(const Instruction& in, TF_Tensor** inputs, const TF_Bool* given_up,
               TF_Tensor** outputs) {
  const auto count = static_cast<std::size_t>(in.outputs.count);
  const Block& condition = plan_.program->blocks[static_cast<std::size_t>(in.blocks[0])];
  const Block& body = plan_.program->blocks[static_cast<std::size_t>(in.blocks[1])];
  const Depth depth(*this, in);
  const Block* running = nullptr;
  try {
    Values of_condition(stack, static_cast<std::size_t>(condition.values()));
    Values variables(stack, static_cast<std::size_t>(body.values()));
    Values next(stack, count);
    for (std::size_t k = 0; k < static_cast<std::size_t>(in.inputs.count); ++k) {
      variables[k] = own(inputs[k], given_up != nullptr && given_up[k] != 0);
    }
    while (true) {
      if (watches_time()) check_time(in);
      if (!goes_on(in, running, variables.data(), of_condition.data())) break;
      running = &body;
      run(body, variables.data(), next.data());
      running = nullptr;
      for (std::size_t k = 0; k < count; ++k) {
        drop(std::exchange(variables[k], std::exchange(next[k], nullptr)));
      }
    }
    for (std::size_t k = 0; k < count; ++k) outputs[k] = std::exchange(variables[k], nullptr);
  } catch (Failure& failure) {
    if (running == nullptr || in.kind == Kind::loop) throw;
    failure.reached_through(running->name, in.node);
    throw;
  }
}

bool truth(const TF_Tensor& value) {
  return value.dims.rank() != 0 ? value.count() > 0 : element_truth(value);
}

bool element_truth(const TF_Tensor& value) {
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

// Runs blocks with frames: instructions when all that they wait for has arrived.
//
// A frame is one run of a loop; an iteration of a frame holds what has arrived for instructions that
// have not run. A dead value (of the branch not taken) travels like any other and makes its consumers
// dead. Source of the rules: TensorFlow's white paper, section 4.4, and Yu et al., "Dynamic Control
// Flow in Large-Scale Machine Learning" (EuroSys 2018). The same as drystone_base/executor/reference.py.
#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_set>
#include <vector>

#include "core/failure.h"
#include "executor/frames.h"
#include "executor/run.h"
#include "executor/trace.h"

namespace drystone::host::executor {
namespace {

struct Frame;

struct Iteration {
  std::vector<Arrivals> arrivals;
  std::vector<TF_Tensor*> slots;
  std::int32_t running = 0;
  std::vector<std::unique_ptr<Frame>> children;
};

struct Constant {
  std::int32_t consumer;
  std::int32_t slot;  // -1: a control edge
  TF_Tensor* value;
};

struct Frame {
  const FrameShape* shape = nullptr;
  std::int32_t number = 0;
  Frame* parent = nullptr;
  std::int32_t at = 0;            // iteration of the parent
  std::int32_t entering = 0;      // enters that have not fired yet
  std::int32_t first = 0;         // iterations before it are over
  std::vector<std::unique_ptr<Iteration>> iterations;  // from `first` on
  std::vector<Constant> constants;
  std::vector<std::int32_t> dead_exits;

  std::int32_t last() const { return first + static_cast<std::int32_t>(iterations.size()) - 1; }
  Iteration* iteration(std::int32_t k) const {
    return k < first || k > last() ? nullptr : iterations[static_cast<std::size_t>(k - first)].get();
  }
};

struct Ready {
  std::int32_t instruction;
  std::int32_t at;
  Frame* frame;
};

}  // namespace

class DataflowRun {
 public:
  DataflowRun(Run& run, const Block& block, const Frames& frames)
      : run_(run), block_(block), frames_(frames), fetched_(block.fetches.size()) {
    root_.shape = &frames.shapes[0];
    root_.iterations.push_back(fresh(root_));
  }
  ~DataflowRun() {
    if (run_.trace() != nullptr) run_.trace()->frames_hold(-held_);
    forget(root_);
    for (TF_Tensor* value : fetched_) release(value);
    for (TF_Tensor* value : outputs_) release(value);
  }
  DataflowRun(const DataflowRun&) = delete;
  DataflowRun& operator=(const DataflowRun&) = delete;

  void go(TF_Tensor** values, TF_Tensor** fetches) {
    for (std::size_t k = 0; k < frames_.feed_edges.size(); ++k) {
      for (const Edge& edge : frames_.feed_edges[k]) {
        arrive(edge.consumer, edge.slot, hold(values[k]), root_, 0, false);
      }
    }
    for (auto source = frames_.sources.rbegin(); source != frames_.sources.rend(); ++source) {
      ++root_.iterations[0]->running;
      ready_.push_back({*source, 0, &root_});
    }
    while (!ready_.empty() || !dead_ready_.empty()) {
      auto& stack = dead_ready_.empty() ? ready_ : dead_ready_;
      const Ready next = stack.back();
      stack.pop_back();
      step(next);
    }
    for (std::size_t k = 0; k < fetched_.size(); ++k) {
      if (fetched_[k] == nullptr || fetched_[k] == dead()) dead_fetch(k);
    }
    for (std::size_t k = 0; k < fetched_.size(); ++k) fetches[k] = std::exchange(fetched_[k], nullptr);
  }

 private:
  static void release(TF_Tensor* value) {
    if (value != dead()) drop(value);
  }
  static TF_Tensor* another(TF_Tensor* value) { return value == dead() ? value : hold(value); }

  // The name of a value of the block, as "node" or "node:output".
  std::string name_of(std::int32_t value) const {
    for (const Instruction& in : block_.instructions) {
      const std::int32_t k = value - in.outputs.start;
      if (k >= 0 && k < in.outputs.count) return in.node + (k == 0 ? "" : ":" + std::to_string(k));
    }
    return "argument " + std::to_string(value);
  }

  [[noreturn]] void dead_fetch(std::size_t k) const {
    const bool is_named = k < block_.fetch_names.size();
    const std::string name = is_named ? block_.fetch_names[k] : name_of(block_.fetches[k]);
    fail(TF_INVALID_ARGUMENT, "tensor '" + name + "' has no value: it belongs to a branch or a loop that did not run",
         {{DS_PAYLOAD_CODE, "dead-fetch"}, {DS_PAYLOAD_TENSOR, name}});
  }

  const Instruction& instruction(std::int32_t k) const {
    return block_.instructions[static_cast<std::size_t>(k)];
  }

  // ---- memory ----------------------------------------------------------------------------------

  std::unique_ptr<Iteration> fresh(const Frame& frame) {
    auto& spare = spare_[frame.number < kSpares ? static_cast<std::size_t>(frame.number) : 0];
    std::unique_ptr<Iteration> out;
    if (frame.number < kSpares && !spare.empty()) {
      out = std::move(spare.back());
      spare.pop_back();
    } else {
      out = std::make_unique<Iteration>();
    }
    out->arrivals.assign(frame.shape->initial.begin(), frame.shape->initial.end());
    out->slots.assign(static_cast<std::size_t>(frame.shape->slots), nullptr);
    return out;
  }

  void retire(const Frame& frame, std::unique_ptr<Iteration> iteration) {
    for (TF_Tensor* value : iteration->slots) {
      if (value != nullptr) release(value);
    }
    if (frame.number < kSpares) {
      spare_[static_cast<std::size_t>(frame.number)].push_back(std::move(iteration));
    }
  }

  void forget(Frame& frame) {
    for (auto& iteration : frame.iterations) {
      if (iteration == nullptr) continue;
      for (auto& child : iteration->children) forget(*child);
      for (TF_Tensor* value : iteration->slots) {
        if (value != nullptr) release(value);
      }
    }
    frame.iterations.clear();
    for (const Constant& constant : frame.constants) {
      if (constant.slot >= 0) release(constant.value);
    }
    frame.constants.clear();
  }

  // ---- running one instruction -----------------------------------------------------------------

  // Everything has come. What is dead runs first: it costs nothing, and left behind it would keep
  // its iteration, so that a loop would hold as many as it has gone round.
  void complete(std::int32_t k, const Arrivals& arrived, Frame& frame, std::int32_t at) {
    const Kind kind = instruction(k).kind;
    const bool is_dead = kind == Kind::merge ? arrived.live < 0 : arrived.dead > 0 && kind != Kind::trigger &&
                                                                     kind != Kind::transfer;
    ++frame.iteration(at)->running;
    (is_dead ? dead_ready_ : ready_).push_back({k, at, &frame});
  }

  void step(const Ready& next) {
    const auto k = static_cast<std::size_t>(next.instruction);
    const Instruction& in = block_.instructions[k];
    Frame& frame = *next.frame;
    Iteration& iteration = *frame.iteration(next.at);
    Arrivals& arrived = iteration.arrivals[static_cast<std::size_t>(frames_.place[k])];
    TF_Tensor** inputs = iteration.slots.data() + frames_.slot[k];
    arrived.has_run = 1;
    const auto count = static_cast<std::size_t>(in.outputs.count);
    if (outputs_.size() < count) outputs_.resize(count);
    std::fill_n(outputs_.data(), count, nullptr);
    const bool is_dead = run_.is_watched() ? watched(in, arrived, inputs) : compute(in, arrived, inputs);
    for (std::int32_t i = 0; i < in.inputs.count; ++i) {
      if (inputs[i] != nullptr) release(std::exchange(inputs[i], nullptr));
    }
    propagate(next, in, is_dead);
    --iteration.running;
    finish(frame, next.at);
  }

  // compute(), with a look at the time before and a note for the trace after.
  bool watched(const Instruction& in, const Arrivals& arrived, TF_Tensor** inputs) {
    if (run_.watches_time()) run_.check_time(in);
    Trace* trace = run_.trace();
    if (trace == nullptr) return compute(in, arrived, inputs);
    count_held(*trace);
    const std::int64_t start = Trace::now();
    const bool is_dead = compute(in, arrived, inputs);
    if (!is_dead) trace->add(block_, in, start, outputs_.data());
    return is_dead;
  }

  // Tells the trace what the frames hold; from time to time, as it looks at all of them: the more
  // there was to look at, the more instructions run before the next time.
  void count_held(Trace& trace) {
    constexpr std::size_t kShare = 64;  // of a look, for each instruction
    if (++since_count_ * kShare < looked_at_) return;
    since_count_ = 0;
    std::unordered_set<const Memory*> found;
    looked_at_ = std::max(frames_.slot.size(), collect(root_, found));
    std::int64_t bytes = 0;
    // NOLINTNEXTLINE(bugprone-nondeterministic-pointer-iteration-order): a sum has no order
    for (const Memory* memory : found) {
      if (!memory->opaque && !memory->constant && !trace.follows(memory)) {
        bytes += static_cast<std::int64_t>(memory->length);
      }
    }
    trace.frames_hold(bytes - std::exchange(held_, bytes));
  }

  // Gives how much there was to look at.
  static std::size_t collect(const Frame& frame, std::unordered_set<const Memory*>& found) {
    std::size_t looked_at = frame.iterations.size();
    for (const auto& iteration : frame.iterations) {
      if (iteration == nullptr) continue;
      for (const auto& child : iteration->children) looked_at += collect(*child, found);
      looked_at += iteration->slots.size();
      for (const TF_Tensor* value : iteration->slots) {
        if (value != nullptr && value->memory != nullptr) found.insert(value->memory);
      }
    }
    return looked_at;
  }

  // Sets outputs_, or gives true: all of them are dead.
  bool compute(const Instruction& in, const Arrivals& arrived, TF_Tensor** inputs) {
    if (in.kind == Kind::merge) {
      if (arrived.live < 0) return true;
      outputs_[0] = std::exchange(inputs[arrived.live], nullptr);
      outputs_[1] = new_tensor(TF_INT32, static_cast<const std::int64_t*>(nullptr), 0);
      std::memcpy(outputs_[1]->memory->data, &arrived.live, sizeof arrived.live);
      return false;
    }
    if (in.kind == Kind::transfer) return transfer(in, arrived, inputs);
    if (arrived.dead > 0 && in.kind != Kind::trigger) return true;
    switch (in.kind) {
      case Kind::switch_: choose(in, inputs); break;
      case Kind::enter: case Kind::exit: case Kind::next_iteration:
        for (std::int32_t k = 0; k < in.outputs.count; ++k) {
          outputs_[static_cast<std::size_t>(k)] = std::exchange(inputs[k], nullptr);
        }
        break;
      case Kind::constant:
        outputs_[0] = hold(block_.initial[static_cast<std::size_t>(in.outputs.start)]);
        break;
      case Kind::nothing: case Kind::trigger: break;
      default: work(in, inputs);
    }
    return false;
  }

  // A dead value is sent and received as none; the node itself is dead where what it waits for is.
  bool transfer(const Instruction& in, const Arrivals& arrived, TF_Tensor** inputs) {
    if (arrived.dead > std::count(inputs, inputs + in.inputs.count, nullptr)) return true;
    work(in, inputs);
    return in.outputs.count > 0 && outputs_[0] == nullptr;
  }

  void work(const Instruction& in, TF_Tensor** inputs) {
    const auto count = static_cast<std::size_t>(in.inputs.count);
    const bool calls = is_call(in.kind) && in.deref.count == 0;
    lent_.assign(inputs, inputs + count);  // compute() may put other tensors there
    all_.assign(count, 1);
    const auto forget_taken = [&] {
      for (std::size_t k = 0; k < count; ++k) inputs[k] = lent_[k] == nullptr ? nullptr : inputs[k];
    };
    try {
      run_.compute(block_, in, calls ? inputs : lent_.data(), all_.data(), outputs_.data());
    } catch (...) {
      for (TF_Tensor*& output : outputs_) drop(std::exchange(output, nullptr));
      forget_taken();
      throw;
    }
    forget_taken();
  }

  void choose(const Instruction& in, TF_Tensor** inputs) {
    const TF_Tensor& choice = *inputs[1];
    std::int32_t chosen = 0;
    const bool is_number = choice.memory != nullptr && !choice.memory->opaque;
    if (choice.dtype == TF_INT32 && is_number && choice.count() == 1) {
      std::memcpy(&chosen, choice.memory->data, sizeof chosen);
    } else {
      chosen = run_.chooses(in, 1, &choice) ? 1 : 0;
    }
    if (chosen < 0 || chosen >= in.outputs.count) chosen = in.outputs.count - 1;
    for (std::int32_t k = 0; k < in.outputs.count; ++k) {
      outputs_[static_cast<std::size_t>(k)] = k == chosen ? std::exchange(inputs[0], nullptr) : dead();
    }
  }

  // ---- handing on its outputs ------------------------------------------------------------------

  void propagate(const Ready& from, const Instruction& in, bool is_dead) {
    Frame& frame = *from.frame;
    if (in.kind == Kind::enter) {
      enter(from, in, is_dead);
    } else if (in.kind == Kind::exit) {
      if (!is_dead) deliver(from.instruction, false, *frame.parent, frame.at, false);
      else if (from.at == frame.last()) frame.dead_exits.push_back(from.instruction);
    } else if (in.kind == Kind::next_iteration) {
      if (is_dead) return;
      if (from.at == frame.last()) open_iteration(frame);
      deliver(from.instruction, false, frame, from.at + 1, false);
    } else {
      deliver(from.instruction, is_dead, frame, from.at, false);
    }
  }

  // Gives outputs_ to their consumers and lets go of them.
  void deliver(std::int32_t k, bool is_dead, Frame& frame, std::int32_t at, bool from_enter) {
    const auto edges = frames_.edges_of[static_cast<std::size_t>(k)].of(frames_.edges);
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const Edge& edge = edges[e];
      TF_Tensor* value = dead();
      if (!is_dead) {
        TF_Tensor*& output = outputs_[static_cast<std::size_t>(edge.output)];
        const bool is_last = e + 1 == edges.size() || edges[e + 1].output != edge.output;
        value = is_last ? std::exchange(output, nullptr) : another(output);
      }
      arrive(edge.consumer, edge.slot, value, frame, at, from_enter);
    }
    const std::int32_t count = instruction(k).outputs.count;
    for (std::int32_t o = 0; o < count; ++o) {
      TF_Tensor*& output = outputs_[static_cast<std::size_t>(o)];
      if (output != nullptr) release(std::exchange(output, nullptr));
    }
    const Slice controls = frames_.control_edges_of[static_cast<std::size_t>(k)];
    for (const std::int32_t consumer : controls.of(frames_.control_edges)) {
      arrive_control(consumer, is_dead, frame, at);
    }
  }

  // The value is taken over.
  void arrive(std::int32_t k, std::int32_t slot, TF_Tensor* value, Frame& frame, std::int32_t at,
              bool from_enter) {
    if (k < 0) {
      TF_Tensor*& fetch = fetched_[static_cast<std::size_t>(-1 - k)];
      if (&frame == &root_) std::swap(fetch, value);  // a loop that leaves twice gives two
      if (value != nullptr) release(value);
      return;
    }
    Iteration* iteration = frame.iteration(at);
    const auto index = static_cast<std::size_t>(k);
    const Instruction& in = block_.instructions[index];
    if (iteration == nullptr || frames_.frame_of[index] != frame.number) {
      release(value);
      fail_at({.node = in.node, .op = in.op}, {TF_INVALID_ARGUMENT, "it takes values of different frames"});
    }
    Arrivals& arrived = iteration->arrivals[static_cast<std::size_t>(frames_.place[index])];
    const auto first = static_cast<std::size_t>(frames_.slot[index]);
    TF_Tensor*& place = iteration->slots[first + static_cast<std::size_t>(slot)];
    if (in.kind == Kind::merge) {
      arrive_merge(k, slot, value, place, arrived, frame, at, from_enter);
      return;
    }
    --arrived.missing;
    if (value == dead()) ++arrived.dead;
    else std::swap(place, value);
    if (value != nullptr) release(value);  // dead, or there before: a loop that leaves twice
    if (arrived.missing == 0) complete(k, arrived, frame, at);
  }

  // A merge runs on its first live input, or dead once all of its inputs are. A dead enter makes it
  // dead at once: the back edge of a loop that was not entered never comes.
  void arrive_merge(std::int32_t k, std::int32_t slot, TF_Tensor* value, TF_Tensor*& place,
                    Arrivals& arrived, Frame& frame, std::int32_t at, bool from_enter) {
    if (value == dead()) {
      arrived.dead = from_enter ? instruction(k).inputs.count : arrived.dead + 1;
    } else if (arrived.live < 0 && arrived.has_run == 0) {
      arrived.live = slot;
      std::swap(place, value);
      if (value != nullptr) release(value);
    } else {
      drop(value);
    }
    try_merge(k, arrived, frame, at);
  }

  void try_merge(std::int32_t k, Arrivals& arrived, Frame& frame, std::int32_t at) {
    const Instruction& in = instruction(k);
    const bool settled = arrived.live >= 0 || arrived.dead >= in.inputs.count;
    if (!settled || arrived.missing != in.inputs.count || arrived.has_run != 0) return;
    arrived.has_run = 1;
    complete(k, arrived, frame, at);
  }

  void arrive_control(std::int32_t k, bool is_dead, Frame& frame, std::int32_t at) {
    Iteration* iteration = frame.iteration(at);
    const auto index = static_cast<std::size_t>(k);
    if (iteration == nullptr || frames_.frame_of[index] != frame.number) {
      fail_at({.node = instruction(k).node, .op = instruction(k).op}, {TF_INVALID_ARGUMENT, "it waits for nodes of different frames"});
    }
    Arrivals& arrived = iteration->arrivals[static_cast<std::size_t>(frames_.place[index])];
    --arrived.missing;
    if (instruction(k).kind == Kind::merge) {
      try_merge(k, arrived, frame, at);
      return;
    }
    if (is_dead) ++arrived.dead;
    if (arrived.missing == 0) complete(k, arrived, frame, at);
  }

  // ---- frames ----------------------------------------------------------------------------------

  Frame& child(const Ready& from) {
    Iteration& iteration = *from.frame->iteration(from.at);
    const std::int32_t number = frames_.child[static_cast<std::size_t>(from.instruction)];
    for (auto& known : iteration.children) {
      if (known->number == number) return *known;
    }
    auto made = std::make_unique<Frame>();
    made->shape = &frames_.shapes[static_cast<std::size_t>(number)];
    made->number = number;
    made->parent = from.frame;
    made->at = from.at;
    made->entering = made->shape->enters;
    made->iterations.push_back(fresh(*made));
    iteration.children.push_back(std::move(made));
    return *iteration.children.back();
  }

  void enter(const Ready& from, const Instruction& in, bool is_dead) {
    Frame& frame = child(from);
    --frame.entering;
    const auto k = static_cast<std::size_t>(from.instruction);
    if (in.is_constant && !is_dead) {
      for (const Edge& edge : frames_.edges_of[k].of(frames_.edges)) {
        TF_Tensor* value = outputs_[static_cast<std::size_t>(edge.output)];
        frame.constants.push_back({edge.consumer, edge.slot, another(value)});
        for (std::int32_t at = std::max(frame.first, 1); at <= frame.last(); ++at) {
          arrive(edge.consumer, edge.slot, another(value), frame, at, true);
        }
      }
      for (const std::int32_t consumer : frames_.control_edges_of[k].of(frames_.control_edges)) {
        frame.constants.push_back({consumer, -1, nullptr});
        for (std::int32_t at = std::max(frame.first, 1); at <= frame.last(); ++at) {
          arrive_control(consumer, false, frame, at);
        }
      }
    }
    deliver(from.instruction, is_dead, frame, 0, true);
    finish(frame, 0);
  }

  // Start the next iteration and hand it the loop's constants.
  void open_iteration(Frame& frame) {
    frame.iterations.push_back(fresh(frame));
    frame.dead_exits.clear();
    const std::int32_t at = frame.last();
    for (const Constant& constant : frame.constants) {
      if (constant.slot < 0) arrive_control(constant.consumer, false, frame, at);
      else arrive(constant.consumer, constant.slot, another(constant.value), frame, at, true);
    }
  }

  // Drop iterations in which nothing can happen any more, then the frame itself.
  void finish(Frame& frame, std::int32_t at) {
    while (frame.parent != nullptr) {
      Iteration* iteration = frame.iteration(at);
      if (iteration == nullptr || iteration->running != 0 || !iteration->children.empty()) return;
      if (at != frame.first || (at == 0 && frame.entering != 0)) return;
      if (at == frame.last()) {
        close(frame);
        return;
      }
      retire(frame, std::move(frame.iterations.front()));
      frame.iterations.erase(frame.iterations.begin());
      ++frame.first;
      ++at;
    }
  }

  // A finished frame hands its dead exits on, and its parent may be finished, too.
  void close(Frame& frame) {
    Frame& parent = *frame.parent;
    const std::int32_t at = frame.at;
    for (const std::int32_t exit : frame.dead_exits) deliver(exit, true, parent, at, false);
    Iteration& iteration = *parent.iteration(at);
    const auto own = std::find_if(iteration.children.begin(), iteration.children.end(),
                                  [&](const auto& child) { return child.get() == &frame; });
    const std::unique_ptr<Frame> gone = std::move(*own);
    iteration.children.erase(own);
    retire(*gone, std::move(gone->iterations.back()));
    gone->iterations.pop_back();
    forget(*gone);
    finish(parent, at);
  }

  static constexpr std::int32_t kSpares = 16;  // frames whose iterations are used again

  Run& run_;
  const Block& block_;
  const Frames& frames_;
  Frame root_;
  std::vector<Ready> ready_;
  std::vector<Ready> dead_ready_;
  std::vector<TF_Tensor*> outputs_;
  std::vector<TF_Tensor*> fetched_;
  std::vector<TF_Tensor*> lent_;
  std::vector<TF_Bool> all_;
  std::vector<std::unique_ptr<Iteration>> spare_[kSpares];
  std::int64_t held_ = 0;  // bytes, of which the trace knows
  std::size_t since_count_ = 0;    // instructions
  std::size_t looked_at_ = 0;      // by the last count
};

void run_dataflow(Run& run, const Block& block, TF_Tensor** values, TF_Tensor** fetches) {
  DataflowRun(run, block, *block.layout).go(values, fetches);
}

}  // namespace drystone::host::executor

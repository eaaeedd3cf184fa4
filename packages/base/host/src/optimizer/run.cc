// Running an optimizer: DS_RunOptimizer, and TF_GetGrapplerItem for plugins of TensorFlow 2.5.
#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/buffer.h"
#include "core/failure.h"
#include "core/plugin_call.h"
#include "library/crash_report.h"
#include "library/loaded.h"
#include "optimizer/form.h"
#include "optimizer/item.h"
#include "optimizer/registry.h"
#include "threads/abandonable_call.h"

namespace drystone::host {
namespace {

std::mutex under_way_mutex;

// Graph buffers that optimizers have been given and not returned yet, with their items.
std::vector<std::pair<const TF_Buffer*, const TF_GrapplerItem*>>& under_way() {
  static auto* all = new std::vector<std::pair<const TF_Buffer*, const TF_GrapplerItem*>>;
  return *all;
}

class UnderWay {
 public:
  UnderWay(const TF_Buffer* graph, const TF_GrapplerItem* item) : graph_(graph) {
    const std::lock_guard lock(under_way_mutex);
    under_way().emplace_back(graph, item);
  }
  ~UnderWay() {
    const std::lock_guard lock(under_way_mutex);
    std::erase_if(under_way(), [&](const auto& pair) { return pair.first == graph_; });
  }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

 private:
  const TF_Buffer* graph_;
};

std::string name_of(const Optimizer& optimizer) {
  return "the " + optimizer.device + " optimizer of " + optimizer.library;
}

// Calls into the plugin; an exception that gets out becomes a Failure.
template <class Body>
void call(const Optimizer& optimizer, const char* function, Body&& body) {
  const PluginCall running(function, optimizer.library.c_str());
  const auto threw = [&](const std::string& what) {
    fail(TF_INTERNAL, name_of(optimizer) + " threw a C++ exception out of " + function + what);
  };
  try {
    std::forward<Body>(body)();
  } catch (const std::exception& error) {
    threw(std::string(": ") + error.what());
  } catch (...) {
    threw("");
  }
}

// The plugin's own state for one run. destroy() is called exactly once.
class State {
 public:
  explicit State(const Optimizer& optimizer) : optimizer_(optimizer) {
    if (optimizer.functions.create_func == nullptr) return;
    call(optimizer, "create_func", [&] { state_ = optimizer.functions.create_func(); });
  }
  ~State() {
    if (!destroyed_) answered(false, [&] { return destroy(), true; });
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void* get() const { return state_; }
  void destroy() {
    destroyed_ = true;
    if (optimizer_.functions.create_func == nullptr) return;
    call(optimizer_, "destroy_func", [&] { optimizer_.functions.destroy_func(state_); });
  }

 private:
  const Optimizer& optimizer_;
  void* state_ = nullptr;
  bool destroyed_ = false;
};

void optimize(const Optimizer& optimizer, void* state, const TF_GrapplerItem* item, Call& asked) {
  const UnderWay noted(asked.graph(), item);
  call(optimizer, "optimize_func", [&] { asked.run(optimizer.functions, state); });
  if (const TF_Status* status = asked.failure(); status != nullptr) {
    pass_on(*status, name_of(optimizer) + " failed: ", {{DS_PAYLOAD_LIBRARY, optimizer.library}});
  }
}

// What a call needs, which its caller may leave.
struct Work {
  std::shared_ptr<const Optimizer> optimizer;
  std::shared_ptr<ItemState> state;  // of the caller's item
  ItemPtr item;
  std::string answer;
  bool changed = false;

  void run() {
    // On this thread: who waits for the call may go on, and make the next one, before it lets go of this.
    struct End {
      ItemPtr& item;
      ~End() { item.reset(); }
    } const end{item};
    const DeviceFill& known = state->fill;
    prepare_thread();
    HostState host;
    Call asked(item, known.graph, optimizer->library);
    State of_call(*optimizer);
    optimize(*optimizer, of_call.get(), item.get(), asked);
    of_call.destroy();
    settle_changes(optimizer->library, host, "while it optimized a graph");
    const TF_Buffer& made = asked.answer();
    if (made.data == nullptr || made.length == 0) {
      fail(TF_INTERNAL, name_of(*optimizer) + " said OK but left the optimized graph empty");
    }
    if (const std::string problem = asked.problem(); !problem.empty()) {
      fail(TF_INTERNAL, name_of(*optimizer) + " gave a bad graph: " + problem);
    }
    changed = !asked.answered_input(known.graph);
    if (!changed) return;
    try {
      answer = strip_device(view(&made), known);
    } catch (const Failure& failure) {
      fail(failure.code, name_of(*optimizer) + " gave a bad graph: " + failure.message);
    }
  }
};

bool run(std::shared_ptr<const Optimizer> optimizer, const TF_GrapplerItem* of, std::int64_t most_ms,
         TF_Buffer* out) {
  const std::string name = name_of(*optimizer);
  const std::string library = optimizer->library;
  const Payloads stuck{{DS_PAYLOAD_CODE, "plugin-stuck"}, {DS_PAYLOAD_LIBRARY, library}, {DS_PAYLOAD_AWAITED, "return"}};
  if (has_abandoned_call(library)) {
    fail(TF_UNAVAILABLE, name + " has not returned to an earlier call, which was abandoned", stuck);
  }
  state_of(of);  // or fails
  const auto work = std::make_shared<Work>();
  work->optimizer = std::move(optimizer);
  work->state = of->state;
  work->item = item_for_call(*of);
  switch (call_abandonable(library, [work] { work->run(); }, {most_ms, true})) {
    case CallEnd::interrupted: fail(TF_CANCELLED, name + " was left as it had not returned");
    case CallEnd::late: fail(TF_DEADLINE_EXCEEDED, name + " has not returned after " + std::to_string(most_ms) + " ms", stuck);
    default: break;
  }
  if (work->changed) fill(out, work->answer);
  return work->changed;
}

}  // namespace
}  // namespace drystone::host

using namespace drystone::host;

extern "C" {

int DS_RunOptimizer(const char* device_type, const TF_GrapplerItem* item, TF_Buffer* out,
                    TF_Status* status) {
  bool changed = false;
  guarded(status, "DS_RunOptimizer", [&] {
    require(device_type, "device_type");
    require(item, "item");
    require(out, "out");
    changed = run(optimizer_of(device_type, ""), item, 0, out);
  });
  return changed ? 1 : 0;
}

int DS_RunOptimizerOf(const char* library, const char* device_type, const TF_GrapplerItem* item,
                      TF_Buffer* out, TF_Status* status) {
  bool changed = false;
  guarded(status, "DS_RunOptimizerOf", [&] {
    require(library, "library");
    require(device_type, "device_type");
    require(item, "item");
    require(out, "out");
    changed = run(optimizer_of(device_type, library), item, 0, out);
  });
  return changed ? 1 : 0;
}

int DS_RunOptimizerWithin(const char* library, const char* device_type, const TF_GrapplerItem* item,
                          int64_t most_ms, TF_Buffer* out, TF_Status* status) {
  bool changed = false;
  guarded(status, "DS_RunOptimizerWithin", [&] {
    require(device_type, "device_type");
    require(item, "item");
    require(out, "out");
    changed = run(optimizer_of(device_type, library == nullptr ? "" : library), item, most_ms, out);
  });
  return changed ? 1 : 0;
}

TF_GrapplerItem* TF_GetGrapplerItem(TF_Buffer* graph, TF_Status* status) {
  TF_GrapplerItem* out = nullptr;
  guarded(status_or_none(status), "TF_GetGrapplerItem", [&] {
    require(graph, "graph");
    const std::lock_guard lock(under_way_mutex);
    for (const auto& [buffer, item] : under_way()) {
      if (buffer == graph) out = const_cast<TF_GrapplerItem*>(item);
    }
    if (out == nullptr) fail(TF_INVALID_ARGUMENT, "no optimizer under way was given this buffer");
  });
  return out;
}

}  // extern "C"

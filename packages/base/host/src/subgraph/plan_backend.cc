// The host's own backend, whose executables are plans: see drystone_host/subgraph.h.
#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/arena.h"
#include "core/failure.h"
#include "drystone/session.h"
#include "drystone_host/subgraph.h"
#include "executor/detached_run.h"
#include "subgraph/operator.h"

namespace drystone::host::subgraph {
namespace {

constexpr std::int32_t kSettled = 1;  // runs after which a weight is taken for one that stays

// A weight as kernels may keep what they make of it. One that changes from run to run is not held:
// that would make a copy of each update in place.
struct Weight {
  std::unique_ptr<TF_Tensor> held;  // NULL: not yet
  std::int32_t runs = 0;            // since it changed
};

struct ReleasePlan {
  void operator()(DS_Plan* plan) const noexcept { plan->release(); }
};

// A plan, and which inputs of the region are its feeds.
struct PlanExecutable {
  DS_Session session;
  std::unique_ptr<DS_Plan, ReleasePlan> plan;
  std::vector<std::int32_t> feeds;
  std::vector<std::int32_t> weights;  // numbers of feeds
  std::mutex mutex;                   // of `kept`
  std::vector<Weight> kept;           // beside weights
  Arena* const arena = new Arena();   // of what its runs take

  PlanExecutable() = default;
  ~PlanExecutable() { arena->release(); }
  PlanExecutable(const PlanExecutable&) = delete;
  PlanExecutable& operator=(const PlanExecutable&) = delete;

  // What the plan is fed with in place of `input`.
  TF_Tensor* session_constant(std::size_t which, TF_Tensor* input) {
    Weight& weight = kept[which];
    if (weight.held == nullptr && weight.runs++ < kSettled) return hold(input);
    if (weight.held == nullptr) {
      weight.held.reset(share(*input));
      weight.held->is_session_constant = true;
    }
    return hold(weight.held.get());
  }
};

PlanExecutable& itself(void* executable) { return *static_cast<PlanExecutable*>(executable); }

// What a call feeds: weights are held until it is over.
class Feeds {
 public:
  Feeds(PlanExecutable& of, TF_Tensor* const* inputs) : feeds_(of.feeds.size()) {
    for (std::size_t k = 0; k < feeds_.size(); ++k) feeds_[k] = inputs[of.feeds[k]];
    held_.reserve(of.weights.size());
    const std::lock_guard lock(of.mutex);
    for (std::size_t k = 0; k < of.weights.size(); ++k) {
      TF_Tensor*& feed = feeds_[static_cast<std::size_t>(of.weights[k])];
      held_.push_back(feed = of.session_constant(k, feed));
    }
  }
  ~Feeds() {
    for (TF_Tensor* tensor : held_) drop(tensor);
  }
  Feeds(const Feeds&) = delete;
  Feeds& operator=(const Feeds&) = delete;
  TF_Tensor* const* data() const { return feeds_.data(); }
  int count() const { return static_cast<int>(feeds_.size()); }

 private:
  std::vector<TF_Tensor*> feeds_;
  std::vector<TF_Tensor*> held_;
};

void execute(const DS_SubgraphBackend*, void* executable, TF_Tensor* const* inputs, int32_t,
             TF_Tensor** outputs, int32_t num_outputs, TF_Status* status) {
  PlanExecutable& of = itself(executable);
  const Feeds feeds(of, inputs);
  const DS_RunOptions options = executor::options_within();
  const Arena::Scope scope(*of.arena);
  guarded(status, nullptr, [&] {  // the run that this is a part of says in which function it was
    executor::run_checked(of.plan.get(), &options, feeds.data(), feeds.count(), outputs, num_outputs);
  });
}

void update(const DS_SubgraphBackend*, void* executable, TF_Tensor* const*, int32_t,
            const unsigned char* changed, TF_Status*) {
  PlanExecutable& of = itself(executable);
  const std::lock_guard lock(of.mutex);
  for (std::size_t k = 0; k < of.weights.size(); ++k) {
    if (changed[of.feeds[static_cast<std::size_t>(of.weights[k])]] != 0) of.kept[k] = {};
  }
}

void destroy(const DS_SubgraphBackend*, void* executable) {
  delete static_cast<PlanExecutable*>(executable);
}

std::vector<std::int32_t> copied(const std::int32_t* numbers, std::int32_t count, const char* name) {
  if (count > 0) require(numbers, name);
  return {numbers, numbers + std::max(count, 0)};
}

}  // namespace

std::int64_t arena_of_plan(void* executable) {
  return static_cast<std::int64_t>(itself(executable).arena->size());
}

bool is_plan_backend(const DS_SubgraphFns* fns) { return fns == DS_PlanFns(); }

}  // namespace drystone::host::subgraph

using namespace drystone::host;
using namespace drystone::host::subgraph;

extern "C" {

const DS_SubgraphBackend* DS_PlanBackend(void) {
  static const DS_SubgraphBackend only = [] {
    DS_SubgraphBackend out{};
    out.struct_size = DS_SUBGRAPH_BACKEND_STRUCT_SIZE;
    out.name = "plan";
    return out;
  }();
  return &only;
}

const DS_SubgraphFns* DS_PlanFns(void) {
  static const DS_SubgraphFns only = [] {
    DS_SubgraphFns out{};
    out.struct_size = DS_SUBGRAPH_FNS_STRUCT_SIZE;
    out.execute = execute;
    out.destroy_executable = destroy;
    out.update = update;
    return out;
  }();
  return &only;
}

void* DS_NewPlanExecutable(const DS_PlanExecutableDef* def, TF_Status* status) {
  void* out = nullptr;
  guarded(status, __func__, [&] {
    require(def, "def");
    if (def->struct_size < DS_PLAN_EXECUTABLE_DEF_STRUCT_SIZE) {
      fail(TF_INVALID_ARGUMENT, "def->struct_size must be set");
    }
    auto made = std::make_unique<PlanExecutable>();
    made->session.threads = def->threads;
    made->session.inter_op_threads = def->inter_op_threads;
    made->feeds = copied(def->feeds, def->num_feeds, "def->feeds");
    made->weights = copied(def->weights, def->num_weights, "def->weights");
    made->kept.resize(made->weights.size());
    TF_Status failed;
    made->plan.reset(DS_NewPlan(&made->session, def->plan, def->constants, def->num_constants,
                                &failed));
    if (failed.code != TF_OK) pass_on(failed);
    if (DS_PlanNumFeeds(made->plan.get()) != def->num_feeds) {
      fail(TF_INVALID_ARGUMENT, "the plan has another number of feeds");
    }
    for (const std::int32_t feed : made->weights) {
      if (feed < 0 || feed >= def->num_feeds) fail(TF_INVALID_ARGUMENT, "a weight is no feed");
    }
    out = made.release();
  });
  return out;
}

void DS_DeletePlanExecutable(void* executable) { destroy(nullptr, executable); }

}  // extern "C"

// Sessions and plans: see drystone/session.h.
#include <algorithm>
#include <cstring>

#include "core/buffer.h"
#include "core/dtype_names.h"
#include "core/failure.h"
#include "core/floating_mode.h"
#include "core/json.h"
#include "executor/detached_run.h"
#include "executor/own_feeds.h"
#include "executor/root_values.h"
#include "executor/run.h"
#include "kernels/kernel.h"
#include "library/crash_report.h"
#include "library/loaded.h"
#include "library/process_state.h"
#include "executor/micro_batches.h"
#include "executor/trace.h"
#include "threads/pool.h"

using namespace drystone::host;
using namespace drystone::host::executor;

namespace {

// The caller's struct in one that has all members; fails without a size.
template <class T>
T members(const T* given, const char* name) {
  T out{};
  if (given == nullptr) return out;
  if (given->struct_size < sizeof(std::size_t)) {
    fail(TF_INVALID_ARGUMENT, std::string(name) + "->struct_size must be set");
  }
  std::memcpy(&out, given, std::min(given->struct_size, sizeof out));
  return out;
}

void check_feeds(const Block& block, TF_Tensor* const* feeds, int count) {
  if (count != block.feeds || (count > 0 && feeds == nullptr)) {
    fail(TF_INVALID_ARGUMENT, "the plan takes " + std::to_string(block.feeds) + " feeds, " +
                                  std::to_string(count) + " were given");
  }
  for (int k = 0; k < count; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const auto name = [&] {
      return at < block.feed_names.size() ? block.feed_names[at] : std::to_string(k);
    };
    if (feeds[k] == nullptr || feeds[k]->memory == nullptr) {
      fail(TF_INVALID_ARGUMENT, "feed '" + name() + "' has no value");
    }
    if (at < block.feed_types.size() && feeds[k]->dtype != block.feed_types[at]) {
      fail(TF_INVALID_ARGUMENT,
           "feed '" + name() + "' has dtype " + dtype_name(feeds[k]->dtype) +
               ", it must be " + dtype_name(block.feed_types[at]));
    }
  }
}

const char* name_at(const std::vector<std::string>& names, int index) {
  if (index < 0 || static_cast<std::size_t>(index) >= names.size()) return nullptr;
  return names[static_cast<std::size_t>(index)].c_str();
}

// Gives fetches to the caller: a tensor of its own each, where several hold one.
void hand_over(TF_Tensor** found, std::size_t count, TF_Tensor** fetches) {
  for (std::size_t k = 0; k < count; ++k) {
    if (found[k]->users.load(std::memory_order_acquire) == 1) {
      fetches[k] = std::exchange(found[k], nullptr);
    } else {
      fetches[k] = share(*found[k]);
      drop(std::exchange(found[k], nullptr));
    }
  }
}

void compute(Run& run, DS_Plan& plan, TF_Tensor* const* given, Values& found) {
  const Block& block = plan.program->blocks[0];
  const Stop::Scope scope(run.stop());
  try {
    const OwnFeeds own(given, block, run.stop());
    TF_Tensor* const* const feeds = own.data();
    if (block.micro_batches != nullptr && run_in_micro_batches(run, block, feeds, plan.session.micro_batch_bytes, found.data())) return;
    RootValues values(run.stack, block, feeds);
    run.run(block, values.data(), found.data());
  } catch (const Failure& failure) {  // a kernel that was told to stop failed in its own words
    RunStop* const stop = run.stop();
    if (stop == nullptr || !stop->is_set()) throw;
    stop->fail_in_node(failure.payloads.contains(DS_PAYLOAD_AWAITED) ? Awaited::done : Awaited::nothing);
  } catch (...) {
    if (run.stop() != nullptr && run.stop()->is_set()) run.stop()->fail_in_node();
    throw;
  }
}

void run_plan(DS_Plan& plan, const DS_RunOptions& options, Trace* trace, TF_Tensor* const* feeds,
              TF_Tensor** fetches, RunStop* stop) {
  const Block& block = plan.program->blocks[0];
  const KeptFloatingMode mode;  // once for all kernels of trusted libraries
  const ThreadLimit limit(plan.session.threads);
  Run run(plan, &options, trace, stop);
  Values found(run.stack, block.fetches.size());
  compute(run, plan, feeds, found);
  run.wait_for_devices();
  try {
    hand_over(found.data(), block.fetches.size(), fetches);
  } catch (...) {
    for (std::size_t k = 0; k < block.fetches.size(); ++k) drop(std::exchange(fetches[k], nullptr));
    throw;
  }
}

}  // namespace

void drystone::host::executor::run_here(DS_Plan& plan, const DS_RunOptions& options, std::string* record,
                                        TF_Tensor* const* feeds, TF_Tensor** fetches, RunStop* stop) {
  if (record == nullptr) return run_plan(plan, options, nullptr, feeds, fetches, stop);
  Trace trace(*plan.program);
  try {
    run_plan(plan, options, &trace, feeds, fetches, stop);
  } catch (...) {
    *record = trace.json();
    throw;
  }
  *record = trace.json();
}

namespace {

[[noreturn]] void fail_damaged(const std::string& damage) {
  fail(TF_DATA_LOSS, "the session is damaged: " + damage,
       {{DS_PAYLOAD_CODE, "session-damaged"}, {DS_PAYLOAD_FOUND, damage}});
}

void run_given(DS_Plan& plan, const DS_RunOptions& options, std::string* record,
                 TF_Tensor* const* feeds, TF_Tensor** fetches) {
  if (plan.session.states.is_damaged()) fail_damaged(plan.session.states.damage());
  if (plan.session.stuck.any()) plan.session.stuck.refuse(*plan.program);
  if (runs_detached(plan, options, feeds) && run_detached(plan, options, record, feeds, fetches)) return;
  run_here(plan, options, record, feeds, fetches, nullptr);
}

// Keeps over a run with kernels of plugins what lets its program be ended, such as Ctrl-C.
class KeptControl {
 public:
  explicit KeptControl(const std::vector<std::string>& plugins) : plugins_(plugins) {}
  ~KeptControl() {
    answered(0, [&] {
      Changes changes;
      control_.put_back(changes);
      const char* const when = plugins_.size() == 1 ? "in a run of its kernels" : "in a run of its kernels and others'";
      if (changes.put_back.empty()) return 0;
      for (const std::string& plugin : plugins_) remark_changes(plugin, changes, when);
      return 0;
    });
  }
  KeptControl(const KeptControl&) = delete;
  KeptControl& operator=(const KeptControl&) = delete;

 private:
  const std::vector<std::string>& plugins_;
  const Control control_;
};

void run_kept(DS_Plan& plan, const DS_RunOptions& options, std::string* record, TF_Tensor* const* feeds,
              TF_Tensor** fetches) {
  const std::vector<std::string>& plugins = plan.program->plugins;
  if (plugins.empty()) [[likely]] return run_given(plan, options, record, feeds, fetches);
  const KeptControl kept(plugins);
  run_given(plan, options, record, feeds, fetches);
}

// The same, with a record of it in `options.trace`, also of a run that fails.
void record_plan(DS_Plan& plan, const DS_RunOptions& options, TF_Tensor* const* feeds, TF_Tensor** fetches) {
  if (options.trace->data != nullptr) {
    fail(TF_INVALID_ARGUMENT, "options->trace holds data already: give an empty buffer");
  }
  std::string record;
  try {
    run_kept(plan, options, &record, feeds, fetches);
  } catch (...) {
    fill(options.trace, record);
    throw;
  }
  fill(options.trace, record);
}

}  // namespace

void drystone::host::executor::run_checked(DS_Plan* plan, const DS_RunOptions* options, TF_Tensor* const* feeds,
                                           int num_feeds, TF_Tensor** fetches, int num_fetches) {
  if (fetches != nullptr && num_fetches > 0) std::fill_n(fetches, num_fetches, nullptr);
  require(plan, "plan");
  prepare_thread();
  const std::size_t needed = plan->program->blocks[0].fetches.size();
  if (num_fetches < 0 || static_cast<std::size_t>(num_fetches) != needed ||
      (needed != 0 && fetches == nullptr)) {
    fail(TF_INVALID_ARGUMENT, "the plan has " + std::to_string(needed) + " fetches, room for " +
                                  std::to_string(num_fetches) + " was given");
  }
  const DS_RunOptions given = members(options, "options");
  check_feeds(plan->program->blocks[0], feeds, num_feeds);
  if (given.trace == nullptr) run_kept(*plan, given, nullptr, feeds, fetches);
  else record_plan(*plan, given, feeds, fetches);
}

namespace {

void numbers(Json* json, const char* name, const std::vector<std::int32_t>& from, Slice which) {
  json->key(name);
  json->array();
  for (const std::int32_t number : which.of(from)) json->integer(number);
  json->close();
}

void describe(const Program& program, Json* json) {
  static constexpr const char* kNames[] = {
      "kernel", "switch", "merge", "enter", "exit", "next_iteration", "trigger", "nothing",
      "forward", "constant", "call", "if", "case", "while", "session-constant", "loop", "transfer",
      "copy"};
  json->object();
  json->key("blocks");
  json->array();
  for (const Block& block : program.blocks) {
    json->object();
    json->text("name", block.name);
    json->integer("feeds", block.feeds);
    json->integer("values", block.values());
    json->boolean("has_frames", block.has_frames);
    numbers(json, "fetches", block.fetches, {0, static_cast<std::int32_t>(block.fetches.size())});
    if (block.micro_batches != nullptr) json->integer("example_bytes", block.micro_batches->bytes);
    if (!block.whole_because.empty()) json->text("whole_because", block.whole_because);
    json->key("instructions");
    json->array();
    for (const Instruction& in : block.instructions) {
      json->object();
      json->text("node", in.node);
      json->text("op", in.op);
      json->text("kind", kNames[static_cast<std::size_t>(in.kind)]);
      if (in.device != 0) json->text("device", program.devices[static_cast<std::size_t>(in.device) - 1].name);
      if (in.kernel != nullptr) json->text("kernel", in.kernel->registered->name);
      if (in.kernel != nullptr) json->text("library", in.kernel->registered->library);
      if (in.callback >= 0) json->integer("callback", in.callback);
      if (in.compiled != nullptr) json->integer("arena", in.compiled->arena());
      json->integer("first_output", in.outputs.start);
      json->integer("num_outputs", in.outputs.count);
      numbers(json, "inputs", block.inputs, in.inputs);
      numbers(json, "dies", block.dead_after, in.dead_after);
      json->close();
    }
    json->close();
    json->close();
  }
  json->close();
  json->close();
}

}  // namespace

extern "C" {

DS_Session* DS_NewSession(const DS_SessionOptions* options, TF_Status* status) {
  DS_Session* out = nullptr;
  guarded(status, __func__, [&] {
    const DS_SessionOptions given = members(options, "options");
    auto session = std::make_unique<DS_Session>();
    session->callbacks = members(given.callbacks, "callbacks");
    session->threads = given.threads;
    session->inter_op_threads = given.inter_op_threads;
    session->micro_batch_bytes = given.micro_batch_bytes;
    out = session.release();
  });
  return out;
}

void DS_DeleteSession(DS_Session* session) {
  if (session != nullptr) session->release();
}

void DS_ResetSession(DS_Session* session) {
  if (session != nullptr) session->generation.fetch_add(1, std::memory_order_acq_rel);
}

DS_Plan* DS_NewPlan(DS_Session* session, const TF_Buffer* plan, TF_Tensor* const* constants,
                    int num_constants, TF_Status* status) {
  DS_Plan* out = nullptr;
  guarded(status, __func__, [&] {
    require(session, "session");
    if (num_constants < 0 || (num_constants > 0 && constants == nullptr)) {
      fail(TF_INVALID_ARGUMENT, "constants must not be NULL");
    }
    out = new DS_Plan(*session,
                      load(view(plan), {constants, static_cast<std::size_t>(num_constants)},
                           session->callbacks.compute != nullptr));
  });
  return out;
}

void DS_DeletePlan(DS_Plan* plan) {
  if (plan != nullptr) plan->release();
}

int DS_PlanNumFeeds(const DS_Plan* plan) {
  return plan == nullptr ? 0 : plan->program->blocks[0].feeds;
}

int DS_PlanNumFetches(const DS_Plan* plan) {
  return plan == nullptr ? 0 : static_cast<int>(plan->program->blocks[0].fetches.size());
}

const char* DS_PlanFeedName(const DS_Plan* plan, int index) {
  return plan == nullptr ? nullptr : name_at(plan->program->blocks[0].feed_names, index);
}

const char* DS_PlanFetchName(const DS_Plan* plan, int index) {
  return plan == nullptr ? nullptr : name_at(plan->program->blocks[0].fetch_names, index);
}

TF_DataType DS_PlanFeedType(const DS_Plan* plan, int index) {
  if (plan == nullptr || index < 0) return static_cast<TF_DataType>(0);
  const auto& types = plan->program->blocks[0].feed_types;
  const auto at = static_cast<std::size_t>(index);
  return at < types.size() ? types[at] : static_cast<TF_DataType>(0);
}

void DS_DescribePlan(const DS_Plan* plan, TF_Buffer* json, TF_Status* status) {
  guarded(status, __func__, [&] {
    require(plan, "plan");
    Json out;
    describe(*plan->program, &out);
    fill(json, out.str());
  });
}

DS_Cancellation* DS_NewCancellation(void) { return new (std::nothrow) DS_Cancellation(); }
void DS_DeleteCancellation(DS_Cancellation* cancellation) {
  if (cancellation != nullptr) cancellation->release();
}
void DS_Cancel(DS_Cancellation* cancellation) {
  if (cancellation != nullptr) cancellation->is_set.store(true, std::memory_order_relaxed);
}

void DS_RunPlan(DS_Plan* plan, const DS_RunOptions* options, TF_Tensor* const* feeds, int num_feeds,
                TF_Tensor** fetches, int num_fetches, TF_Status* status) {
  guarded(status, __func__, [&] { run_checked(plan, options, feeds, num_feeds, fetches, num_fetches); });
}

}  // extern "C"

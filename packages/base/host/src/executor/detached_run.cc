// Runs on a thread of their own: see executor/detached_run.h.
#include "executor/detached_run.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <utility>

#include "core/failure.h"
#include "library/crash_report.h"
#include "threads/tasks.h"

namespace drystone::host::executor {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLooks{50};    // between two questions to the embedder
// From when a run should have ended. Both count from there, so that on a busy machine one late wake-up is
// not added to the next.
constexpr std::chrono::milliseconds kMoment{180};  // for a kernel that looks whether it should stop
constexpr std::chrono::milliseconds kLastMoment{290};  // for one that was interrupted
constexpr std::chrono::milliseconds kBrief{20};    // of a run that its own thread may be kept from

// One run: shared by its caller and its thread.
class Job : public Task {
 public:
  Job(DS_Plan& plan, const DS_RunOptions& options, bool is_recorded, TF_Tensor* const* feeds)
      : plan_(plan), options_(options), is_recorded_(is_recorded),
        feeds_(static_cast<std::size_t>(plan.program->blocks[0].feeds)),
        fetches_(plan.program->blocks[0].fetches.size()) {
    options_.poll = nullptr;  // the caller is asked
    options_.trace = nullptr;
    options_.was_left = nullptr;
    plan_.retain();
    if (options_.cancellation != nullptr) options_.cancellation->retain();
    for (std::size_t k = 0; k < feeds_.size(); ++k) feeds_[k] = share(*feeds[k]);
  }
  ~Job() override {
    let_go();
    for (TF_Tensor* tensor : fetches_) drop(tensor);
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // On its thread.
  void go() noexcept override {
    prepare_thread();
    if (options_.begin_aside != nullptr) options_.begin_aside(options_.run_context);
    try {
      run_here(plan_, options_, is_recorded_ ? &record_ : nullptr, feeds_.data(), fetches_.data(), &stop_);
    } catch (...) {
      error_ = std::current_exception();
    }
    std::unique_lock lock(mutex_);
    is_done_ = true;
    const bool is_left = is_left_;
    lock.unlock();
    if (is_left) {
      note_returned();
      plan_.session.stuck.remove(this);
    }
    let_go();
    if (options_.end_aside != nullptr) options_.end_aside(options_.run_context, is_left ? 1 : 0);
    lock.lock();
    is_over_ = true;
    changed_.notify_all();
  }

  // On the caller's: until it is over, or must be left. Throws Failure.
  void wait(const DS_RunOptions& given) {
    const auto until = given.deadline_ms > 0 ? Clock::now() + std::chrono::milliseconds(std::min<std::int64_t>(given.deadline_ms, kMostMs))
                                             : Clock::time_point::max();
    std::unique_lock lock(mutex_);
    while (true) {
      if (changed_.wait_until(lock, std::min(until, Clock::now() + kLooks), [&] { return is_over_; })) break;
      lock.unlock();
      const RunStop::Why why = asked(given, until);
      lock.lock();
      if (why == RunStop::Why::none) continue;
      stop_.end(why);
      if (!ends(lock, given, std::min(until, Clock::now()))) leave(lock, given.was_left);
      break;
    }
    // That of a run that was stopped says so. It goes with the caller: who counts holders of it, no sanitizer sees.
    if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
    if (stop_.is_set()) stop_.fail_in_node();
  }

  void hand_over(TF_Tensor** fetches) noexcept {
    for (std::size_t k = 0; k < fetches_.size(); ++k) fetches[k] = std::exchange(fetches_[k], nullptr);
  }
  // Nothing of a run that was left.
  void copy_record(std::string* out) {
    const std::lock_guard lock(mutex_);
    if (is_over_) *out = record_;
  }

 private:
  // Of the plan and the feeds, on its thread while the caller still waits: what the embedder gave is
  // given back by then, and a plan that its owner lets go of right after the run ends there.
  void let_go() noexcept {
    if (!std::exchange(holds_, false)) return;
    for (TF_Tensor* tensor : feeds_) drop(tensor);
    if (options_.cancellation != nullptr) options_.cancellation->release();
    plan_.release();
  }

  static constexpr std::int64_t kMostMs = std::int64_t{1} << 40;

  static RunStop::Why asked(const DS_RunOptions& given, Clock::time_point until) {
    if (given.cancellation != nullptr && given.cancellation->is_set.load(std::memory_order_relaxed)) {
      return RunStop::Why::cancelled;
    }
    if (given.poll != nullptr && given.poll(given.run_context) != 0) return RunStop::Why::interrupted;
    return Clock::now() >= until ? RunStop::Why::time : RunStop::Why::none;
  }

  // Whether it ends by itself, or else when the embedder's callback is interrupted; it should have ended
  // at `due`. With the lock.
  bool ends(std::unique_lock<std::mutex>& lock, const DS_RunOptions& given, Clock::time_point due) {
    const auto is_over = [&] { return is_over_; };
    if (changed_.wait_until(lock, due + kMoment, is_over)) return true;
    if (given.interrupt == nullptr) return false;
    lock.unlock();
    given.interrupt(given.run_context);
    lock.lock();
    return changed_.wait_until(lock, due + kLastMoment, is_over);
  }

  // Goes on without it. With the lock; unless it has ended just now.
  void leave(std::unique_lock<std::mutex>& lock, std::int32_t* was_left) {
    if (is_done_) {
      changed_.wait(lock, [&] { return is_over_; });
      return;
    }
    is_left_ = true;
    note_abandoned();
    if (was_left != nullptr) *was_left = 1;
    const Instruction* in = stop_.now();
    if (in != nullptr) plan_.session.stuck.add(this, *in);
    lock.unlock();
    stop_.fail_in_node(Awaited::its_return);
  }

  DS_Plan& plan_;
  DS_RunOptions options_;
  const bool is_recorded_;
  std::vector<TF_Tensor*> feeds_;
  std::vector<TF_Tensor*> fetches_;
  std::string record_;
  std::exception_ptr error_;
  RunStop stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool holds_ = true;     // the plan, the feeds and the cancellation
  bool is_done_ = false;  // this and what follows: under the mutex
  bool is_left_ = false;
  bool is_over_ = false;  // nothing of the caller's is used any more
};

std::int64_t bytes_of(const DS_Plan& plan, TF_Tensor* const* feeds) noexcept {
  std::int64_t out = 0;
  for (std::int32_t k = 0; k < plan.program->blocks[0].feeds; ++k) out += static_cast<std::int64_t>(feeds[k]->memory->length);
  return out;
}

// Whether a run that is asked about will be over soon. Kernels that are not trusted may hang in the
// thousandth run as in the first.
bool is_brief(const DS_Plan& plan, TF_Tensor* const* feeds) noexcept {
  return plan.program->plugins.empty() && bytes_of(plan, feeds) <= plan.brief.load(std::memory_order_relaxed);
}

}  // namespace

bool runs_detached(const DS_Plan& plan, const DS_RunOptions& options, TF_Tensor* const* feeds) {
  const bool has_limit = options.deadline_ms > 0 || options.cancellation != nullptr;
  if (!has_limit && (options.poll == nullptr || is_brief(plan, feeds))) return false;
  if (is_within_run()) return false;
  if (options.begin_aside != nullptr) return true;
  return !plan.asks && std::none_of(feeds, feeds + plan.program->blocks[0].feeds, is_opaque);
}

bool run_detached(DS_Plan& plan, const DS_RunOptions& options, std::string* record,
               TF_Tensor* const* feeds, TF_Tensor** fetches) {
  const auto job = std::make_shared<Job>(plan, options, record != nullptr, feeds);
  const auto start_time = Clock::now();
  if (!start_task(job)) return false;
  try {
    job->wait(options);
  } catch (...) {
    if (record != nullptr) job->copy_record(record);
    throw;
  }
  if (record != nullptr) job->copy_record(record);
  job->hand_over(fetches);
  if (Clock::now() - start_time < kBrief) {
    const std::int64_t bytes = bytes_of(plan, feeds);
    if (bytes > plan.brief.load(std::memory_order_relaxed)) plan.brief.store(bytes, std::memory_order_relaxed);
  }
  return true;
}

}  // namespace drystone::host::executor

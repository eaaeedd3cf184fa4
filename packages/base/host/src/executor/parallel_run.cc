// Running segments of a block on several threads: see executor/parallel_schedule.h.
#include "executor/parallel_schedule.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <memory>
#include <span>

#include "core/failure.h"
#include "executor/run.h"
#include "executor/trace.h"
#include "threads/pool.h"

namespace drystone::host::executor {
namespace {

constexpr std::int32_t kWarmUps = 1;          // runs before the first that is measured
constexpr std::int32_t kMeasured = 3;         // runs of each kind
constexpr std::int32_t kTried = 4;            // runs of each kind
constexpr std::int64_t kWorthHanding = 5'000;  // nanoseconds of an instruction for another thread

// What only the embedder's thread could turn into something for a library's kernel.
bool has_opaque(TF_Tensor* const* values, std::int32_t count) {
  return std::any_of(values, values + count, [](const TF_Tensor* value) {
    return value != nullptr && is_opaque(value);
  });
}

// Sees at the end of a scope which inputs a call has taken: they are no values of the block any more.
struct Taken {
  std::span<const std::int32_t> inputs;
  const std::vector<TF_Tensor*>& gathered;
  TF_Tensor** values;
  ~Taken() {
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (gathered[k] == nullptr) values[static_cast<std::size_t>(inputs[k])] = nullptr;
    }
  }
};

}  // namespace

// One run of a segment. Threads take what is ready; each goes on with what it has made ready itself
// and hands the rest on.
class SegmentRun {
 public:
  SegmentRun(Run& run, const Block& block, const Segment& segment, TF_Tensor** values,
             Recording* recording)
      : run_(run), model_(run.for_another_thread()), block_(block), segment_(segment), values_(values),
        recording_(recording),
        missing_(segment.missing.size()), uses_(segment.uses.size()), left_(segment.missing.size()) {
    for (std::size_t k = 0; k < missing_.size(); ++k) {
      missing_[k].store(segment.missing[k], std::memory_order_relaxed);
      if (segment.missing[k] == 0) ready_.push_back(static_cast<std::int32_t>(k));
    }
    for (std::size_t k = 0; k < uses_.size(); ++k) uses_[k].store(segment.uses[k], std::memory_order_relaxed);
  }

  // Throws what the first instruction that failed threw; then none is under way.
  void go(int threads) {
    DS_ParallelForGrain(threads, 1, [](void* self, std::int64_t, std::int64_t) {
      static_cast<SegmentRun*>(self)->work();
    }, this);
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  void work() noexcept {
    std::unique_ptr<Run> own;
    Run* run = &run_;
    try {
      if (!run_.is_on_its_thread()) run = (own = model_->for_another_thread()).get();
      std::vector<std::int32_t> mine;
      while (take(mine)) {
        const std::int32_t k = mine.back();
        mine.pop_back();
        step(*run, k);
        finish(k, mine);
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (error_ == nullptr) error_ = std::current_exception();
      changed_.notify_all();
    }
  }

  // Something to do in `mine`, waiting for it; false when all is done or something failed.
  bool take(std::vector<std::int32_t>& mine) {
    std::unique_lock lock(mutex_);
    if (error_ != nullptr) return false;
    if (!mine.empty()) return true;
    changed_.wait(lock, [&] { return !ready_.empty() || left_ == 0 || error_ != nullptr; });
    if (ready_.empty() || error_ != nullptr) return false;
    const auto best = std::max_element(ready_.begin(), ready_.end(), [&](std::int32_t a, std::int32_t b) {
      return segment_.priority[static_cast<std::size_t>(a)] < segment_.priority[static_cast<std::size_t>(b)];
    });
    mine.push_back(*best);
    ready_.erase(best);
    return true;
  }

  void step(Run& run, std::int32_t k) {
    const auto first_of_all = static_cast<std::size_t>(segment_.begin);
    const Instruction& in = block_.instructions[first_of_all + static_cast<std::size_t>(k)];
    if (run.watches_time()) run.check_time(in);
    const std::int64_t start = recording_ == nullptr ? 0 : Trace::now();
    const auto inputs = block_.inputs_of(in);
    std::vector<TF_Tensor*> gathered(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto v = static_cast<std::size_t>(inputs[i]);
      gathered[i] = values_[v] != nullptr ? values_[v] : block_.initial[v];
    }
    const std::int32_t first = block_.instructions[first_of_all].inputs.start;
    const TF_Bool* given_up = segment_.given_up.data() + (in.inputs.start - first);
    if (in.kind != Kind::constant && in.kind != Kind::nothing) {
      const Taken taken{inputs, gathered, values_};
      run.compute(block_, in, gathered.data(), in.gives_up ? given_up : nullptr,
                  values_ + in.outputs.start);
    }
    if (recording_ != nullptr) recording_->made(in, start, values_);
  }

  // Lets go of what nothing needs any more, and sees what has become ready.
  void finish(std::int32_t k, std::vector<std::int32_t>& mine) {
    const Slice touched = segment_.dying_of[static_cast<std::size_t>(k)];
    for (const std::int32_t number : touched.of(segment_.touched)) {
      const auto d = static_cast<std::size_t>(number);
      if (uses_[d].fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
      const auto v = static_cast<std::size_t>(segment_.dying[d]);
      if (recording_ != nullptr) recording_->dies(v);
      drop(std::exchange(values_[v], nullptr));
    }
    const Slice next = segment_.next_of[static_cast<std::size_t>(k)];
    for (const std::int32_t other : next.of(segment_.next)) {
      if (missing_[static_cast<std::size_t>(other)].fetch_sub(1, std::memory_order_acq_rel) == 1) mine.push_back(other);
    }
    const std::lock_guard lock(mutex_);
    hand_on(mine);
    if (--left_ == 0) changed_.notify_all();
  }

  // Keeps what is short, and the most urgent of the rest. Under the mutex.
  void hand_on(std::vector<std::int32_t>& mine) {
    if (mine.size() < 2) return;
    std::sort(mine.begin(), mine.end(), [&](std::int32_t a, std::int32_t b) {
      return segment_.priority[static_cast<std::size_t>(a)] < segment_.priority[static_cast<std::size_t>(b)];
    });
    const std::int32_t kept = mine.back();
    mine.pop_back();
    const auto others = std::stable_partition(mine.begin(), mine.end(), [&](std::int32_t k) {
      return segment_.cost[static_cast<std::size_t>(k)] < kWorthHanding;
    });
    const auto handed = mine.end() - others;
    ready_.insert(ready_.end(), others, mine.end());
    mine.erase(others, mine.end());
    mine.push_back(kept);
    if (handed == 1) changed_.notify_one();
    else if (handed > 1) changed_.notify_all();
  }

  Run& run_;
  std::unique_ptr<const Run> model_;  // what other threads' are made from while run_ is in use
  const Block& block_;
  const Segment& segment_;
  TF_Tensor** values_;
  Recording* recording_;
  std::vector<std::atomic<std::int32_t>> missing_;
  std::vector<std::atomic<std::int32_t>> uses_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::int32_t> ready_;   // this and what follows: under the mutex
  std::size_t left_;
  std::exception_ptr error_;
};

int Run::threads_in_parallel() const {
  const int all = std::min(free_threads(), most_in_parallel_);
  const std::int32_t wanted = plan_.session.inter_op_threads;
  return wanted > 0 ? std::min<int>(wanted, all) : all;
}

bool Run::run_in_parallel(const Block& block, TF_Tensor** values) {
  ParallelSchedule& schedule = *block.parallel_schedule;
  const ParallelSchedule::State state = schedule.state.load(std::memory_order_acquire);
  if (state == ParallelSchedule::State::in_order) return false;
  const int threads = threads_in_parallel();
  if (threads < 2 || has_opaque(values, block.feeds)) return false;
  if (state == ParallelSchedule::State::chosen) {
    run_segments(block, values, threads);
    return true;
  }
  if (trace_ != nullptr) return false;
  const std::unique_lock lock(schedule.mutex, std::try_to_lock);
  if (!lock.owns_lock() || schedule.state.load(std::memory_order_relaxed) != state) return false;
  return state == ParallelSchedule::State::measuring ? measure(block, values, threads)
                                             : try_in_parallel(block, values, threads);
}

void Run::run_segments(const Block& block, TF_Tensor** values, int threads) {
  std::optional<Recording> recording;
  if (trace_ != nullptr) recording.emplace(*trace_, block, values);
  Recording* notes = recording ? &*recording : nullptr;
  std::int32_t next = 0;
  for (const Segment& segment : block.parallel_schedule->segments) {
    run_range(block, next, segment.begin, values, notes);
    const ThreadLimit limit(threads);
    SegmentRun(*this, block, segment, values, notes).go(threads);
    next = segment.end;
  }
  run_range(block, next, static_cast<std::int32_t>(block.instructions.size()), values, notes);
}

// Compares the block in order with its segments. Under the mutex.
bool Run::try_in_parallel(const Block& block, TF_Tensor** values, int threads) {
  ParallelSchedule& schedule = *block.parallel_schedule;
  const bool in_order = schedule.runs % 2 == 0;
  const std::int64_t start = Trace::now();
  if (in_order) run_range(block, 0, static_cast<std::int32_t>(block.instructions.size()), values, nullptr);
  else run_segments(block, values, threads);
  std::int64_t& least = in_order ? schedule.least_in_order : schedule.least_in_parallel;
  least = std::min(least, Trace::now() - start);
  if (++schedule.runs < 2 * kTried) return true;
  const bool pays = schedule.least_in_parallel + schedule.least_in_parallel / 10 < schedule.least_in_order;
  schedule.state.store(pays ? ParallelSchedule::State::chosen : ParallelSchedule::State::in_order, std::memory_order_release);
  return true;
}

// Runs the block in order and takes the time of each instruction. False: too early. Under the mutex.
bool Run::measure(const Block& block, TF_Tensor** values, int threads) {
  ParallelSchedule& schedule = *block.parallel_schedule;
  const std::int32_t number = schedule.runs - kWarmUps;
  if (number < 0) {
    ++schedule.runs;
    return false;
  }
  const bool is_alone = number % 2 == 1;
  const ThreadLimit limit(is_alone ? 1 : 0);
  std::vector<std::int64_t>& least = is_alone ? schedule.alone : schedule.shared;
  least.resize(block.instructions.size(), INT64_MAX);
  std::size_t k = 0;
  for (const Instruction& in : block.instructions) {
    if (watches_time()) check_time(in);
    const std::int64_t start = Trace::now();
    advance(block, in, values);
    drop_dead(block, in, values);
    least[k] = std::min(least[k], Trace::now() - start);
    ++k;
  }
  ++schedule.runs;  // one that failed says nothing
  if (number + 1 < 2 * kMeasured) return true;
  schedule.segments = choose_segments(block, schedule, threads);
  schedule.runs = 0;
  schedule.state.store(schedule.segments.empty() ? ParallelSchedule::State::in_order : ParallelSchedule::State::trying,
                       std::memory_order_release);
  return true;
}

}  // namespace drystone::host::executor

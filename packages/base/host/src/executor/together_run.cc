// Running stretches of a block on several threads: see executor/together.h.
#include "executor/together.h"

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
    return value != nullptr && value->memory != nullptr && value->memory->opaque;
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

// One run of a stretch. Threads take what is ready; each goes on with what it has made ready itself
// and hands the rest on.
class StretchRun {
 public:
  StretchRun(Run& run, const Block& block, const Stretch& stretch, TF_Tensor** values,
             Recording* recording)
      : run_(run), model_(run.for_another_thread()), block_(block), stretch_(stretch), values_(values),
        recording_(recording),
        missing_(stretch.missing.size()), uses_(stretch.uses.size()), left_(stretch.missing.size()) {
    for (std::size_t k = 0; k < missing_.size(); ++k) {
      missing_[k].store(stretch.missing[k], std::memory_order_relaxed);
      if (stretch.missing[k] == 0) ready_.push_back(static_cast<std::int32_t>(k));
    }
    for (std::size_t k = 0; k < uses_.size(); ++k) uses_[k].store(stretch.uses[k], std::memory_order_relaxed);
  }

  // Throws what the first instruction that failed threw; then none is under way.
  void go(int threads) {
    DS_ParallelForGrain(threads, 1, [](void* self, std::int64_t, std::int64_t) {
      static_cast<StretchRun*>(self)->work();
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
      return stretch_.priority[static_cast<std::size_t>(a)] < stretch_.priority[static_cast<std::size_t>(b)];
    });
    mine.push_back(*best);
    ready_.erase(best);
    return true;
  }

  void step(Run& run, std::int32_t k) {
    const auto first_of_all = static_cast<std::size_t>(stretch_.begin);
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
    const TF_Bool* given_up = stretch_.given_up.data() + (in.inputs.start - first);
    if (in.kind != Kind::constant && in.kind != Kind::nothing) {
      const Taken taken{inputs, gathered, values_};
      run.compute(block_, in, gathered.data(), in.gives_up ? given_up : nullptr,
                  values_ + in.outputs.start);
    }
    if (recording_ != nullptr) recording_->made(in, start, values_);
  }

  // Lets go of what nobody needs any more, and sees what has become ready.
  void finish(std::int32_t k, std::vector<std::int32_t>& mine) {
    const Slice touched = stretch_.dying_of[static_cast<std::size_t>(k)];
    for (const std::int32_t number : touched.of(stretch_.touched)) {
      const auto d = static_cast<std::size_t>(number);
      if (uses_[d].fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
      const auto v = static_cast<std::size_t>(stretch_.dying[d]);
      if (recording_ != nullptr) recording_->dies(v);
      drop(std::exchange(values_[v], nullptr));
    }
    const Slice next = stretch_.next_of[static_cast<std::size_t>(k)];
    for (const std::int32_t other : next.of(stretch_.next)) {
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
      return stretch_.priority[static_cast<std::size_t>(a)] < stretch_.priority[static_cast<std::size_t>(b)];
    });
    const std::int32_t kept = mine.back();
    mine.pop_back();
    const auto others = std::stable_partition(mine.begin(), mine.end(), [&](std::int32_t k) {
      return stretch_.cost[static_cast<std::size_t>(k)] < kWorthHanding;
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
  const Stretch& stretch_;
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

int Run::threads_together() const {
  const int all = std::min(free_threads(), most_together_);
  const std::int32_t wanted = plan_.session.inter_op_threads;
  return wanted > 0 ? std::min<int>(wanted, all) : all;
}

bool Run::run_together(const Block& block, TF_Tensor** values) {
  Together& together = *block.together;
  const Together::State state = together.state.load(std::memory_order_acquire);
  if (state == Together::State::in_order) return false;
  const int threads = threads_together();
  if (threads < 2 || has_opaque(values, block.feeds)) return false;
  if (state == Together::State::chosen) {
    run_stretches(block, values, threads);
    return true;
  }
  if (trace_ != nullptr) return false;
  const std::unique_lock lock(together.mutex, std::try_to_lock);
  if (!lock.owns_lock() || together.state.load(std::memory_order_relaxed) != state) return false;
  return state == Together::State::measuring ? measure(block, values, threads)
                                             : try_together(block, values, threads);
}

void Run::run_stretches(const Block& block, TF_Tensor** values, int threads) {
  std::optional<Recording> recording;
  if (trace_ != nullptr) recording.emplace(*trace_, block, values);
  Recording* notes = recording ? &*recording : nullptr;
  std::int32_t next = 0;
  for (const Stretch& stretch : block.together->stretches) {
    run_range(block, next, stretch.begin, values, notes);
    const ThreadLimit limit(threads);
    StretchRun(*this, block, stretch, values, notes).go(threads);
    next = stretch.end;
  }
  run_range(block, next, static_cast<std::int32_t>(block.instructions.size()), values, notes);
}

// Compares the block in order with its stretches. Under the mutex.
bool Run::try_together(const Block& block, TF_Tensor** values, int threads) {
  Together& together = *block.together;
  const bool in_order = together.runs % 2 == 0;
  const std::int64_t start = Trace::now();
  if (in_order) run_range(block, 0, static_cast<std::int32_t>(block.instructions.size()), values, nullptr);
  else run_stretches(block, values, threads);
  std::int64_t& least = in_order ? together.least_in_order : together.least_together;
  least = std::min(least, Trace::now() - start);
  if (++together.runs < 2 * kTried) return true;
  const bool pays = together.least_together + together.least_together / 10 < together.least_in_order;
  together.state.store(pays ? Together::State::chosen : Together::State::in_order, std::memory_order_release);
  return true;
}

// Runs the block in order and takes the time of each instruction. False: too early. Under the mutex.
bool Run::measure(const Block& block, TF_Tensor** values, int threads) {
  Together& together = *block.together;
  const std::int32_t number = together.runs - kWarmUps;
  if (number < 0) {
    ++together.runs;
    return false;
  }
  const bool is_alone = number % 2 == 1;
  const ThreadLimit limit(is_alone ? 1 : 0);
  std::vector<std::int64_t>& least = is_alone ? together.alone : together.shared;
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
  ++together.runs;  // one that failed says nothing
  if (number + 1 < 2 * kMeasured) return true;
  together.stretches = choose_stretches(block, together, threads);
  together.runs = 0;
  together.state.store(together.stretches.empty() ? Together::State::in_order : Together::State::trying,
                       std::memory_order_release);
  return true;
}

}  // namespace drystone::host::executor

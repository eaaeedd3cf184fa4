// Runs that must end while a kernel does not: they are left, nothing is freed under the kernel, and the session
// refuses the node until it has returned. Also: a pool without threads, and what decides how many there are.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "core/memory_limit.h"
#include "drystone/kernel_views.h"
#include "drystone/threads.h"
#include "plans_help.h"
#include "threads/budget.h"
#include "threads/governor.h"

namespace {

using Clock = std::chrono::steady_clock;
using help::field;

std::atomic<bool> holds{false};    // the deaf kernel
std::atomic<int> inside{0};
std::atomic<bool> has_heard{false};
std::atomic<std::int64_t> wanted{0};

void give_sum(TF_OpKernelContext* ctx) {
  DS_View a = DS_VIEW_INIT;
  DS_View b = DS_VIEW_INIT;
  DS_View out = DS_VIEW_INIT;
  if (DS_ViewInput(ctx, 0, &a) == 0 || DS_ViewInput(ctx, 1, &b) == 0) return;
  if (DS_NewOutput(ctx, 0, a.dims, a.rank, -1, &out) == 0) return;
  for (std::int64_t k = 0; k < a.count; ++k) {
    static_cast<float*>(out.data)[k] = static_cast<const float*>(a.data)[k] + static_cast<const float*>(b.data)[k];
  }
}

// Looks at nothing but its inputs, which must be there for as long as it runs.
void deaf(void*, TF_OpKernelContext* ctx) {
  ++inside;
  while (holds.load()) usleep(1000);
  give_sum(ctx);
  --inside;
}

// Looks whether it should stop, in bodies that others run, too.
void hearing(void*, TF_OpKernelContext* ctx) {
  std::atomic<bool> stopped{false};
  if (holds.load()) {
    DS_ParallelForGrain(2, 1, [](void* out, int64_t, int64_t) {
      while (holds.load() && DS_ShouldStop() == 0) usleep(1000);
      if (DS_ShouldStop() != 0) *static_cast<std::atomic<bool>*>(out) = true;
    }, &stopped);
  }
  if (stopped) {
    has_heard = true;
    const help::Status status;
    TF_SetStatus(status, TF_ABORTED, "in its own words");
    TF_OpKernelContext_Failure(ctx, status);
    return;
  }
  give_sum(ctx);
}

// Makes an output of a size that no machine has memory for.
void greedy(void*, TF_OpKernelContext* ctx) {
  DS_View out = DS_VIEW_INIT;
  const std::int64_t dims[] = {wanted.load()};
  DS_NewOutput(ctx, 0, dims, 1, -1, &out);
}

constexpr const char* kOps[] = {"Deaf", "Hearing", "Greedy"};

std::string plan_of(int op) {
  std::string out = field(1, std::uint64_t{1});
  for (const char* name : kOps) {
    out += field(3, field(1, name) + field(2, help::arg("a", TF_FLOAT)) + field(2, help::arg("b", TF_FLOAT)) +
                        field(3, help::arg("c", TF_FLOAT)));
  }
  std::string block = field(2, std::uint64_t{2});
  block += field(3, help::binary("y", kOps[op], 0, 1, field(3, static_cast<std::uint64_t>(op))));
  block += field(4, help::packed({2}));
  return out + field(4, block);
}

struct Ran {
  bool ok = false;
  double seconds = 0;
  std::vector<float> values;
};

std::int32_t interrupts(void*) { return 1; }

Ran run(DS_Plan* plan, DS_RunOptions options, const help::Status& status) {
  options.struct_size = DS_RUN_OPTIONS_STRUCT_SIZE;
  TF_Tensor* feeds[] = {help::floats({1, 2}), help::floats({3, 4})};
  TF_Tensor* fetches[1] = {};
  const auto start = Clock::now();
  DS_RunPlan(plan, &options, feeds, 2, fetches, 1, status);
  Ran out;
  out.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  out.ok = status.ok();
  if (fetches[0] != nullptr) out.values = help::floats_of(fetches[0]);
  TF_DeleteTensor(fetches[0]);
  for (TF_Tensor* feed : feeds) TF_DeleteTensor(feed);
  return out;
}

DS_RunOptions with_deadline(std::int64_t ms) {
  DS_RunOptions out{};
  out.deadline_ms = ms;
  return out;
}

void wait_until_it_returns() {
  holds = false;
  for (int k = 0; k < 5000 && inside.load() != 0; ++k) usleep(1000);
  usleep(20'000);  // and its thread is through
}

constexpr double kSlack = 5;  // seconds: sanitizers, and machines that others use

void check_left_and_refused() {
  const help::LoadedPlan loaded(plan_of(0), 1, 0);
  const help::Status status;
  CHECK(run(loaded.plan, with_deadline(60'000), status).values == (std::vector<float>{4, 6}));
  holds = true;
  std::int32_t was_left = 0;
  DS_RunOptions options = with_deadline(100);
  options.was_left = &was_left;
  const Ran late = run(loaded.plan, options, status);
  CHECK(status.says(TF_DEADLINE_EXCEEDED, "the run was stopped at node 'y' (Deaf): its deadline has passed, and its kernel 'Deaf' of "));
  CHECK(status.says(TF_DEADLINE_EXCEEDED, " has not returned"));
  CHECK(was_left == 1 && late.seconds > 0.09 && late.seconds < kSlack);
  CHECK(!run(loaded.plan, {}, status).ok);  // no run waits for it, with a deadline or without
  CHECK(status.says(TF_UNAVAILABLE, "the session is stuck: the kernel of node 'y' (Deaf) has not returned"));
  wait_until_it_returns();
  CHECK(run(loaded.plan, {}, status).values == (std::vector<float>{4, 6}));
}

std::atomic<int> given_back{0};

// A feed in memory that lies at an odd place: kernels get a copy that the run makes.
void check_lent() {
  constexpr std::int64_t kCount = 6 << 20;  // floats: three pieces
  const help::LoadedPlan loaded(plan_of(1), 1, 0);
  const help::Status status;
  std::vector<float> memory(static_cast<std::size_t>(kCount) + 17, 1.5F);
  float* odd = memory.data();
  while (reinterpret_cast<std::uintptr_t>(odd) % TF_TensorDefaultAlignment() != 4) ++odd;
  const auto lent = [&] {
    return DS_NewFeed(TF_FLOAT, &kCount, 1, odd, kCount * sizeof(float),
                      [](void*, std::size_t, void*) { ++given_back; }, nullptr);
  };
  TF_Tensor* feeds[] = {lent(), lent()};
  CHECK(TF_TensorData(feeds[0]) == odd);
  TF_Tensor* fetches[1] = {};
  DS_RunOptions options{};
  options.struct_size = DS_RUN_OPTIONS_STRUCT_SIZE;
  DS_RunPlan(loaded.plan, &options, feeds, 2, fetches, 1, status);
  CHECK(status.ok());
  const std::vector<float> sums = help::floats_of(fetches[0]);
  CHECK(sums.front() == 3 && sums.back() == 3);
  TF_DeleteTensor(fetches[0]);
  // It is over before it begins: whether it has copied them or not, no kernel runs.
  DS_Cancellation* cancellation = DS_NewCancellation();
  DS_Cancel(cancellation);
  options.cancellation = cancellation;
  fetches[0] = nullptr;
  DS_RunPlan(loaded.plan, &options, feeds, 2, fetches, 1, status);
  CHECK(status.says(TF_CANCELLED, "the run was cancelled "));
  DS_DeleteCancellation(cancellation);
  for (TF_Tensor* feed : feeds) TF_DeleteTensor(feed);
  for (int k = 0; k < 5000 && given_back.load() != 2; ++k) usleep(1000);
  CHECK(given_back.load() == 2);
  CHECK(DS_NewFeed(TF_STRING, &kCount, 1, odd, 8, nullptr, nullptr) == nullptr);
}

// The plan and the session go first; the sanitizer sees what the kernel reads then.
void check_deleted_meanwhile() {
  const help::Status status;
  {
    const help::LoadedPlan loaded(plan_of(0), 1, 0);
    holds = true;
    run(loaded.plan, with_deadline(50), status);
    CHECK(status.says(TF_DEADLINE_EXCEEDED, "has not returned"));
  }
  wait_until_it_returns();
}

void check_cancelled() {
  const help::LoadedPlan loaded(plan_of(0), 1, 0);
  const help::Status status;
  holds = true;
  DS_RunOptions options{};
  options.cancellation = DS_NewCancellation();
  std::thread other([&] {
    usleep(100'000);
    DS_Cancel(options.cancellation);
  });
  CHECK(run(loaded.plan, options, status).seconds < kSlack);
  other.join();
  DS_DeleteCancellation(options.cancellation);  // the run that was left holds it
  CHECK(status.says(TF_CANCELLED, "the run was cancelled in node 'y' (Deaf), and its kernel"));
  wait_until_it_returns();
}

void check_interrupted() {
  const help::Status status;
  for (const int op : {0, 1}) {
    const help::LoadedPlan loaded(plan_of(op), 1, 0);
    holds = true;
    DS_RunOptions options{};
    options.poll = interrupts;
    CHECK(run(loaded.plan, options, status).seconds < kSlack);
    CHECK(status.says(TF_CANCELLED, "the run was interrupted in node 'y'"));
    wait_until_it_returns();
  }
}

void check_heard() {
  const help::LoadedPlan loaded(plan_of(1), 1, 0);
  const help::Status status;
  holds = true;
  has_heard = false;
  CHECK(run(loaded.plan, with_deadline(100), status).seconds < kSlack);
  CHECK(status.says(TF_DEADLINE_EXCEEDED, "the run was stopped at node 'y' (Hearing): its deadline has passed"));
  CHECK(has_heard);
  holds = false;
  CHECK(run(loaded.plan, {}, status).values == (std::vector<float>{4, 6}));  // nothing is stuck
}

void check_too_large() {
  const help::LoadedPlan loaded(plan_of(2), 1, 0);
  const help::Status status;
  for (const std::int64_t count : {std::int64_t{1} << 40, std::int64_t{1} << 62, std::int64_t{INT64_MAX}}) {
    wanted = count;
    CHECK(!run(loaded.plan, {}, status).ok);
    CHECK(status.says(TF_RESOURCE_EXHAUSTED, "a tensor must fit in this machine's memory, with room for others: ["));
  }
  wanted = -1;
  run(loaded.plan, {}, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "no tensor has that dtype and those dimensions"));
}

void check_halves() {
  struct Seen {
    std::atomic<int> items[8] = {};
  } seen;
  DS_ParallelStorage room;
  DS_BeginParallel(&room, 8, [](void* out, int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) ++static_cast<Seen*>(out)->items[k];
  }, &seen);
  CHECK(DS_NumThreads() == 1);
  ++seen.items[0];
  DS_EndParallel(&room);
  for (const auto& item : seen.items) CHECK(item == 1);
}

void check_governor() {
  drystone::host::Governor one;
  std::int64_t now = 1'000'000'000;
  CHECK(one.helpers(1, now) == 1);
  one.saw(1, 50'000, 200'000, 0.5, now);  // 50 us of work, then 0.2 ms of waiting for as much
  CHECK(one.helpers(1, now) == 0);
  CHECK(one.helpers(1, now + 6'000'000) == 1);
  now += 7'000'000;
  one.saw(1, 50'000, 200'000, 0.5, now);  // again, so for longer
  CHECK(one.helpers(1, now + 6'000'000) == 0);
  CHECK(one.helpers(1, now + 21'000'000) == 1);
  now += 30'000'000;
  one.saw(1, 50'000, 4'050'000, 0.5, now);  // for twenty times what was lost
  CHECK(one.helpers(1, now + 79'000'000) == 0);
  CHECK(one.helpers(1, now + 81'000'000) == 1);
  drystone::host::Governor many;
  many.saw(15, 50'000, 4'000'000, 0.1, now);
  CHECK(many.helpers(15, now) == 12);  // a quarter fewer
  drystone::host::Governor quiet;
  for (int k = 0; k < 100; ++k) quiet.saw(1, 2'000'000, 1'500'000, 0.5, now);  // pieces of 2 ms
  CHECK(quiet.helpers(1, now) == 1);
  quiet.saw(1, 7'000'000, 1'500'000, 0.875, now);  // an eighth of the loop takes 1 ms
  CHECK(quiet.helpers(1, now) == 0);
}

// The core of a helper, which others use, too: in turns of `on` and `off` nanoseconds.
struct Shared {
  std::int64_t on;
  std::int64_t off;
  std::int64_t place(std::int64_t time) const { return time % (on + off); }
  std::int64_t next(std::int64_t time) const {
    return place(time) < on ? time : time + on + off - place(time);
  }
  // When work that is begun at a time is done.
  std::int64_t done(std::int64_t time, std::int64_t work) const {
    for (time = next(time); work > on - place(time); time += off) {
      work -= on - place(time);
      time += on - place(time);
    }
    return time + work;
  }
};

// Loops of a caller with a core of its own and one helper, beside the same loops on one thread; four
// seconds of them. No clock and no thread: what the pool does, with the pool's governor.
double beside_one_thread(const Shared& core, std::int64_t work, std::int64_t between) {
  constexpr int kPieces = 8;
  constexpr std::int64_t kWakes = 20'000;
  drystone::host::Governor governor;
  std::int64_t now = 1'000'000'000;
  std::int64_t took = 0;
  const std::int64_t loops = 4'000'000'000 / work;
  for (std::int64_t loop = 0; loop < loops; ++loop, now += between) {
    if (governor.helpers(1, now) == 0) {
      now += work;
      took += work;
      continue;
    }
    std::int64_t caller = now;
    std::int64_t helper = core.next(now + kWakes);
    std::int64_t end = now;
    int own = 0;
    for (int piece = 0; piece < kPieces; ++piece) {
      if (helper <= caller) {
        end = helper = core.done(helper, work / kPieces);
      } else {
        ++own;
        caller += work / kPieces;
      }
    }
    end = std::max(end, caller);
    governor.saw(1, caller - now, end - caller, static_cast<double>(own) / kPieces, end);
    took += end - now;
    now = end;
  }
  return static_cast<double>(took) / static_cast<double>(loops * work);
}

void check_busy_machines() {
  for (const std::int64_t work : {20'000, 100'000, 470'000, 2'000'000, 10'000'000}) {
    for (const std::int64_t between : {0, 1'000, 300'000}) {
      for (const std::int64_t off : {1'000'000, 3'000'000, 4'000'000, 10'000'000}) {
        for (const double part : {0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97}) {
          const auto on = static_cast<std::int64_t>(static_cast<double>(off) * part / (1 - part));
          CHECK(beside_one_thread({on, off}, work, between) < 1.1);
        }
      }
    }
    if (work > 100'000) CHECK(beside_one_thread({1'000'000, 0}, work, 0) < 0.6);  // alone: it helps
  }
}

void write(const std::string& file, const std::string& text) { std::ofstream(file) << text; }

void check_quotas() {
  char name[] = "/tmp/drystone-quota-XXXXXX";
  const std::string root = mkdtemp(name);
  for (const char* part : {"/proc", "/proc/self", "/sys", "/sys/fs", "/sys/fs/cgroup", "/sys/fs/cgroup/a", "/sys/fs/cgroup/a/b",
                           "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/memory"}) {
    mkdir((root + part).c_str(), 0700);
  }
  using drystone::host::quota_of_groups;
  CHECK(quota_of_groups(root) == 0);
  write(root + "/proc/self/cgroup", "0::/a/b\n");
  CHECK(quota_of_groups(root) == 0);
  write(root + "/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  CHECK(quota_of_groups(root) == 0);
  write(root + "/sys/fs/cgroup/a/cpu.max", "250000 100000\n");  // of the group above
  CHECK(quota_of_groups(root) == 3);
  write(root + "/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
  CHECK(quota_of_groups(root) == 1);
  write(root + "/proc/self/cgroup", "3:memory:/\n2:cpu,cpuacct:/\n");
  write(root + "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write(root + "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  CHECK(quota_of_groups(root) == 0);
  write(root + "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
  CHECK(quota_of_groups(root) == 2);
  using drystone::host::memory_of_groups;
  CHECK(memory_of_groups(root) == SIZE_MAX);
  write(root + "/sys/fs/cgroup/memory/memory.limit_in_bytes", "4096000\n");
  CHECK(memory_of_groups(root) == 4096000);
  write(root + "/sys/fs/cgroup/memory.max", "max\n");
  CHECK(memory_of_groups(root) == 4096000);
  CHECK(std::system(("rm -r " + root).c_str()) == 0);
}

}  // namespace

int main() {
  setenv("DRYSTONE_NUM_THREADS", "3", 1);
  void (*const computes[])(void*, TF_OpKernelContext*) = {deaf, hearing, greedy};
  for (int op = 0; op < 3; ++op) {
    help::must_register(TF_NewKernelBuilder(kOps[op], "CPU", nullptr, computes[op], nullptr), kOps[op]);
  }
  check_left_and_refused();
  check_deleted_meanwhile();
  check_lent();
  check_cancelled();
  check_interrupted();
  check_heard();
  check_too_large();
  check_halves();
  check_governor();
  check_busy_machines();
  check_quotas();
  return help::report();
}

// Loops of other kernels: see dnnl/team.h.
#include "dnnl/team.h"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>

namespace drystone::cpu::dnnl_part {
namespace {

thread_local bool has_team = false;
thread_local bool has_lost_team = false;  // a forked child has only the thread that forked

// Threads take the next piece when they are done with one, as some may begin late.
void run(std::int64_t count, std::int64_t pieces, int threads, DS_RangeBody body, void* argument) {
  const std::int64_t grain = (count + pieces - 1) / pieces;
  std::atomic<std::int64_t> next{0};
#pragma omp parallel num_threads(threads)
  while (true) {
    const std::int64_t begin = next.fetch_add(grain, std::memory_order_relaxed);
    if (begin >= count) break;
    body(argument, begin, std::min(begin + grain, count));
  }
}

}  // namespace

int most_threads() { return has_lost_team ? 1 : std::min(DS_NumThreads(), omp_get_thread_limit()); }

void begin_team() {
  // OpenMP would wait for the threads of the team for ever.
  static const int handled = pthread_atfork(nullptr, nullptr, [] {
    has_lost_team = has_lost_team || has_team;
    has_team = false;
  });
  static_cast<void>(handled);
  has_team = true;
}

}  // namespace drystone::cpu::dnnl_part

int drystone_cpu_dnnl_share(std::int64_t count, std::int64_t cost, DS_RangeBody body, void* argument) {
  using namespace drystone::cpu::dnnl_part;
  constexpr std::int64_t kWorthSharing = 5'000;  // nanoseconds of work for each thread
  if (count <= 0) return 1;
  if (omp_in_parallel() != 0) {  // a loop in a loop's body
    body(argument, 0, count);
    return 1;
  }
  const int threads = has_team ? most_threads() : 1;
  if (threads < 2) return 0;
  std::int64_t total = 0;
  if (__builtin_mul_overflow(count, std::max<std::int64_t>(cost, 1), &total)) total = INT64_MAX;
  const std::int64_t pieces = std::min({total / kWorthSharing, std::int64_t{threads} * 4, count});
  // All threads or none: a smaller team would end the others, and make them anew for the next layer.
  if (pieces < threads) return 0;
  run(count, pieces, threads, body, argument);
  return 1;
}

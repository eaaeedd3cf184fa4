// Teams of the host's threads: see omp/omp.h.
#include "omp/omp.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <utility>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "drystone/threads.h"
#include "omp/gang.h"

namespace drystone::cpu::omp {
namespace {

// A loop that a team shares by a fixed rule.
struct Shared {
  long start = 0;
  long count = 0;  // of iterations
  long step = 1;
  long chunk = 0;  // 0: one piece for each thread
  long next = 0;   // number of this thread's next piece
};

// What this thread is in its team.
struct Member {
  int size = 1;
  int number = 0;
  Gang* gang = nullptr;
  Shared loop;
};

// A region that this thread has begun.
struct Region {
  void (*function)(void*) = nullptr;
  void* data = nullptr;
  int size = 1;
  bool is_watched = false;
  std::atomic<bool> saw_invalid{false};
  Member before;
  DS_ParallelStorage storage;
};

thread_local Member member;
thread_local Region region;   // the outermost: those inside have one thread
thread_local int depth = 0;
thread_local int most = 1;
thread_local bool wants_gang = false;
thread_local bool is_watched = false;
thread_local bool saw_invalid = false;  // a team of this thread, since it was last asked

// Takes the processor's flag of invalid operations down for this thread. Whether it was up.
bool take_invalid() {
#if defined(__x86_64__)
  constexpr unsigned kInvalid = 1;
  const unsigned state = _mm_getcsr();
  if ((state & kInvalid) == 0) return false;
  _mm_setcsr(state & ~kInvalid);
  return true;
#else
  return true;
#endif
}

// Of what this thread did for a region.
void note_invalid(Region& of) {
  if (of.is_watched && take_invalid()) of.saw_invalid.store(true, std::memory_order_relaxed);
}

// The member `number` of a region's team.
void act(Region& of, int number, Gang* gang) {
  const Member before = member;
  member = {of.size, number, gang, {}};
  ++depth;
  if (of.is_watched) take_invalid();  // of other work of this thread
  of.function(of.data);
  note_invalid(of);
  --depth;
  member = before;
}

void act_as(void* argument, std::int64_t begin, std::int64_t end) {
  for (std::int64_t k = begin; k < end; ++k) act(*static_cast<Region*>(argument), static_cast<int>(k), nullptr);
}

void begin(void (*function)(void*), void* data, int size) {
  if (depth++ != 0) return;  // a team of one, as the member that it is in
  region.function = function;
  region.data = data;
  region.size = size;
  region.is_watched = is_watched;
  region.saw_invalid.store(false, std::memory_order_relaxed);
  region.before = member;
  member = {size, 0, nullptr, {}};
  if (size == 1) return;
  if (wants_gang) {
    const auto body = [](void* of, int number, Gang* gang) { act(*static_cast<Region*>(of), number, gang); };
    member.gang = Gang::begin(size, body, &region);
  }
  if (member.gang == nullptr) DS_BeginParallel(&region.storage, size, act_as, &region);
}

void end() {
  if (--depth != 0) return;
  Gang* const gang = member.gang;
  member = region.before;
  if (region.size == 1) return;
  note_invalid(region);  // its caller's, before it takes pieces of others
  if (gang != nullptr) gang->end();
  else DS_EndParallel(&region.storage);
  saw_invalid = saw_invalid || region.saw_invalid.load(std::memory_order_relaxed);
}

// The next piece of a loop, as [*first, *last); false after the last one.
bool next_piece(long* first, long* last) {
  Shared& loop = member.loop;
  const long number = loop.next++;
  long from = 0;
  long to = 0;
  if (loop.chunk == 0) {
    if (number > 0) return false;
    const long each = loop.count / member.size;
    const long more = loop.count % member.size;
    from = member.number * each + std::min<long>(member.number, more);
    to = from + each + (member.number < more ? 1 : 0);
  } else {
    from = (number * member.size + member.number) * loop.chunk;
    to = std::min(from + loop.chunk, loop.count);
  }
  if (from >= to) return false;
  *first = loop.start + from * loop.step;
  *last = loop.start + to * loop.step;
  return true;
}

}  // namespace
}  // namespace drystone::cpu::omp

using namespace drystone::cpu::omp;

extern "C" {

void drystone_omp_set_threads(int count) { most = std::max(count, 1); }
int drystone_omp_threads(void) { return most; }
void drystone_omp_set_gang(int is_gang) { wants_gang = is_gang != 0; }
int drystone_omp_has_gang(int count) { return Gang::exists(count) ? 1 : 0; }
void drystone_omp_watch(int is_on) {
  is_watched = is_on != 0;
  drystone_omp_saw_invalid();
}
int drystone_omp_saw_invalid(void) {
  const bool by_this_thread = take_invalid();
  return std::exchange(saw_invalid, false) || by_this_thread ? 1 : 0;
}

// GNU's names, with one letter changed.
void DOMP_parallel_start(void (*function)(void*), void* data, unsigned threads) {
  begin(function, data, threads == 0 ? most : static_cast<int>(threads));
}
void DOMP_parallel_end(void) { end(); }
void DOMP_barrier(void) {
  if (member.size == 1) return;
  if (member.gang == nullptr) std::abort();  // never: primitives that have one get a gang
  member.gang->meet();
}
bool DOMP_loop_static_start(long start, long end, long step, long chunk, long* first, long* last) {
  const long span = step > 0 ? end - start : start - end;
  const long width = step > 0 ? step : -step;
  member.loop = {start, span > 0 ? (span + width - 1) / width : 0, step, std::max(chunk, 0L), 0};
  return next_piece(first, last);
}
bool DOMP_loop_static_next(long* first, long* last) { return next_piece(first, last); }
void DOMP_loop_end_nowait(void) {}

int dmp_get_max_threads(void) { return depth == 0 ? most : 1; }
int dmp_get_num_threads(void) { return member.size; }
int dmp_get_thread_num(void) { return member.number; }
int dmp_in_parallel(void) { return member.size > 1 ? 1 : 0; }

}  // extern "C"

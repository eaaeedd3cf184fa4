/* Timers: what two marks on a stream are apart. */
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "strict.h"

struct SP_Timer_st {
  uint64_t begin; /* nanoseconds */
  uint64_t end;
  atomic_bool has_begun, has_ended;
};

typedef struct Tick {
  Work work;
  SP_Timer timer;
} Tick;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void run_start(Work* work) {
  SP_Timer const timer = ((Tick*)work)->timer;
  timer->begin = now();
  atomic_store(&timer->has_begun, true);
}

static void run_stop(Work* work) {
  SP_Timer const timer = ((Tick*)work)->timer;
  if (!atomic_load(&timer->has_begun)) strict_fault("a timer is stopped before it has been started: something was not waited for");
  timer->end = now();
  atomic_store(&timer->has_ended, true);
}

static void end_tick(Work* work) { free(work); }

static void put(SP_Stream stream, SP_Timer timer, void (*run)(Work*), TF_Status* status) {
  Tick* const tick = calloc(1, sizeof *tick);
  *tick = (Tick){{run, end_tick}, timer};
  strict_enqueue(stream, "a timer", &tick->work, NULL, 0, status);
}

static void create_timer(const SP_Device* device, SP_Timer* timer, TF_Status* status) {
  (void)device;
  *timer = calloc(1, sizeof **timer);
  if (*timer == NULL) TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for a timer");
}

static void destroy_timer(const SP_Device* device, SP_Timer timer) {
  (void)device;
  free(timer);
}

static void start_timer(const SP_Device* device, SP_Stream stream, SP_Timer timer, TF_Status* status) {
  (void)device;
  atomic_store(&timer->has_begun, false);
  atomic_store(&timer->has_ended, false);
  put(stream, timer, run_start, status);
}

static void stop_timer(const SP_Device* device, SP_Stream stream, SP_Timer timer, TF_Status* status) {
  (void)device;
  put(stream, timer, run_stop, status);
}

static uint64_t nanoseconds(SP_Timer timer) {
  strict_count(STRICT_TIMERS);
  if (!atomic_load(&timer->has_ended)) strict_fault("a timer is read before it has been stopped: something was not waited for");
  return timer->end - timer->begin;
}

void strict_fill_timers(SP_StreamExecutor* executor, SP_TimerFns* functions) {
  if (functions != NULL) functions->nanoseconds = nanoseconds;
  if (executor == NULL) return;
  executor->create_timer = create_timer;
  executor->destroy_timer = destroy_timer;
  executor->start_timer = start_timer;
  executor->stop_timer = stop_timer;
}

/* A profiler whose registration and profile the test changes: AFTER_INIT holds statements at the
 * end of TF_InitProfiler, START and STOP those of the functions of these names, TYPE is its device
 * type, ASKED and WRITTEN are the sizes it states and writes. */
#include <string.h>

#include "drystone/profiler.h"

#ifndef AFTER_INIT
#define AFTER_INIT
#endif
#ifndef START
#define START (void)status
#endif
#ifndef STOP
#define STOP (void)status
#endif
#ifndef TYPE
#define TYPE "FAKE"
#endif
#ifndef ASKED
#define ASKED 0
#endif
#ifndef WRITTEN
#define WRITTEN 0
#endif

static void start(const TP_Profiler* profiler, TF_Status* status) {
  (void)profiler;
  START;
}

static void stop(const TP_Profiler* profiler, TF_Status* status) {
  (void)profiler;
  STOP;
}

static void collect(const TP_Profiler* profiler, uint8_t* buffer, size_t* size,
                    TF_Status* status) {
  (void)profiler, (void)status;
  *size = ASKED;
  for (size_t k = 0; buffer != NULL && k != WRITTEN; ++k) buffer[k] = 1;
}

static void destroy_profiler(TP_Profiler* profiler) { (void)profiler; }
static void destroy_profiler_fns(TP_ProfilerFns* fns) { (void)fns; }

void TF_InitProfiler(TF_ProfilerRegistrationParams* params, TF_Status* status) {
  (void)status;
  params->destroy_profiler = destroy_profiler;
  params->destroy_profiler_fns = destroy_profiler_fns;
  params->profiler->device_type = TYPE;
  params->profiler_fns->start = start;
  params->profiler_fns->stop = stop;
  params->profiler_fns->collect_data_xspace = collect;
  AFTER_INIT;
}

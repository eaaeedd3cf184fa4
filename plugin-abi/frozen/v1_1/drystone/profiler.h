/* drystone/profiler.h: what a device did and when, reported by its plugin.
 *
 * Entry symbol: TF_InitProfiler, called once. Names, members and sizes are those of TensorFlow's
 * pluggable profiler C API 0.0.1. Since 1.0.
 *
 * A profile is taken between start and stop; collect_data_xspace hands it over afterwards as a
 * serialised XSpace proto, whose bytes the host passes on without reading.
 *
 * Sizes: as in device.h. Each struct begins with struct_size, preset by the host and overwritten by
 * the plugin; members beyond it count as null; zero is an error.
 * Statuses: the last argument is fresh and OK; set it on failure.
 * Threads: the host never calls two functions of one profiler at once, but start and stop may come
 * on different threads than the work that is profiled.
 * Cost: nothing between stop and start. A plugin that has a profiler must be as fast as one without
 * while no profile is taken.
 */
#ifndef DRYSTONE_PROFILER_H_
#define DRYSTONE_PROFILER_H_

#include <stddef.h>
#include <stdint.h>

#include "drystone/macros.h"
#include "drystone/status.h"

/* Version of this interface. A host refuses another major version; minor and patch are recorded. */
#define TP_MAJOR 0
#define TP_MINOR 0
#define TP_PATCH 1

#ifdef __cplusplus
extern "C" {
#endif

/* The profiler itself. */
typedef struct TP_Profiler {
  size_t struct_size;
  void* ext;               /* the plugin's */
  const char* device_type; /* required: the type of the devices it observes, as in SP_Platform.type;
                            * the plugin's until destroy_profiler */
} TP_Profiler;
#define TP_PROFILER_STRUCT_SIZE TF_OFFSET_OF_END(TP_Profiler, device_type)

/* Its functions; all are required. */
typedef struct TP_ProfilerFns {
  size_t struct_size;
  void* ext; /* reserved */
  /* Begin, end. Start during a profile is FAILED_PRECONDITION, and so is stop outside of one. */
  void (*start)(const TP_Profiler* profiler, TF_Status* status);
  void (*stop)(const TP_Profiler* profiler, TF_Status* status);
  /* The finished profile, in two calls. With buffer NULL: set *size_in_bytes to the bytes needed.
   * With a buffer of *size_in_bytes bytes: write them and set *size_in_bytes to what was written; a
   * buffer that is too small is INVALID_ARGUMENT. The plugin keeps the data until the second call
   * has succeeded. */
  void (*collect_data_xspace)(const TP_Profiler* profiler, uint8_t* buffer, size_t* size_in_bytes,
                              TF_Status* status);
} TP_ProfilerFns;
#define TP_PROFILER_FNS_STRUCT_SIZE TF_OFFSET_OF_END(TP_ProfilerFns, collect_data_xspace)

/* Argument of TF_InitProfiler. All pointers to structs are the host's; the plugin fills the structs
 * in and does not replace the pointers. */
typedef struct TF_ProfilerRegistrationParams {
  size_t struct_size;
  void* ext;             /* reserved */
  int32_t major_version; /* preset to the host's TP_MAJOR ...; the plugin writes its own */
  int32_t minor_version;
  int32_t patch_version;
  TP_Profiler* profiler;
  TP_ProfilerFns* profiler_fns;
  /* Required; called when the host is done with the profiler, if ever: libraries stay loaded. They
   * free what `ext` holds, never the struct itself. */
  void (*destroy_profiler)(TP_Profiler* profiler);
  void (*destroy_profiler_fns)(TP_ProfilerFns* profiler_fns);
} TF_ProfilerRegistrationParams;
#define TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE \
  TF_OFFSET_OF_END(TF_ProfilerRegistrationParams, destroy_profiler_fns)

/* Entry symbol, exported by the plugin. A status other than OK refuses the profiler. One profiler a
 * device type: a second is an error. */
TF_CAPI_EXPORT void TF_InitProfiler(TF_ProfilerRegistrationParams* params, TF_Status* status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_PROFILER_H_ */

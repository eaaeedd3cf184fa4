/* The profiler of the fake device: it tells when the profile began and how long it took.
 *
 * The profile is a serialised XSpace with one plane, named after the device type, one line in it
 * and one event on the line. Protos are simple enough to write by hand; a plugin with more to tell
 * links a protobuf library of its own, which stays hidden inside it.
 */
#include <string.h>
#include <time.h>

#include "drystone/profiler.h"
#include "fake_device.h"

enum { kMost = 256 };
static uint8_t profile[kMost];
static size_t profile_size;
static uint64_t started; /* nanoseconds; 0: not running */

static uint64_t now(void) {
  struct timespec time;
  timespec_get(&time, TIME_UTC);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Each appends one field at `out` and gives the end. */
static uint8_t* put_varint(uint8_t* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *out++ = (uint8_t)(value | 0x80);
  *out++ = (uint8_t)value;
  return out;
}

static uint8_t* put_number(uint8_t* out, unsigned field, uint64_t value) {
  return put_varint(put_varint(out, field << 3), value);
}

static uint8_t* put_bytes(uint8_t* out, unsigned field, const void* bytes, size_t size) {
  out = put_varint(put_varint(out, field << 3 | 2), size);
  memcpy(out, bytes, size);
  return out + size;
}

/* XSpace{planes: {name, lines: {name, timestamp_ns, events: {metadata_id, duration_ps}}}} */
static void write_profile(uint64_t begin, uint64_t end) {
  uint8_t event[kMost / 4], line[kMost / 2], plane[kMost];
  uint8_t* out = put_number(event, 1, 1);
  out = put_number(out, 3, (end - begin) * 1000);
  const size_t event_size = (size_t)(out - event);
  out = put_bytes(line, 2, "profile", strlen("profile"));
  out = put_number(out, 3, begin);
  out = put_bytes(out, 4, event, event_size);
  const size_t line_size = (size_t)(out - line);
  out = put_bytes(plane, 2, "/device:" FAKE_DEVICE_TYPE, strlen("/device:" FAKE_DEVICE_TYPE));
  out = put_bytes(out, 3, line, line_size);
  profile_size = (size_t)(put_bytes(profile, 1, plane, (size_t)(out - plane)) - profile);
}

static void start(const TP_Profiler* profiler, TF_Status* status) {
  (void)profiler;
  if (started != 0) {
    TF_SetStatus(status, TF_FAILED_PRECONDITION, "a profile is being taken");
    return;
  }
  started = now();
}

static void stop(const TP_Profiler* profiler, TF_Status* status) {
  (void)profiler;
  if (started == 0) {
    TF_SetStatus(status, TF_FAILED_PRECONDITION, "no profile is being taken");
    return;
  }
  write_profile(started, now());
  started = 0;
}

static void collect(const TP_Profiler* profiler, uint8_t* buffer, size_t* size,
                    TF_Status* status) {
  (void)profiler;
  if (buffer == NULL) {
    *size = profile_size;
  } else if (*size < profile_size) {
    TF_SetStatus(status, TF_INVALID_ARGUMENT, "the buffer is smaller than the profile");
  } else {
    memcpy(buffer, profile, profile_size);
    *size = profile_size;
  }
}

static void destroy_profiler(TP_Profiler* profiler) { (void)profiler; }

static void destroy_profiler_fns(TP_ProfilerFns* fns) { (void)fns; }

void TF_InitProfiler(TF_ProfilerRegistrationParams* params, TF_Status* status) {
  (void)status;
  params->struct_size = TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->major_version = TP_MAJOR;
  params->minor_version = TP_MINOR;
  params->patch_version = TP_PATCH;
  params->destroy_profiler = destroy_profiler;
  params->destroy_profiler_fns = destroy_profiler_fns;
  fill_in(params->profiler, &(TP_Profiler){.struct_size = TP_PROFILER_STRUCT_SIZE,
                                           .device_type = FAKE_DEVICE_TYPE});
  fill_in(params->profiler_fns, &(TP_ProfilerFns){.struct_size = TP_PROFILER_FNS_STRUCT_SIZE,
                                                  .start = start,
                                                  .stop = stop,
                                                  .collect_data_xspace = collect});
}

/* The platform of the strict device: registration, memory and copies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drystone/platform_strings.h"
#include "strict.h"

TF_PLATFORM_STRINGS()

enum { kUnset = 0xFF };

static void allocate(const SP_Device* device, uint64_t size, int64_t memory_space, SP_DeviceMemoryBase* memory) {
  (void)memory_space;
  memory->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  strict_allocate(device->ordinal, size, memory);
}

static void deallocate(const SP_Device* device, SP_DeviceMemoryBase* memory) { strict_free(device->ordinal, memory); }

static void* allocate_host(const SP_Device* device, uint64_t size) {
  (void)device;
  return malloc(size == 0 ? 1 : size);
}

static void free_host(const SP_Device* device, void* memory) {
  (void)device;
  free(memory);
}

static TF_Bool get_allocator_stats(const SP_Device* device, SP_AllocatorStats* stats) {
  strict_usage(device->ordinal, stats);
  return 1;
}

static TF_Bool device_memory_usage(const SP_Device* device, int64_t* unused, int64_t* total) {
  SP_AllocatorStats stats;
  strict_usage(device->ordinal, &stats);
  *total = stats.bytes_limit;
  *unused = stats.bytes_limit - stats.bytes_in_use;
  return 1;
}

/* ---- copies ---- */

typedef struct Copy {
  Work work;
  void* to;
  const void* from;
  uint64_t size;
  uint64_t print; /* of host memory when the copy was enqueued */
} Copy;

/* A number that tells other bytes from these. */
static uint64_t print_of(const void* bytes, uint64_t size) {
  const unsigned char* const at = bytes;
  uint64_t sum = 1469598103934665603u;
  for (uint64_t k = 0; k < size; ++k) sum = (sum ^ at[k]) * 1099511628211u;
  return sum;
}

static void run_in(Work* work) {
  const Copy* const self = (Copy*)work;
  if (print_of(self->from, self->size) != self->print) {
    strict_fault("host memory has changed before the copy of it to the device was done: something was not waited for");
  }
  memcpy(strict_real(self->to), self->from, self->size);
}

static void run_out(Work* work) {
  const Copy* const self = (Copy*)work;
  if (print_of(self->to, self->size) != self->print) {
    strict_fault("host memory was written before the copy to it was done: something was not waited for");
  }
  memcpy(self->to, strict_real(self->from), self->size);
}

static void run_on(Work* work) {
  const Copy* const self = (Copy*)work;
  memmove(strict_real(self->to), strict_real(self->from), self->size);
}

static void end_copy(Work* work) { free(work); }

static Copy* new_copy(void (*run)(Work*), void* to, const void* from, uint64_t size) {
  Copy* const copy = calloc(1, sizeof *copy);
  if (copy != NULL) *copy = (Copy){{run, end_copy}, to, from, size, 0};
  return copy;
}

static void copy_in(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* to, const void* from, uint64_t size,
                    TF_Status* status) {
  (void)device;
  const Range range = {to->opaque, size, true, NULL};
  Copy* const copy = new_copy(run_in, to->opaque, from, size);
  copy->print = print_of(from, size);
  strict_count(STRICT_COPIES_IN);
  strict_begin_call(stream, "memcpy_htod");
  strict_enqueue(stream, "a copy", &copy->work, &range, 1, status);
  strict_end_call(stream);
}

/* Until it is done there is nothing of use where it copies to. */
static void copy_out(const SP_Device* device, SP_Stream stream, void* to, const SP_DeviceMemoryBase* from, uint64_t size,
                     TF_Status* status) {
  (void)device;
  const Range range = {from->opaque, size, false, NULL};
  Copy* const copy = new_copy(run_out, to, from->opaque, size);
  memset(to, kUnset, size);
  copy->print = print_of(to, size);
  strict_count(STRICT_COPIES_OUT);
  strict_begin_call(stream, "memcpy_dtoh");
  strict_enqueue(stream, "a copy", &copy->work, &range, 1, status);
  strict_end_call(stream);
}

static void copy_on(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* to, const SP_DeviceMemoryBase* from,
                    uint64_t size, TF_Status* status) {
  (void)device;
  const Range ranges[] = {{to->opaque, size, true, NULL}, {from->opaque, size, false, NULL}};
  Copy* const copy = new_copy(run_on, to->opaque, from->opaque, size);
  strict_begin_call(stream, "memcpy_dtod");
  strict_enqueue(stream, "a copy", &copy->work, ranges, 2, status);
  strict_end_call(stream);
}

/* Copies that wait for no stream: they are done as if on one of their own. */
static void at_once(const SP_Device* device, Copy* copy, Range* ranges, int count, TF_Status* status) {
  if (strict_claim(device->ordinal, "a copy", ranges, count)) {
    Clock before;
    strict_host_clock(device->ordinal, &before);
    const Moment moment = {&before, -1, 0};
    const char* wrong = strict_before(ranges, count, &moment);
    if (wrong == NULL) copy->work.run(&copy->work);
    const char* const after = strict_after(ranges, count, &moment);
    if (wrong == NULL) wrong = after;
    if (wrong != NULL) strict_fault("a copy that waits for no stream: %s", wrong);
    if (wrong != NULL) TF_SetStatus(status, TF_INTERNAL, wrong);
  } else {
    TF_SetStatus(status, TF_INTERNAL, "it is given what is no memory of the device");
  }
  free(copy);
}

static void sync_out(const SP_Device* device, void* to, const SP_DeviceMemoryBase* from, uint64_t size, TF_Status* status) {
  Range range = {from->opaque, size, false, NULL};
  Copy* const copy = new_copy(run_out, to, from->opaque, size);
  copy->print = print_of(to, size);
  at_once(device, copy, &range, 1, status);
}

static void sync_in(const SP_Device* device, SP_DeviceMemoryBase* to, const void* from, uint64_t size, TF_Status* status) {
  Range range = {to->opaque, size, true, NULL};
  Copy* const copy = new_copy(run_in, to->opaque, from, size);
  copy->print = print_of(from, size);
  at_once(device, copy, &range, 1, status);
}

static void sync_on(const SP_Device* device, SP_DeviceMemoryBase* to, const SP_DeviceMemoryBase* from, uint64_t size,
                    TF_Status* status) {
  Range ranges[] = {{to->opaque, size, true, NULL}, {from->opaque, size, false, NULL}};
  at_once(device, new_copy(run_on, to->opaque, from->opaque, size), ranges, 2, status);
}

/* ---- fills ---- */

typedef struct Fill {
  Work work;
  void* to;
  uint64_t size;
  uint32_t pattern;
} Fill;

static void run_fill(Work* work) {
  const Fill* const self = (Fill*)work;
  char* const to = strict_real(self->to);
  for (uint64_t k = 0; k < self->size; ++k) to[k] = (char)(self->pattern >> (8 * (k % 4)));
}

static void fill32(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* memory, uint32_t pattern, uint64_t size,
                   TF_Status* status) {
  (void)device;
  const Range range = {memory->opaque, size, true, NULL};
  Fill* const fill = calloc(1, sizeof *fill);
  *fill = (Fill){{run_fill, end_copy}, memory->opaque, size, pattern};
  strict_enqueue(stream, "a fill", &fill->work, &range, 1, status);
}

static void fill8(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* memory, uint8_t pattern, uint64_t size,
                  TF_Status* status) {
  fill32(device, stream, memory, pattern * 0x01010101u, size, status);
}

static void fill_zero(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* memory, uint64_t size, TF_Status* status) {
  fill32(device, stream, memory, 0, size, status);
}

/* ---- the platform ---- */

/* Both begin with their size; a host older than these headers gets only what it has room for. */
static void fill_in(void* given, const void* made) {
  size_t room, size;
  memcpy(&room, given, sizeof room);
  memcpy(&size, made, sizeof size);
  memcpy(given, made, room < size ? room : size);
}

static void get_device_count(const SP_Platform* platform, int* count, TF_Status* status) {
  (void)platform;
  if (strict_refuses("get_device_count")) strict_refuse(status);
  *count = kStrictDevices;
}

static void create_device(const SP_Platform* platform, SE_CreateDeviceParams* params, TF_Status* status) {
  (void)platform;
  if (strict_refuses("create_device")) return strict_refuse(status);
  strict_open_memory(params->ordinal);
  strict_open_streams(params->ordinal);
  fill_in(params->device, &(SP_Device){.struct_size = SP_DEVICE_STRUCT_SIZE,
                                       .ordinal = params->ordinal,
                                       .hardware_name = "strict device",
                                       .device_vendor = "drystone"});
}

static void destroy_device(const SP_Platform* platform, SP_Device* device) { (void)platform, (void)device; }

static void create_device_fns(const SP_Platform* platform, SE_CreateDeviceFnsParams* params, TF_Status* status) {
  (void)platform, (void)status;
  fill_in(params->device_fns, &(SP_DeviceFns){.struct_size = SP_DEVICE_FNS_STRUCT_SIZE});
}

static void destroy_device_fns(const SP_Platform* platform, SP_DeviceFns* fns) { (void)platform, (void)fns; }

static void create_stream_executor(const SP_Platform* platform, SE_CreateStreamExecutorParams* params, TF_Status* status) {
  (void)platform;
  if (strict_refuses("create_stream_executor")) strict_refuse(status);
  SP_StreamExecutor made = {.struct_size = SP_STREAMEXECUTOR_STRUCT_SIZE,
                            .allocate = allocate,
                            .deallocate = deallocate,
                            .host_memory_allocate = allocate_host,
                            .host_memory_deallocate = free_host,
                            .get_allocator_stats = get_allocator_stats,
                            .device_memory_usage = device_memory_usage,
                            .memcpy_dtoh = copy_out,
                            .memcpy_htod = copy_in,
                            .memcpy_dtod = copy_on,
                            .sync_memcpy_dtoh = sync_out,
                            .sync_memcpy_htod = sync_in,
                            .sync_memcpy_dtod = sync_on,
                            .mem_zero = fill_zero,
                            .memset = fill8,
                            .memset32 = fill32};
  strict_fill_streams(&made);
  strict_fill_timers(&made, NULL);
  strict_fill_refusals(&made);
  fill_in(params->stream_executor, &made);
}

static void destroy_stream_executor(const SP_Platform* platform, SP_StreamExecutor* executor) {
  (void)platform, (void)executor;
}

static void create_timer_fns(const SP_Platform* platform, SP_TimerFns* timer, TF_Status* status) {
  (void)platform, (void)status;
  SP_TimerFns made = {.struct_size = SP_TIMER_FNS_STRUCT_SIZE};
  strict_fill_timers(NULL, &made);
  fill_in(timer, &made);
}

static void destroy_timer_fns(const SP_Platform* platform, SP_TimerFns* timer) { (void)platform, (void)timer; }

static void destroy_platform(SP_Platform* platform) { (void)platform; }

static void destroy_platform_fns(SP_PlatformFns* fns) { (void)fns; }

void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status* status) {
  (void)status;
  params->struct_size = SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->major_version = SE_MAJOR;
  params->minor_version = SE_MINOR;
  params->patch_version = SE_PATCH;
  params->destroy_platform = destroy_platform;
  params->destroy_platform_fns = destroy_platform_fns;
  fill_in(params->platform,
          &(SP_Platform){.struct_size = SP_PLATFORM_STRUCT_SIZE,
                         .name = "STRICT_PLATFORM",
                         .type = STRICT_TYPE,
                         .use_bfc_allocator = strict_divides()});
  fill_in(params->platform_fns, &(SP_PlatformFns){.struct_size = SP_PLATFORM_FNS_STRUCT_SIZE,
                                                  .get_device_count = get_device_count,
                                                  .create_device = create_device,
                                                  .destroy_device = destroy_device,
                                                  .create_device_fns = create_device_fns,
                                                  .destroy_device_fns = destroy_device_fns,
                                                  .create_stream_executor = create_stream_executor,
                                                  .destroy_stream_executor = destroy_stream_executor,
                                                  .create_timer_fns = create_timer_fns,
                                                  .destroy_timer_fns = destroy_timer_fns});
}

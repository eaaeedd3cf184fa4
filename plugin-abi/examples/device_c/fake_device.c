/* A device plugin in C: "devices" whose memory is the host's and whose streams do their work at
 * once.
 *
 * It shows every function a device needs, and stands in for hardware in tests. The environment
 * variable FAKE_DEVICES says how many devices there are (0 to 8, 2 when unset); each has
 * 16 MiB. The kernels of the same library are in fake_kernels.c, its profiler in fake_profiler.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

#include "drystone/device.h"
#include "drystone/platform_strings.h"
#include "fake_device.h"

TF_PLATFORM_STRINGS()

enum { kMostDevices = 8, kNameSize = 32 };
static const int64_t kMemory = 16 << 20;

/* What SP_Device.device_handle points to. */
typedef struct FakeDevice {
  mtx_t mutex; /* guards the figures */
  int64_t num_allocs;
  int64_t in_use;
  int64_t peak;
  int64_t largest;
  char name[kNameSize];
  char bus[kNameSize];
} FakeDevice;

struct SP_Stream_st {
  TF_Code code; /* of the first callback that failed, TF_OK when none did */
  char message[256];
};

struct SP_Event_st {
  SE_EventStatus status;
};

struct SP_Timer_st {
  uint64_t started;
  uint64_t stopped;
};

static uint64_t now(void) {
  struct timespec time;
  timespec_get(&time, TIME_UTC);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static FakeDevice* fake(const SP_Device* device) { return device->device_handle; }

/* ---- memory ---- */

static void allocate(const SP_Device* device, uint64_t size, int64_t memory_space,
                     SP_DeviceMemoryBase* memory) {
  (void)memory_space;
  FakeDevice* const self = fake(device);
  mtx_lock(&self->mutex);
  const int64_t bytes = size > (uint64_t)kMemory ? kMemory + 1 : (int64_t)size;
  if (self->in_use + bytes <= kMemory) memory->opaque = malloc(size == 0 ? 1 : size);
  if (memory->opaque != NULL) {
    memory->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
    memory->size = size;
    self->num_allocs += 1;
    self->in_use += bytes;
    if (self->in_use > self->peak) self->peak = self->in_use;
    if (bytes > self->largest) self->largest = bytes;
  }
  mtx_unlock(&self->mutex);
}

static void deallocate(const SP_Device* device, SP_DeviceMemoryBase* memory) {
  FakeDevice* const self = fake(device);
  mtx_lock(&self->mutex);
  self->in_use -= (int64_t)memory->size;
  mtx_unlock(&self->mutex);
  free(memory->opaque);
  memory->opaque = NULL;
  memory->size = 0;
}

static void* allocate_host(const SP_Device* device, uint64_t size) {
  (void)device;
  return malloc(size == 0 ? 1 : size);
}

static void free_host(const SP_Device* device, void* memory) {
  (void)device;
  free(memory);
}

static TF_Bool get_allocator_stats(const SP_Device* device, SP_AllocatorStats* stats) {
  FakeDevice* const self = fake(device);
  stats->struct_size = SP_ALLOCATORSTATS_STRUCT_SIZE;
  mtx_lock(&self->mutex);
  stats->num_allocs = self->num_allocs;
  stats->bytes_in_use = self->in_use;
  stats->peak_bytes_in_use = self->peak;
  stats->largest_alloc_size = self->largest;
  stats->has_bytes_limit = 1;
  stats->bytes_limit = kMemory;
  stats->largest_free_block_bytes = kMemory - self->in_use;
  mtx_unlock(&self->mutex);
  return 1;
}

static TF_Bool device_memory_usage(const SP_Device* device, int64_t* unused, int64_t* total) {
  FakeDevice* const self = fake(device);
  mtx_lock(&self->mutex);
  *unused = kMemory - self->in_use;
  mtx_unlock(&self->mutex);
  *total = kMemory;
  return 1;
}

/* ---- copies and fills: done when they are enqueued ---- */

static void copy_dtoh(const SP_Device* device, void* to, const SP_DeviceMemoryBase* from,
                      uint64_t size, TF_Status* status) {
  (void)device, (void)status;
  memcpy(to, from->opaque, size);
}

static void copy_htod(const SP_Device* device, SP_DeviceMemoryBase* to, const void* from,
                      uint64_t size, TF_Status* status) {
  (void)device, (void)status;
  memcpy(to->opaque, from, size);
}

static void copy_dtod(const SP_Device* device, SP_DeviceMemoryBase* to,
                      const SP_DeviceMemoryBase* from, uint64_t size, TF_Status* status) {
  (void)device, (void)status;
  memmove(to->opaque, from->opaque, size);
}

static void enqueue_dtoh(const SP_Device* device, SP_Stream stream, void* to,
                         const SP_DeviceMemoryBase* from, uint64_t size, TF_Status* status) {
  (void)stream;
  copy_dtoh(device, to, from, size, status);
}

static void enqueue_htod(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* to,
                         const void* from, uint64_t size, TF_Status* status) {
  (void)stream;
  copy_htod(device, to, from, size, status);
}

static void enqueue_dtod(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* to,
                         const SP_DeviceMemoryBase* from, uint64_t size, TF_Status* status) {
  (void)stream;
  copy_dtod(device, to, from, size, status);
}

static void fill_zero(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* memory,
                      uint64_t size, TF_Status* status) {
  (void)device, (void)stream, (void)status;
  memset(memory->opaque, 0, size);
}

static void fill(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* memory,
                 uint8_t pattern, uint64_t size, TF_Status* status) {
  (void)device, (void)stream, (void)status;
  memset(memory->opaque, pattern, size);
}

static void fill32(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* memory,
                   uint32_t pattern, uint64_t size, TF_Status* status) {
  (void)device, (void)stream, (void)status;
  for (uint64_t k = 0; k + sizeof pattern <= size; k += sizeof pattern) {
    memcpy((char*)memory->opaque + k, &pattern, sizeof pattern);
  }
}

/* ---- streams ---- */

static void create_stream(const SP_Device* device, SP_Stream* stream, TF_Status* status) {
  (void)device;
  *stream = calloc(1, sizeof **stream);
  if (*stream == NULL) TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for a stream");
}

static void destroy_stream(const SP_Device* device, SP_Stream stream) {
  (void)device;
  free(stream);
}

/* Work is done when it is enqueued, so nothing is left to wait for. */
static void create_stream_dependency(const SP_Device* device, SP_Stream dependent, SP_Stream other,
                                     TF_Status* status) {
  (void)device, (void)dependent, (void)other, (void)status;
}

static void get_stream_status(const SP_Device* device, SP_Stream stream, TF_Status* status) {
  (void)device;
  TF_SetStatus(status, stream->code, stream->message);
}

static void block_host_until_done(const SP_Device* device, SP_Stream stream, TF_Status* status) {
  get_stream_status(device, stream, status);
}

static void synchronize_all_activity(const SP_Device* device, TF_Status* status) {
  (void)device, (void)status;
}

static TF_Bool host_callback(const SP_Device* device, SP_Stream stream,
                             SE_StatusCallbackFn function, void* argument) {
  (void)device;
  TF_Status* const status = TF_NewStatus();
  if (status == NULL) return 0;
  function(argument, status);
  if (stream->code == TF_OK && TF_GetCode(status) != TF_OK) {
    stream->code = TF_GetCode(status);
    snprintf(stream->message, sizeof stream->message, "%s", TF_Message(status));
  }
  TF_DeleteStatus(status);
  return 1;
}

/* ---- events and timers ---- */

static void create_event(const SP_Device* device, SP_Event* event, TF_Status* status) {
  (void)device;
  *event = calloc(1, sizeof **event);
  if (*event == NULL) TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for an event");
}

static void destroy_event(const SP_Device* device, SP_Event event) {
  (void)device;
  free(event);
}

static SE_EventStatus get_event_status(const SP_Device* device, SP_Event event) {
  (void)device;
  return event->status;
}

static void record_event(const SP_Device* device, SP_Stream stream, SP_Event event,
                         TF_Status* status) {
  (void)device, (void)status;
  event->status = stream->code == TF_OK ? SE_EVENT_COMPLETE : SE_EVENT_ERROR;
}

static void wait_for_event(const SP_Device* const device, SP_Stream stream, SP_Event event,
                           TF_Status* const status) {
  (void)device, (void)stream, (void)event, (void)status;
}

static void block_host_for_event(const SP_Device* device, SP_Event event, TF_Status* status) {
  (void)device;
  if (event->status == SE_EVENT_UNKNOWN) {
    TF_SetStatus(status, TF_FAILED_PRECONDITION, "the event was never recorded");
  }
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

static void start_timer(const SP_Device* device, SP_Stream stream, SP_Timer timer,
                        TF_Status* status) {
  (void)device, (void)stream, (void)status;
  timer->started = now();
}

static void stop_timer(const SP_Device* device, SP_Stream stream, SP_Timer timer,
                       TF_Status* status) {
  (void)device, (void)stream, (void)status;
  timer->stopped = now();
}

static uint64_t nanoseconds(SP_Timer timer) {
  return timer->stopped > timer->started ? timer->stopped - timer->started : 0;
}

/* ---- the platform ---- */

static void get_device_count(const SP_Platform* platform, int* count, TF_Status* status) {
  (void)platform, (void)status;
  const char* const text = getenv("FAKE_DEVICES");
  const long wanted = text == NULL ? 2 : strtol(text, NULL, 10);
  *count = wanted < 0 ? 0 : wanted > kMostDevices ? kMostDevices : (int)wanted;
}

static void create_device(const SP_Platform* platform, SE_CreateDeviceParams* params,
                          TF_Status* status) {
  (void)platform;
  FakeDevice* const self = calloc(1, sizeof *self);
  if (self == NULL || mtx_init(&self->mutex, mtx_plain) != thrd_success) {
    free(self);
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for a device");
    return;
  }
  snprintf(self->name, sizeof self->name, "Fake %d", (int)params->ordinal);
  snprintf(self->bus, sizeof self->bus, "0000:%02x:00.0", (unsigned)params->ordinal);
  fill_in(params->device, &(SP_Device){.struct_size = SP_DEVICE_STRUCT_SIZE,
                                       .ordinal = params->ordinal,
                                       .device_handle = self,
                                       .hardware_name = self->name,
                                       .device_vendor = "drystone examples",
                                       .pci_bus_id = self->bus});
}

static void destroy_device(const SP_Platform* platform, SP_Device* device) {
  (void)platform;
  mtx_destroy(&fake(device)->mutex);
  free(device->device_handle);
  device->device_handle = NULL;
}

static int32_t get_numa_node(const SP_Device* device) { return device->ordinal % 2; }

static void create_device_fns(const SP_Platform* platform, SE_CreateDeviceFnsParams* params,
                              TF_Status* status) {
  (void)platform, (void)status;
  /* Bandwidth and speed are left null: unknown. */
  fill_in(params->device_fns, &(SP_DeviceFns){.struct_size = SP_DEVICE_FNS_STRUCT_SIZE,
                                              .get_numa_node = get_numa_node});
}

static void destroy_device_fns(const SP_Platform* platform, SP_DeviceFns* fns) {
  (void)platform, (void)fns;
}

static const SP_StreamExecutor kExecutor = {
    .struct_size = SP_STREAMEXECUTOR_STRUCT_SIZE,
    .allocate = allocate,
    .deallocate = deallocate,
    .host_memory_allocate = allocate_host,
    .host_memory_deallocate = free_host,
    .unified_memory_allocate = allocate_host,
    .unified_memory_deallocate = free_host,
    .get_allocator_stats = get_allocator_stats,
    .device_memory_usage = device_memory_usage,
    .create_stream = create_stream,
    .destroy_stream = destroy_stream,
    .create_stream_dependency = create_stream_dependency,
    .get_stream_status = get_stream_status,
    .create_event = create_event,
    .destroy_event = destroy_event,
    .get_event_status = get_event_status,
    .record_event = record_event,
    .wait_for_event = wait_for_event,
    .create_timer = create_timer,
    .destroy_timer = destroy_timer,
    .start_timer = start_timer,
    .stop_timer = stop_timer,
    .memcpy_dtoh = enqueue_dtoh,
    .memcpy_htod = enqueue_htod,
    .memcpy_dtod = enqueue_dtod,
    .sync_memcpy_dtoh = copy_dtoh,
    .sync_memcpy_htod = copy_htod,
    .sync_memcpy_dtod = copy_dtod,
    .block_host_for_event = block_host_for_event,
    .block_host_until_done = block_host_until_done,
    .synchronize_all_activity = synchronize_all_activity,
    .mem_zero = fill_zero,
    .memset = fill,
    .memset32 = fill32,
    .host_callback = host_callback,
};

static void create_stream_executor(const SP_Platform* platform,
                                   SE_CreateStreamExecutorParams* params, TF_Status* status) {
  (void)platform, (void)status;
  fill_in(params->stream_executor, &kExecutor);
}

static void destroy_stream_executor(const SP_Platform* platform, SP_StreamExecutor* executor) {
  (void)platform, (void)executor;
}

static void create_timer_fns(const SP_Platform* platform, SP_TimerFns* fns, TF_Status* status) {
  (void)platform, (void)status;
  fill_in(fns, &(SP_TimerFns){.struct_size = SP_TIMER_FNS_STRUCT_SIZE, .nanoseconds = nanoseconds});
}

static void destroy_timer_fns(const SP_Platform* platform, SP_TimerFns* fns) {
  (void)platform, (void)fns;
}

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
  fill_in(params->platform, &(SP_Platform){.struct_size = SP_PLATFORM_STRUCT_SIZE,
                                           .name = "FAKE_PLATFORM",
                                           .type = FAKE_DEVICE_TYPE,
                                           .supports_unified_memory = 1});
  fill_in(params->platform_fns,
          &(SP_PlatformFns){.struct_size = SP_PLATFORM_FNS_STRUCT_SIZE,
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

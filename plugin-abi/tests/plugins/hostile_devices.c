/* The fake device and its kernels, as devices of another type, that do wrong one by one: zoo_choose() says what. */
#define SE_InitPlugin fake_init
#define FAKE_DEVICE_H_
#define FAKE_DEVICE_TYPE "ZOO_DEVICE"
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
static inline void fill_in(void* given, const void* made) {
  size_t size;
  memcpy(&size, made, sizeof size);
  memcpy(given, made, size);
}
#include "../../examples/device_c/fake_device.c"
#include "../../examples/device_c/fake_kernels.c"
#undef SE_InitPlugin

enum {
  kGood,
  kCountShrinks,
  kCountCrashes,
  kCountHangs,
  kFnsFail,
  kShortTable,
  kFailsWithEscapes,
  kNameNowhere,
  kSpeedIsNone,
  kUsageNegative,
  kUsageTooMuch,
  kStatsNegative,
  kStatsHuge,
  kBlockTooSmall,
  kBlockTwice,
  kBlockWritesPast,
  kBlockCrooked,
  kBlockNone,
  kBlockCrashes,
  kHostNowhere,
  kHostNone,
  kEventInNoState,
  kEventsPend,
  kStreamNone,
  kStreamLost,
  kEventNone,
  kCopyInFails,
  kCopyOutFails,
  kCallbackRefused,
  kWaitCrashes,
  kWaitHangs,
  kTableEmptied,
  kDestroyCrashes,
};

static int chosen = kGood, devices_alive, fns_alive;
static void* last_block;
static SP_StreamExecutor* table; /* the host's, which it gave to be filled in */
static volatile int* const nowhere = (volatile int*)0x10;

TF_CAPI_EXPORT void zoo_choose(int what);
TF_CAPI_EXPORT int zoo_alive(void);

void zoo_choose(int what) {
  chosen = what;
  if (what == kTableEmptied && table != NULL) table->memcpy_htod = NULL;
}

int zoo_alive(void) { return devices_alive + fns_alive; }

static void hang(void) {
  for (int k = 0; k < 90; ++k) sleep(1);
}

static void refuse(TF_Status* status, const char* text) { TF_SetStatus(status, TF_DATA_LOSS, text); }

static void zoo_count(const SP_Platform* platform, int* count, TF_Status* status) {
  (void)platform, (void)status;
  if (chosen == kCountCrashes) *nowhere = 1;
  if (chosen == kCountHangs) hang();
  *count = chosen == kCountShrinks ? 0 : 64;
}

static void zoo_device(const SP_Platform* platform, SE_CreateDeviceParams* params, TF_Status* status) {
  if (chosen == kFailsWithEscapes) return refuse(status, "\x1b[2J\x1b]0;gone\x07 broken");
  create_device(platform, params, status);
  ++devices_alive;
  if (chosen == kNameNowhere) params->device->hardware_name = (const char*)nowhere;
}

static void zoo_destroy_device(const SP_Platform* platform, SP_Device* device) {
  if (chosen == kDestroyCrashes) *nowhere = 1;
  --devices_alive;
  destroy_device(platform, device);
}

static double zoo_gflops(const SP_Device* device) {
  (void)device;
  return chosen == kSpeedIsNone ? (double)NAN : 1;
}

static void zoo_fns(const SP_Platform* platform, SE_CreateDeviceFnsParams* params, TF_Status* status) {
  if (chosen == kFnsFail) return refuse(status, "no facts");
  create_device_fns(platform, params, status);
  params->device_fns->get_gflops = zoo_gflops;
  ++fns_alive;
}

static void zoo_destroy_fns(const SP_Platform* platform, SP_DeviceFns* fns) {
  --fns_alive;
  destroy_device_fns(platform, fns);
}

static void zoo_allocate(const SP_Device* device, uint64_t size, int64_t space, SP_DeviceMemoryBase* memory) {
  if (chosen == kBlockCrashes) *nowhere = 1;
  if (chosen == kBlockNone) return;
  if (chosen == kBlockTwice && last_block != NULL) {
    memory->opaque = last_block;
    return;
  }
  allocate(device, size + 64, space, memory);
  last_block = memory->opaque;
  memory->size = chosen == kBlockTooSmall ? 1 : size;
  if (chosen == kBlockCrooked) memory->opaque = (char*)memory->opaque + 3;
  if (chosen == kBlockWritesPast) memset((char*)memory + sizeof *memory + 256, 7, 8);
}

/* Blocks are not given back to malloc: some are not at their beginning. */
static void zoo_deallocate(const SP_Device* device, SP_DeviceMemoryBase* memory) {
  (void)device;
  if (memory->opaque == last_block) last_block = NULL;
  memory->opaque = NULL;
}

static void zoo_stream(const SP_Device* device, SP_Stream* stream, TF_Status* status) {
  if (chosen == kStreamNone) return refuse(status, "no stream is left");
  create_stream(device, stream, status);
}

static void zoo_copy_in(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* to, const void* from,
                        uint64_t size, TF_Status* status) {
  if (chosen == kCopyInFails) return refuse(status, "the bus is down");
  enqueue_htod(device, stream, to, from, size, status);
}

static void zoo_copy_out(const SP_Device* device, SP_Stream stream, void* to, const SP_DeviceMemoryBase* from,
                         uint64_t size, TF_Status* status) {
  if (chosen == kCopyOutFails) return refuse(status, "the bus is down");
  enqueue_dtoh(device, stream, to, from, size, status);
}

static void zoo_wait(const SP_Device* device, SP_Stream stream, TF_Status* status) {
  if (chosen == kWaitCrashes) *nowhere = 1;
  if (chosen == kWaitHangs) hang();
  if (chosen == kStreamLost || chosen == kEventsPend) return refuse(status, "the stream is lost");
  block_host_until_done(device, stream, status);
}

static void zoo_event(const SP_Device* device, SP_Event* event, TF_Status* status) {
  if (chosen == kEventNone) return refuse(status, "no event is left");
  create_event(device, event, status);
}

static SE_EventStatus zoo_event_status(const SP_Device* device, SP_Event event) {
  if (chosen == kEventInNoState) return (SE_EventStatus)77;
  return chosen == kEventsPend ? SE_EVENT_PENDING : get_event_status(device, event);
}

static TF_Bool zoo_usage(const SP_Device* device, int64_t* unused, int64_t* total) {
  const TF_Bool known = device_memory_usage(device, unused, total);
  if (chosen == kUsageNegative) *unused = -5;
  if (chosen == kUsageTooMuch) *unused = *total + 1;
  return known;
}

static TF_Bool zoo_stats(const SP_Device* device, SP_AllocatorStats* stats) {
  const TF_Bool known = get_allocator_stats(device, stats);
  if (chosen == kStatsNegative) stats->bytes_in_use = -7;
  if (chosen == kStatsHuge) stats->struct_size = (size_t)-1;
  return known;
}

static void* zoo_host(const SP_Device* device, uint64_t size) {
  if (chosen == kHostNone) return NULL;
  return chosen == kHostNowhere ? (void*)nowhere : allocate_host(device, size);
}

static TF_Bool zoo_callback(const SP_Device* device, SP_Stream stream, SE_StatusCallbackFn function, void* argument) {
  return chosen == kCallbackRefused ? 0 : host_callback(device, stream, function, argument);
}

static void zoo_executor(const SP_Platform* platform, SE_CreateStreamExecutorParams* params, TF_Status* status) {
  create_stream_executor(platform, params, status);
  table = params->stream_executor;
  table->allocate = zoo_allocate;
  table->deallocate = zoo_deallocate;
  table->create_stream = zoo_stream;
  table->memcpy_htod = zoo_copy_in;
  table->memcpy_dtoh = zoo_copy_out;
  table->block_host_until_done = zoo_wait;
  table->create_event = zoo_event;
  table->get_event_status = zoo_event_status;
  table->device_memory_usage = zoo_usage;
  table->get_allocator_stats = zoo_stats;
  table->host_memory_allocate = zoo_host;
  table->host_callback = zoo_callback;
  if (chosen == kShortTable) table->struct_size = 120;
}

TF_CAPI_EXPORT void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status* status);

void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status* status) {
  fake_init(params, status);
  params->platform->name = FAKE_DEVICE_TYPE;
  params->platform_fns->get_device_count = zoo_count;
  params->platform_fns->create_device = zoo_device;
  params->platform_fns->destroy_device = zoo_destroy_device;
  params->platform_fns->create_device_fns = zoo_fns;
  params->platform_fns->destroy_device_fns = zoo_destroy_fns;
  params->platform_fns->create_stream_executor = zoo_executor;
}

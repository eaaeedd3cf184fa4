/* Tries devices and profilers: registration, a device, memory there and back. */
#include "drystone/device.h"
#include "drystone/profiler.h"
#include "guarded.h"
#include "old_host.h"

static TF_Status* status;

static void expect_ok(const char* what) {
  if (TF_GetCode(status) != TF_OK) printf("%s: %s\n", what, TF_Message(status));
  expect(TF_GetCode(status) == TF_OK, "failed");
}

static void round_trip(const SP_Device* device, const SP_StreamExecutor* executor) {
  SP_DeviceMemoryBase memory = {.struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE};
  char text[8] = {0};
  executor->allocate(device, sizeof text, 0, &memory);
  expect(memory.opaque != NULL, "no memory");
  executor->sync_memcpy_htod(device, &memory, "granite", sizeof text, status);
  expect_ok("sync_memcpy_htod");
  executor->sync_memcpy_dtoh(device, text, &memory, sizeof text, status);
  expect_ok("sync_memcpy_dtoh");
  expect(strcmp(text, "granite") == 0, "the bytes did not come back");
  executor->deallocate(device, &memory);
}

static void try_one(const SP_Platform* platform, const SP_PlatformFns* fns) {
  SP_Device* const device = guarded(SP_DEVICE_STRUCT_SIZE);
  SE_CreateDeviceParams params = {.struct_size = SE_CREATE_DEVICE_PARAMS_STRUCT_SIZE,
                                  .device = device};
  fns->create_device(platform, &params, status);
  expect_ok("create_device");
  check_guards(device, SP_DEVICE_STRUCT_SIZE, "SP_Device");
  SP_StreamExecutor* const executor = guarded(SP_STREAMEXECUTOR_STRUCT_SIZE);
  SE_CreateStreamExecutorParams made = {.struct_size = SE_CREATE_STREAM_EXECUTOR_PARAMS_STRUCT_SIZE,
                                        .stream_executor = executor};
  fns->create_stream_executor(platform, &made, status);
  expect_ok("create_stream_executor");
  check_guards(executor, SP_STREAMEXECUTOR_STRUCT_SIZE, "SP_StreamExecutor");
  expect(executor->struct_size != 0, "SP_StreamExecutor states no size");
  round_trip(device, executor);
  fns->destroy_stream_executor(platform, executor);
  fns->destroy_device(platform, device);
  free_guarded(executor);
  free_guarded(device);
}

void try_device(void* entry) {
  status = TF_NewStatus();
  SP_Platform* const platform = guarded(SP_PLATFORM_STRUCT_SIZE);
  SP_PlatformFns* const fns = guarded(SP_PLATFORM_FNS_STRUCT_SIZE);
  SE_PlatformRegistrationParams* const params =
      guarded(SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE);
  params->platform = platform;
  params->platform_fns = fns;
  void (*init)(SE_PlatformRegistrationParams*, TF_Status*);
  memcpy(&init, &entry, sizeof init);
  init(params, status);
  expect_ok("SE_InitPlugin");
  check_guards(params, SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE, "registration params");
  check_guards(platform, SP_PLATFORM_STRUCT_SIZE, "SP_Platform");
  check_guards(fns, SP_PLATFORM_FNS_STRUCT_SIZE, "SP_PlatformFns");
  int count = -1;
  fns->get_device_count(platform, &count, status);
  expect_ok("get_device_count");
  if (count > 0) try_one(platform, fns);
  printf("device %s %d\n", platform->type, count);
  params->destroy_platform_fns(fns);
  params->destroy_platform(platform);
  free_guarded(params);
  free_guarded(fns);
  free_guarded(platform);
  TF_DeleteStatus(status);
}

void try_profiler(void* entry) {
  status = TF_NewStatus();
  TP_Profiler* const profiler = guarded(TP_PROFILER_STRUCT_SIZE);
  TP_ProfilerFns* const fns = guarded(TP_PROFILER_FNS_STRUCT_SIZE);
  TF_ProfilerRegistrationParams* const params =
      guarded(TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE);
  params->profiler = profiler;
  params->profiler_fns = fns;
  void (*init)(TF_ProfilerRegistrationParams*, TF_Status*);
  memcpy(&init, &entry, sizeof init);
  init(params, status);
  expect_ok("TF_InitProfiler");
  check_guards(params, TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE, "registration params");
  check_guards(profiler, TP_PROFILER_STRUCT_SIZE, "TP_Profiler");
  check_guards(fns, TP_PROFILER_FNS_STRUCT_SIZE, "TP_ProfilerFns");
  fns->start(profiler, status);
  expect_ok("start");
  fns->stop(profiler, status);
  expect_ok("stop");
  size_t size = 0;
  fns->collect_data_xspace(profiler, NULL, &size, status);
  expect_ok("collect_data_xspace");
  printf("profiler %s\n", profiler->device_type);
  params->destroy_profiler_fns(fns);
  params->destroy_profiler(profiler);
  free_guarded(params);
  free_guarded(fns);
  free_guarded(profiler);
  TF_DeleteStatus(status);
}

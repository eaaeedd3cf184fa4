/* A device and its profiler as one writes them for TensorFlow, in C: no devices. */
#include "tensorflow/c/experimental/pluggable_profiler/pluggable_profiler.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

static void get_device_count(const SP_Platform* platform, int* count, TF_Status* status) {
  (void)platform, (void)status;
  *count = 0;
}

static void create_device(const SP_Platform* platform, SE_CreateDeviceParams* params,
                          TF_Status* status) {
  (void)platform, (void)status;
  params->device->struct_size = SP_DEVICE_STRUCT_SIZE;
}
static void destroy_device(const SP_Platform* platform, SP_Device* device) {
  (void)platform, (void)device;
}
static void create_device_fns(const SP_Platform* platform, SE_CreateDeviceFnsParams* params,
                              TF_Status* status) {
  (void)platform, (void)status;
  params->device_fns->struct_size = SP_DEVICE_FNS_STRUCT_SIZE;
}
static void destroy_device_fns(const SP_Platform* platform, SP_DeviceFns* fns) {
  (void)platform, (void)fns;
}
static void create_executor(const SP_Platform* platform, SE_CreateStreamExecutorParams* params,
                            TF_Status* status) {
  (void)platform, (void)status;
  params->stream_executor->struct_size = SP_STREAMEXECUTOR_STRUCT_SIZE;
}
static void destroy_executor(const SP_Platform* platform, SP_StreamExecutor* executor) {
  (void)platform, (void)executor;
}
static void destroy_platform(SP_Platform* platform) { (void)platform; }
static void destroy_platform_fns(SP_PlatformFns* fns) { (void)fns; }

void SE_InitPlugin(SE_PlatformRegistrationParams* const params, TF_Status* const status) {
  params->struct_size = SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->major_version = SE_MAJOR;
  params->minor_version = SE_MINOR;
  params->patch_version = SE_PATCH;
  params->platform->struct_size = SP_PLATFORM_STRUCT_SIZE;
  params->platform->name = "STYLE";
  params->platform->type = "STYLE";
  params->platform_fns->struct_size = SP_PLATFORM_FNS_STRUCT_SIZE;
  params->platform_fns->get_device_count = get_device_count;
  params->platform_fns->create_device = create_device;
  params->platform_fns->destroy_device = destroy_device;
  params->platform_fns->create_device_fns = create_device_fns;
  params->platform_fns->destroy_device_fns = destroy_device_fns;
  params->platform_fns->create_stream_executor = create_executor;
  params->platform_fns->destroy_stream_executor = destroy_executor;
  params->destroy_platform = destroy_platform;
  params->destroy_platform_fns = destroy_platform_fns;
  TF_SetStatus(status, TF_OK, "");
}

static void start_or_stop(const TP_Profiler* profiler, TF_Status* status) {
  (void)profiler, (void)status;
}
static void collect(const TP_Profiler* profiler, uint8_t* buffer, size_t* size,
                    TF_Status* status) {
  (void)profiler, (void)buffer, (void)status;
  *size = 0;
}
static void destroy_profiler(TP_Profiler* profiler) { (void)profiler; }
static void destroy_profiler_fns(TP_ProfilerFns* fns) { (void)fns; }

void TF_InitProfiler(TF_ProfilerRegistrationParams* params, TF_Status* status) {
  params->struct_size = TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->profiler->struct_size = TP_PROFILER_STRUCT_SIZE;
  params->profiler->device_type = "STYLE";
  params->profiler_fns->struct_size = TP_PROFILER_FNS_STRUCT_SIZE;
  params->profiler_fns->start = start_or_stop;
  params->profiler_fns->stop = start_or_stop;
  params->profiler_fns->collect_data_xspace = collect;
  params->destroy_profiler = destroy_profiler;
  params->destroy_profiler_fns = destroy_profiler_fns;
  TF_SetStatus(status, TF_OK, "");
}

/* The fake device of the examples, changed by the test that compiles it: layouts of other releases,
 * forgotten members, wrong versions. Each macro holds statements.
 *
 *   AFTER_INIT      at the end of SE_InitPlugin; `params` and `status` are at hand
 *   AFTER_DEVICE    at the end of create_device; `device`
 *   AFTER_EXECUTOR  at the end of create_stream_executor; `executor`
 *   COUNT           at the end of get_device_count; `count` and `status`
 */
#define SE_InitPlugin fake_init
#include "../../examples/device_c/fake_device.c"
#undef SE_InitPlugin

#ifndef AFTER_INIT
#define AFTER_INIT
#endif
#ifndef AFTER_DEVICE
#define AFTER_DEVICE
#endif
#ifndef AFTER_EXECUTOR
#define AFTER_EXECUTOR
#endif
#ifndef COUNT
#define COUNT
#endif

/* TensorFlow 2.5 and 2.6: mem_zero, memset and memset32 are not there, host_callback is in their
 * place, and the struct ends after it. */
__attribute__((unused)) static void layout_of_264_bytes(SP_StreamExecutor* executor) {
  char* const bytes = (char*)executor;
  const size_t place = offsetof(SP_StreamExecutor, mem_zero);
  memcpy(bytes + place, &executor->host_callback, sizeof executor->host_callback);
  memset(bytes + place + sizeof(void*), 0, sizeof *executor - place - sizeof(void*));
  executor->struct_size = 264;
}

/* A release to come: more functions behind those of today. */
__attribute__((unused)) static void layout_of_bytes(void* table, size_t known, size_t size) {
  memset((char*)table + known, 0x5A, size - known);
  memcpy(table, &size, sizeof size);
}

static void varied_count(const SP_Platform* platform, int* count, TF_Status* status) {
  get_device_count(platform, count, status);
  COUNT;
}

static void varied_device(const SP_Platform* platform, SE_CreateDeviceParams* params,
                          TF_Status* status) {
  create_device(platform, params, status);
  SP_Device* const device = params->device;
  (void)device;
  AFTER_DEVICE;
}

static void varied_executor(const SP_Platform* platform, SE_CreateStreamExecutorParams* params,
                            TF_Status* status) {
  create_stream_executor(platform, params, status);
  SP_StreamExecutor* const executor = params->stream_executor;
  (void)executor;
  AFTER_EXECUTOR;
}

TF_CAPI_EXPORT void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status* status);

void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status* status) {
  fake_init(params, status);
  params->platform_fns->get_device_count = varied_count;
  params->platform_fns->create_device = varied_device;
  params->platform_fns->create_stream_executor = varied_executor;
#ifdef NAME
  params->platform->name = NAME;
  params->platform->type = NAME;
#endif
  AFTER_INIT;
}

/* Functions of the strict device that refuse what they are asked for: $STRICT_REFUSE names them, apart by commas. */
#include <stdlib.h>
#include <string.h>

#include "strict.h"

bool strict_refuses(const char* function) {
  const size_t length = strlen(function);
  const char* at = getenv("STRICT_REFUSE");
  while (at != NULL && *at != '\0') {
    const size_t named = strcspn(at, ",");
    if (named == length && strncmp(at, function, length) == 0) return true;
    at += named + (at[named] == ',');
  }
  return false;
}

void strict_refuse(TF_Status* status) { TF_SetStatus(status, TF_INTERNAL, "the device does not answer"); }

static void allocate(const SP_Device* device, uint64_t size, int64_t memory_space, SP_DeviceMemoryBase* memory) {
  (void)device, (void)size, (void)memory_space;
  memory->opaque = NULL;
}

static void create_stream(const SP_Device* device, SP_Stream* stream, TF_Status* status) {
  (void)device, (void)stream;
  strict_refuse(status);
}

static void create_event(const SP_Device* device, SP_Event* event, TF_Status* status) {
  (void)device, (void)event;
  strict_refuse(status);
}

static void create_timer(const SP_Device* device, SP_Timer* timer, TF_Status* status) {
  (void)device, (void)timer;
  strict_refuse(status);
}

static void two_streams(const SP_Device* device, SP_Stream dependent, SP_Stream other, TF_Status* status) {
  (void)device, (void)dependent, (void)other;
  strict_refuse(status);
}

static void of_stream(const SP_Device* device, SP_Stream stream, TF_Status* status) {
  (void)device, (void)stream;
  strict_refuse(status);
}

static void of_device(const SP_Device* device, TF_Status* status) {
  (void)device;
  strict_refuse(status);
}

static void of_event(const SP_Device* device, SP_Stream stream, SP_Event event, TF_Status* status) {
  (void)device, (void)stream, (void)event;
  strict_refuse(status);
}

static void of_timer(const SP_Device* device, SP_Stream stream, SP_Timer timer, TF_Status* status) {
  (void)device, (void)stream, (void)timer;
  strict_refuse(status);
}

static void copy_in(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* to, const void* from, uint64_t size,
                    TF_Status* status) {
  (void)device, (void)stream, (void)to, (void)from, (void)size;
  strict_refuse(status);
}

static void copy_out(const SP_Device* device, SP_Stream stream, void* to, const SP_DeviceMemoryBase* from, uint64_t size,
                     TF_Status* status) {
  (void)device, (void)stream, (void)to, (void)from, (void)size;
  strict_refuse(status);
}

static TF_Bool host_callback(const SP_Device* device, SP_Stream stream, SE_StatusCallbackFn function, void* argument) {
  (void)device, (void)stream, (void)function, (void)argument;
  return 0;
}

#define REFUSE(member, function) \
  if (strict_refuses(#member)) executor->member = function

void strict_fill_refusals(SP_StreamExecutor* executor) {
  REFUSE(allocate, allocate);
  REFUSE(create_stream, create_stream);
  REFUSE(create_stream_dependency, two_streams);
  REFUSE(get_stream_status, of_stream);
  REFUSE(block_host_until_done, of_stream);
  REFUSE(synchronize_all_activity, of_device);
  REFUSE(create_event, create_event);
  REFUSE(record_event, of_event);
  REFUSE(wait_for_event, of_event);
  REFUSE(create_timer, create_timer);
  REFUSE(start_timer, of_timer);
  REFUSE(stop_timer, of_timer);
  REFUSE(memcpy_htod, copy_in);
  REFUSE(memcpy_dtoh, copy_out);
  REFUSE(host_callback, host_callback);
}

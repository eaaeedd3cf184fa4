/* The host library's own interface, for programs that embed it: devices and profilers of plugins.
 *
 * A library that exports SE_InitPlugin registers a platform: a kind of device such as "NPU".
 * Devices are made when first asked for. The rules for statuses, buffers and NULL are those of
 * drystone/status.h and drystone/buffer.h; a NULL object is INVALID_ARGUMENT, or ignored by the
 * functions that delete.
 *
 * Threads: every function may be called from any thread; one stream, event or timer must not be
 * used by two threads at once.
 * Ownership: what DS_New* and DS_Allocate* give is deleted by the
 * caller, before DS_ShutdownDevices. Devices belong to the host.
 */
#ifndef DRYSTONE_HOST_DEVICE_H_
#define DRYSTONE_HOST_DEVICE_H_

#include "drystone/buffer.h"
#include "drystone/device.h"
#include "drystone/macros.h"
#include "drystone/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct DS_Device DS_Device;
typedef struct DS_DeviceMemory DS_DeviceMemory;
typedef struct DS_Stream DS_Stream;
typedef struct DS_Event DS_Event;
typedef struct DS_Timer DS_Timer;

/* JSON: [{"platform", "type", "library", "version", "unified_memory", "use_bfc_allocator",
 * "force_memory_growth", "device_count", "devices": [names]}], one entry a platform in order of
 * registration; "devices" are those made so far. "error" stands in place of
 * "device_count" where the plugin cannot tell. */
TF_CAPI_EXPORT extern void DS_ListDevices(TF_Buffer* json, TF_Status* status);

/* How many devices of a type there are now. NOT_FOUND for a type that no library registered. */
TF_CAPI_EXPORT extern int DS_DeviceCount(const char* type, TF_Status* status);

/* A device; the same pointer each time. NOT_FOUND for an unknown type or ordinal. */
TF_CAPI_EXPORT extern DS_Device* DS_GetDevice(const char* type, int ordinal, TF_Status* status);

/* JSON: {"name", "platform", "library", "hardware_name", "vendor", "pci_bus_id", "numa_node",
 * "memory_bandwidth", "gflops", "executor_size"} and, where the plugin gives them, "free", "total"
 * and "allocator" with the members of SP_AllocatorStats. */
TF_CAPI_EXPORT extern void DS_DescribeDevice(DS_Device* device, TF_Buffer* json,
                                             TF_Status* status);

/* Memory of the device. RESOURCE_EXHAUSTED when the plugin gives none. */
TF_CAPI_EXPORT extern DS_DeviceMemory* DS_AllocateDeviceMemory(DS_Device* device, uint64_t size,
                                                               TF_Status* status);
TF_CAPI_EXPORT extern void DS_FreeDeviceMemory(DS_DeviceMemory* memory);
/* The bytes asked for; the plugin's own handle of the memory. */
TF_CAPI_EXPORT extern uint64_t DS_DeviceMemorySize(const DS_DeviceMemory* memory);
TF_CAPI_EXPORT extern void* DS_DeviceMemoryHandle(const DS_DeviceMemory* memory);

/* Host memory that the device can copy from and to without staging; memory that both address
 * (UNIMPLEMENTED unless the platform has it). Freed through the same device. */
TF_CAPI_EXPORT extern void* DS_AllocateHostMemory(DS_Device* device, uint64_t size,
                                                  TF_Status* status);
TF_CAPI_EXPORT extern void DS_FreeHostMemory(DS_Device* device, void* memory);
TF_CAPI_EXPORT extern void* DS_AllocateUnifiedMemory(DS_Device* device, uint64_t size,
                                                     TF_Status* status);
TF_CAPI_EXPORT extern void DS_FreeUnifiedMemory(DS_Device* device, void* memory);

/* Copies of `size` bytes from the start of one to the start of the other. With a stream they are
 * enqueued and host memory must stay as it is until they are done; with NULL they are done on
 * return. OUT_OF_RANGE when the device memory is smaller; INVALID_ARGUMENT when memory and stream
 * are of different devices. */
TF_CAPI_EXPORT extern void DS_CopyToDevice(DS_Stream* stream, DS_DeviceMemory* to,
                                           const void* from, uint64_t size, TF_Status* status);
TF_CAPI_EXPORT extern void DS_CopyToHost(DS_Stream* stream, void* to, const DS_DeviceMemory* from,
                                         uint64_t size, TF_Status* status);
TF_CAPI_EXPORT extern void DS_CopyOnDevice(DS_Stream* stream, DS_DeviceMemory* to,
                                           const DS_DeviceMemory* from, uint64_t size,
                                           TF_Status* status);

/* Fill the first `size` bytes with a byte, or with a 32-bit pattern (size a multiple of 4). A
 * device without such functions is given a copy of filled host memory. */
TF_CAPI_EXPORT extern void DS_FillDevice(DS_Stream* stream, DS_DeviceMemory* memory,
                                         uint8_t pattern, uint64_t size, TF_Status* status);
TF_CAPI_EXPORT extern void DS_FillDevice32(DS_Stream* stream, DS_DeviceMemory* memory,
                                           uint32_t pattern, uint64_t size, TF_Status* status);

/* Streams. DS_StreamHandle is what TF_GetStream gives a kernel that runs on the stream. */
TF_CAPI_EXPORT extern DS_Stream* DS_NewStream(DS_Device* device, TF_Status* status);
TF_CAPI_EXPORT extern void DS_DeleteStream(DS_Stream* stream);
TF_CAPI_EXPORT extern SP_Stream DS_StreamHandle(const DS_Stream* stream);
/* Later work on `stream` waits for all that is on `other` now. */
TF_CAPI_EXPORT extern void DS_StreamWaitForStream(DS_Stream* stream, DS_Stream* other,
                                                  TF_Status* status);
/* The error of work on the stream, if any. */
TF_CAPI_EXPORT extern void DS_StreamStatus(DS_Stream* stream, TF_Status* status);
/* Return when all that is on the stream is done. */
TF_CAPI_EXPORT extern void DS_BlockForStream(DS_Stream* stream, TF_Status* status);
/* Enqueue a call of the host's. */
TF_CAPI_EXPORT extern void DS_StreamCall(DS_Stream* stream, SE_StatusCallbackFn function,
                                         void* argument, TF_Status* status);
/* Return when all that the device does is done. */
TF_CAPI_EXPORT extern void DS_SynchronizeDevice(DS_Device* device, TF_Status* status);

/* Events. DS_EventState gives an SE_EventStatus, SE_EVENT_UNKNOWN for NULL. */
TF_CAPI_EXPORT extern DS_Event* DS_NewEvent(DS_Device* device, TF_Status* status);
TF_CAPI_EXPORT extern void DS_DeleteEvent(DS_Event* event);
TF_CAPI_EXPORT extern void DS_RecordEvent(DS_Stream* stream, DS_Event* event, TF_Status* status);
TF_CAPI_EXPORT extern void DS_StreamWaitForEvent(DS_Stream* stream, DS_Event* event,
                                                 TF_Status* status);
TF_CAPI_EXPORT extern void DS_BlockForEvent(DS_Event* event, TF_Status* status);
TF_CAPI_EXPORT extern int DS_EventState(DS_Event* event);

/* Timers; UNIMPLEMENTED on a device that has none. DS_TimerNanoseconds gives 0 for NULL. */
TF_CAPI_EXPORT extern DS_Timer* DS_NewTimer(DS_Device* device, TF_Status* status);
TF_CAPI_EXPORT extern void DS_DeleteTimer(DS_Timer* timer);
TF_CAPI_EXPORT extern void DS_StartTimer(DS_Stream* stream, DS_Timer* timer, TF_Status* status);
TF_CAPI_EXPORT extern void DS_StopTimer(DS_Stream* stream, DS_Timer* timer, TF_Status* status);
TF_CAPI_EXPORT extern uint64_t DS_TimerNanoseconds(DS_Timer* timer);

/* Profilers, by the type of the devices they observe. JSON: [{"type", "library", "version",
 * "running"}]. Start while running, and stop or collect otherwise, is FAILED_PRECONDITION. Collect
 * gives the bytes of a serialised XSpace. */
TF_CAPI_EXPORT extern void DS_ListProfilers(TF_Buffer* json, TF_Status* status);
TF_CAPI_EXPORT extern void DS_StartProfiler(const char* type, TF_Status* status);
TF_CAPI_EXPORT extern void DS_StopProfiler(const char* type, TF_Status* status);
TF_CAPI_EXPORT extern void DS_CollectProfile(const char* type, TF_Buffer* xspace,
                                             TF_Status* status);

/* Destroy every device, platform and profiler through its plugin and forget them; for a program
 * that ends in good order. Nothing of theirs may be in use. */
TF_CAPI_EXPORT extern void DS_ShutdownDevices(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_HOST_DEVICE_H_ */

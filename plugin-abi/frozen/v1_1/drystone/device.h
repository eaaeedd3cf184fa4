/* drystone/device.h: accelerators. How a library offers devices with memory, streams and events.
 *
 * Entry symbol: SE_InitPlugin, called once. Names, members and sizes are those of TensorFlow's
 * StreamExecutor C API 0.0.1, so that device plugins built for it load unchanged. Since 1.0.
 *
 * What happens, in order
 *   1. The host calls SE_InitPlugin with zeroed structs whose struct_size and versions it has set.
 *      The plugin fills in the platform (name, type) and its functions.
 *   2. The host asks get_device_count. Zero devices are no error: the platform is then on record as
 *      having none.
 *   3. When a device is first used, create_device, create_device_fns and create_stream_executor
 *      fill in one table each. The tables stay the host's; what `ext` and handles in them point to
 *      stays the plugin's, until the matching destroy function is called.
 *
 * Sizes. Every struct begins with struct_size. The host presets it to what it knows; the plugin
 * overwrites it with the STRUCT_SIZE it was compiled with, which tells the host how much of the
 * struct means something. Members beyond that size count as null. Zero is an error. A plugin that
 * wants a member that was appended later looks first: DRYSTONE_HAS_MEMBER (macros.h).
 * `ext` members marked "reserved" must be null; others are the plugin's to use.
 *
 * Statuses. A function with a TF_Status* last gets a fresh one that is OK and sets it on failure.
 * Functions without one cannot fail. A create function that fails leaves nothing to be destroyed:
 * its destroy function is not called.
 *
 * Threads. The host calls functions of one device from any thread and may call several at once,
 * except that it never calls two functions with the same stream, event or timer at the same time.
 *
 * Order on a stream. Work enqueued on one stream runs in the order of the calls; streams run apart
 * from each other until create_stream_dependency or wait_for_event ties them. Functions named
 * sync_* return when the work is done.
 *
 * Layouts of earlier releases, told apart by size: SP_StreamExecutor of 264 bytes has no mem_zero,
 * memset and memset32 (host_callback follows synchronize_all_activity), and SP_Platform of 34 bytes
 * ends with use_bfc_allocator.
 */
#ifndef DRYSTONE_DEVICE_H_
#define DRYSTONE_DEVICE_H_

#include <stddef.h>
#include <stdint.h>

#include "drystone/macros.h"
#include "drystone/status.h"

/* Version of this interface. A host refuses another major version; minor and patch are recorded. */
#define SE_MAJOR 0
#define SE_MINOR 0
#define SE_PATCH 1

#ifdef __cplusplus
extern "C" {
#endif

/* Handles of the plugin's own kind; the host only passes them back. NULL is "none". */
typedef struct SP_Stream_st* SP_Stream;
typedef struct SP_Event_st* SP_Event;
typedef struct SP_Timer_st* SP_Timer;

/* A function of the host's that host_callback must call once, with the argument given there, on any
 * thread, when the stream has come so far. It may set the status to report that what it ran has
 * failed. It must not be called while the plugin holds a lock that its other functions take. */
typedef void (*SE_StatusCallbackFn)(void* const argument, TF_Status* const status);

/* Reads a timer. Optional as a whole: see SP_PlatformFns.create_timer_fns. */
typedef struct SP_TimerFns {
  size_t struct_size;
  void* ext;                               /* reserved */
  uint64_t (*nanoseconds)(SP_Timer timer); /* elapsed between start and stop */
} SP_TimerFns;
#define SP_TIMER_FNS_STRUCT_SIZE TF_OFFSET_OF_END(SP_TimerFns, nanoseconds)

/* Figures of a device's allocator, in bytes except for num_allocs. Has no `ext`. A limit means
 * something only where its has_ member is not 0. */
typedef struct SP_AllocatorStats {
  size_t struct_size;
  int64_t num_allocs;         /* allocations ever made */
  int64_t bytes_in_use;       /* now */
  int64_t peak_bytes_in_use;  /* at most so far */
  int64_t largest_alloc_size; /* the largest single one */
  int8_t has_bytes_limit;
  int64_t bytes_limit;         /* that may be in use */
  int64_t bytes_reserved;      /* taken from the device, in use or not */
  int64_t peak_bytes_reserved; /* at most so far */
  int8_t has_bytes_reservable_limit;
  int64_t bytes_reservable_limit; /* that may be reserved */
  int64_t largest_free_block_bytes;
} SP_AllocatorStats;
#define SP_ALLOCATORSTATS_STRUCT_SIZE TF_OFFSET_OF_END(SP_AllocatorStats, largest_free_block_bytes)

/* Where an event stands. */
typedef enum SE_EventStatus {
  SE_EVENT_UNKNOWN = 0,  /* never recorded, or the device does not tell */
  SE_EVENT_ERROR = 1,    /* the work before it failed */
  SE_EVENT_PENDING = 2,  /* the work before it is under way */
  SE_EVENT_COMPLETE = 3  /* the work before it is done */
} SE_EventStatus;

/* A block of device memory. The host owns the struct; `opaque` is the plugin's, made by allocate.
 * The host does not compute with `opaque` and does not read through it. */
typedef struct SP_DeviceMemoryBase {
  size_t struct_size;
  void* ext;        /* reserved */
  void* opaque;     /* NULL: allocation failed, or nothing allocated */
  uint64_t size;    /* in bytes */
  uint64_t payload; /* for the plugin; the host keeps it */
} SP_DeviceMemoryBase;
#define SP_DEVICE_MEMORY_BASE_STRUCT_SIZE TF_OFFSET_OF_END(SP_DeviceMemoryBase, payload)

/* One device. Filled in by create_device; passed to every function of the device. */
typedef struct SP_Device {
  size_t struct_size;
  void* ext;                 /* the plugin's */
  int32_t ordinal;           /* index on this platform, 0 first; set by the host */
  void* device_handle;       /* the plugin's */
  const char* hardware_name; /* for people; NULL is "unknown"; the plugin's until destroy_device */
  const char* device_vendor; /* likewise */
  const char* pci_bus_id;    /* "DOMAIN:BUS:DEVICE.FUNCTION" in hexadecimal; or NULL */
} SP_Device;
#define SP_DEVICE_STRUCT_SIZE TF_OFFSET_OF_END(SP_Device, pci_bus_id)

/* Argument of create_device. */
typedef struct SE_CreateDeviceParams {
  size_t struct_size;
  void* ext;         /* reserved */
  int32_t ordinal;   /* the device wanted: 0 <= ordinal < get_device_count */
  SP_Device* device; /* to fill in; zeroed but for struct_size and ordinal */
} SE_CreateDeviceParams;
#define SE_CREATE_DEVICE_PARAMS_STRUCT_SIZE TF_OFFSET_OF_END(SE_CreateDeviceParams, device)

/* Facts about a device. Each function is optional; without it the host says -1, "unknown". */
typedef struct SP_DeviceFns {
  size_t struct_size;
  void* ext;                                                /* reserved */
  int32_t (*get_numa_node)(const SP_Device* device);        /* negative: no node or unknown */
  int64_t (*get_memory_bandwidth)(const SP_Device* device); /* bytes a second; negative: unknown */
  double (*get_gflops)(const SP_Device* device);            /* 1e9 a second; negative: unknown */
} SP_DeviceFns;
#define SP_DEVICE_FNS_STRUCT_SIZE TF_OFFSET_OF_END(SP_DeviceFns, get_gflops)

/* Argument of create_device_fns. */
typedef struct SE_CreateDeviceFnsParams {
  size_t struct_size;
  void* ext;                /* reserved */
  SP_DeviceFns* device_fns; /* to fill in */
} SE_CreateDeviceFnsParams;
#define SE_CREATE_DEVICE_FNS_PARAMS_STRUCT_SIZE \
  TF_OFFSET_OF_END(SE_CreateDeviceFnsParams, device_fns)

/* What a device can do. Required unless marked optional; a missing required function makes the
 * host refuse the device. */
typedef struct SP_StreamExecutor {
  size_t struct_size;
  void* ext; /* reserved */

  /* Memory. allocate fills in `mem`; failure leaves mem->opaque NULL, which the host reports as
   * RESOURCE_EXHAUSTED. memory_space is 0, the device's default. Blocks are aligned as the device's
   * own kernels need it. A size of 0 may give NULL. Each block is given back once to deallocate, on
   * any thread, when no work on it is left; `mem` is then the host's again.
   * Host memory from host_memory_allocate may take part in copies on a stream without being staged;
   * NULL on failure. */
  void (*allocate)(const SP_Device* device, uint64_t size, int64_t memory_space,
                   SP_DeviceMemoryBase* mem);
  void (*deallocate)(const SP_Device* device, SP_DeviceMemoryBase* memory);
  void* (*host_memory_allocate)(const SP_Device* device, uint64_t size);
  void (*host_memory_deallocate)(const SP_Device* device, void* mem);

  /* Memory that host and device both address. Required when the platform says
   * supports_unified_memory, optional otherwise. */
  void* (*unified_memory_allocate)(const SP_Device* device, uint64_t bytes);
  void (*unified_memory_deallocate)(const SP_Device* device, void* location);

  /* Figures; 0 says that there are none, and leaves the out-parameters alone. */
  TF_Bool (*get_allocator_stats)(const SP_Device* device, SP_AllocatorStats* stats);
  TF_Bool (*device_memory_usage)(const SP_Device* device, int64_t* free, int64_t* total);

  /* Streams. destroy_stream waits for nothing: the host calls it when the stream's work is done.
   * create_stream_dependency makes work enqueued on `dependent` from now on wait for all
   * that is on `other` now. get_stream_status reports whether work on the stream has failed. */
  void (*create_stream)(const SP_Device* device, SP_Stream* stream, TF_Status* status);
  void (*destroy_stream)(const SP_Device* device, SP_Stream stream);
  void (*create_stream_dependency)(const SP_Device* device, SP_Stream dependent, SP_Stream other,
                                   TF_Status* status);
  void (*get_stream_status)(const SP_Device* device, SP_Stream stream, TF_Status* status);

  /* Events: marks in a stream, recorded any number of times; the last one counts. record_event puts
   * one after all that is on the stream now, wait_for_event makes later work on the stream wait for
   * it. */
  void (*create_event)(const SP_Device* device, SP_Event* event, TF_Status* status);
  void (*destroy_event)(const SP_Device* device, SP_Event event);
  SE_EventStatus (*get_event_status)(const SP_Device* device, SP_Event event);
  void (*record_event)(const SP_Device* device, SP_Stream stream, SP_Event event,
                       TF_Status* status);
  void (*wait_for_event)(const SP_Device* const device, SP_Stream stream, SP_Event event,
                         TF_Status* const status);

  /* Timers, optional: they measure work between two points of a stream. */
  void (*create_timer)(const SP_Device* device, SP_Timer* timer, TF_Status* status);
  void (*destroy_timer)(const SP_Device* device, SP_Timer timer);
  void (*start_timer)(const SP_Device* device, SP_Stream stream, SP_Timer timer,
                      TF_Status* status);
  void (*stop_timer)(const SP_Device* device, SP_Stream stream, SP_Timer timer,
                     TF_Status* status);

  /* Copies on a stream; they may return before the copy is done. Host memory must stay as it is
   * until then. `size` bytes are copied, at most the size of the memory. */
  void (*memcpy_dtoh)(const SP_Device* device, SP_Stream stream, void* host_dst,
                      const SP_DeviceMemoryBase* device_src, uint64_t size, TF_Status* status);
  void (*memcpy_htod)(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* device_dst,
                      const void* host_src, uint64_t size, TF_Status* status);
  /* Optional. */
  void (*memcpy_dtod)(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* device_dst,
                      const SP_DeviceMemoryBase* device_src, uint64_t size, TF_Status* status);

  /* Copies that are done on return. They wait for no stream. */
  void (*sync_memcpy_dtoh)(const SP_Device* device, void* host_dst,
                           const SP_DeviceMemoryBase* device_src, uint64_t size,
                           TF_Status* status);
  void (*sync_memcpy_htod)(const SP_Device* device, SP_DeviceMemoryBase* device_dst,
                           const void* host_src, uint64_t size, TF_Status* status);
  /* Optional. */
  void (*sync_memcpy_dtod)(const SP_Device* device, SP_DeviceMemoryBase* device_dst,
                           const SP_DeviceMemoryBase* device_src, uint64_t size,
                           TF_Status* status);

  /* Waiting on the host: for an event, for one stream (optional: the host then records an event and
   * waits for that), for all that the device does. */
  void (*block_host_for_event)(const SP_Device* device, SP_Event event, TF_Status* status);
  void (*block_host_until_done)(const SP_Device* device, SP_Stream stream, TF_Status* status);
  void (*synchronize_all_activity)(const SP_Device* device, TF_Status* status);

  /* Filling on a stream: with zeros, with a byte, with a 32-bit pattern (size a multiple of 4). Not
   * in the layout of 264 bytes, whose host_callback lies here; the host then copies from host
   * memory. */
  void (*mem_zero)(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* location,
                   uint64_t size, TF_Status* status);
  void (*memset)(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* location,
                 uint8_t pattern, uint64_t size, TF_Status* status);
  void (*memset32)(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* location,
                   uint32_t pattern, uint64_t size, TF_Status* status);

  /* Enqueues a call of `callback_fn(callback_arg, status)` on the stream. The plugin makes the
   * status and, when the callback sets it, reports it by get_stream_status. 0: it could not be
   * enqueued, and the callback will not be called. */
  TF_Bool (*host_callback)(const SP_Device* device, SP_Stream stream,
                           SE_StatusCallbackFn callback_fn, void* callback_arg);
} SP_StreamExecutor;
#define SP_STREAMEXECUTOR_STRUCT_SIZE TF_OFFSET_OF_END(SP_StreamExecutor, host_callback)

/* Argument of create_stream_executor. */
typedef struct SE_CreateStreamExecutorParams {
  size_t struct_size;
  void* ext;                          /* reserved */
  SP_StreamExecutor* stream_executor; /* to fill in */
} SE_CreateStreamExecutorParams;
#define SE_CREATE_STREAM_EXECUTOR_PARAMS_STRUCT_SIZE \
  TF_OFFSET_OF_END(SE_CreateStreamExecutorParams, stream_executor)

/* A kind of device. */
typedef struct SP_Platform {
  size_t struct_size;
  void* ext;         /* the plugin's */
  const char* name;  /* of the platform, as [A-Z][A-Z_]*; the plugin's until destroy_platform */
  const char* type;  /* of its devices, as [A-Z][A-Z_]*: the TYPE in "/device:TYPE:0"; likewise */
  TF_Bool supports_unified_memory; /* the executors have unified_memory_(de)allocate */
  TF_Bool use_bfc_allocator;       /* the host may take large blocks and divide them itself */
  TF_Bool force_memory_growth;     /* it must then begin small; not in the layout of 34 bytes */
} SP_Platform;
#define SP_PLATFORM_STRUCT_SIZE TF_OFFSET_OF_END(SP_Platform, force_memory_growth)

/* Functions of a platform. All are required but the two about timers. The host calls one of them at
 * a time for each platform. */
typedef struct SP_PlatformFns {
  size_t struct_size;
  void* ext; /* reserved */
  /* How many devices there are, 0 or more; asked again whenever it matters, so a device may appear
   * later. A status other than OK is shown where the platform is listed; it stays registered. */
  void (*get_device_count)(const SP_Platform* platform, int* device_count, TF_Status* status);
  /* Fills in params->device; at most once for each ordinal while the device lives. */
  void (*create_device)(const SP_Platform* platform, SE_CreateDeviceParams* params,
                        TF_Status* status);
  /* The destroy functions free what `ext` and the handles hold, never the struct itself. */
  void (*destroy_device)(const SP_Platform* platform, SP_Device* device);
  /* After create_device, for each device: the tables may differ between devices. */
  void (*create_device_fns)(const SP_Platform* platform, SE_CreateDeviceFnsParams* params,
                            TF_Status* status);
  void (*destroy_device_fns)(const SP_Platform* platform, SP_DeviceFns* device_fns);
  void (*create_stream_executor)(const SP_Platform* platform,
                                 SE_CreateStreamExecutorParams* params, TF_Status* status);
  void (*destroy_stream_executor)(const SP_Platform* platform,
                                  SP_StreamExecutor* stream_executor);
  /* Optional, both or none. */
  void (*create_timer_fns)(const SP_Platform* platform, SP_TimerFns* timer, TF_Status* status);
  void (*destroy_timer_fns)(const SP_Platform* platform, SP_TimerFns* timer_fns);
} SP_PlatformFns;
#define SP_PLATFORM_FNS_STRUCT_SIZE TF_OFFSET_OF_END(SP_PlatformFns, destroy_timer_fns)

/* Argument of SE_InitPlugin. All pointers to structs are the host's; the plugin fills the structs
 * in and does not replace the pointers. */
typedef struct SE_PlatformRegistrationParams {
  size_t struct_size;
  void* ext;             /* reserved */
  int32_t major_version; /* preset to the host's SE_MAJOR ...; the plugin writes its own */
  int32_t minor_version;
  int32_t patch_version;
  SP_Platform* platform;
  SP_PlatformFns* platform_fns;
  /* Required; called when the host is done with the platform, if ever: libraries stay loaded. */
  void (*destroy_platform)(SP_Platform* platform);
  void (*destroy_platform_fns)(SP_PlatformFns* platform_fns);
} SE_PlatformRegistrationParams;
#define SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE \
  TF_OFFSET_OF_END(SE_PlatformRegistrationParams, destroy_platform_fns)

/* Entry symbol, exported by the plugin. A status other than OK refuses the platform. One library
 * registers one platform; a name or type that another has registered is an error. */
TF_CAPI_EXPORT void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status* status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_DEVICE_H_ */

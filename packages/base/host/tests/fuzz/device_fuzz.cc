// The bytes say what a device plugin and a profiler fill in: sizes, names, which functions are
// there, what they answer. The host must refuse or use them, and never call what is not there.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/failure.h"
#include "core/library.h"
#include "device/init.h"
#include "drystone/profiler.h"
#include "drystone_host/device.h"
#include "fuzz_input.h"

namespace {

Input* in = nullptr;

// A size as a plugin might state it: right, of another release, or anything.
std::size_t size(std::size_t right) {
  switch (in->below(8)) {
    case 0: return in->number();
    case 1: return right + 8 * in->below(60);
    case 2: return right - in->below(static_cast<std::size_t>(right));
    case 3: return 264;
    default: return right;
  }
}

void answer(TF_Status* status) {
  if (in->below(12) == 0) TF_SetStatus(status, static_cast<TF_Code>(in->byte()), "fuzzed");
}

const char* name() {
  static const char* const names[] = {"FAKE", "NPU", "A_B", "CPU", "fake", "", "GPU2", nullptr};
  return names[in->below(8)];
}

// Functions of the executor: enough to be used, memory comes from malloc.
void allocate(const SP_Device*, std::uint64_t bytes, std::int64_t, SP_DeviceMemoryBase* memory) {
  if (bytes < 1 << 20 && in->below(8) != 0) memory->opaque = std::calloc(1, bytes + 1);
}
void deallocate(const SP_Device*, SP_DeviceMemoryBase* memory) { std::free(memory->opaque); }
void* host_allocate(const SP_Device*, std::uint64_t bytes) { return std::malloc(bytes % 4096); }
void host_deallocate(const SP_Device*, void* memory) { std::free(memory); }
TF_Bool stats(const SP_Device*, SP_AllocatorStats* out) {
  out->num_allocs = static_cast<std::int64_t>(in->number());
  out->has_bytes_limit = static_cast<std::int8_t>(in->byte());
  out->struct_size = size(SP_ALLOCATORSTATS_STRUCT_SIZE);
  return in->byte() % 2;
}
TF_Bool usage(const SP_Device*, std::int64_t*, std::int64_t*) { return in->byte() % 2; }
void create(const SP_Device*, SP_Stream* stream, TF_Status* status) {
  answer(status);
  *stream = reinterpret_cast<SP_Stream>(stream);
}
void destroy(const SP_Device*, SP_Stream) {}
void tie(const SP_Device*, SP_Stream, SP_Stream, TF_Status* status) { answer(status); }
void state(const SP_Device*, SP_Stream, TF_Status* status) { answer(status); }
void create_event(const SP_Device*, SP_Event* event, TF_Status* status) {
  answer(status);
  *event = reinterpret_cast<SP_Event>(event);
}
void destroy_event(const SP_Device*, SP_Event) {}
SE_EventStatus event_state(const SP_Device*, SP_Event) {
  return static_cast<SE_EventStatus>(in->below(4));
}
void mark(const SP_Device*, SP_Stream, SP_Event, TF_Status* status) { answer(status); }
void block_event(const SP_Device*, SP_Event, TF_Status* status) { answer(status); }
void to_host(const SP_Device*, SP_Stream, void* to, const SP_DeviceMemoryBase* from,
             std::uint64_t bytes, TF_Status* status) {
  answer(status);
  std::memcpy(to, from->opaque, bytes);
}
void to_device(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to, const void* from,
               std::uint64_t bytes, TF_Status* status) {
  answer(status);
  std::memcpy(to->opaque, from, bytes);
}
void now_to_host(const SP_Device*, void* to, const SP_DeviceMemoryBase* from, std::uint64_t bytes,
                 TF_Status* status) {
  to_host(nullptr, nullptr, to, from, bytes, status);
}
void now_to_device(const SP_Device*, SP_DeviceMemoryBase* to, const void* from,
                   std::uint64_t bytes, TF_Status* status) {
  to_device(nullptr, nullptr, to, from, bytes, status);
}
void synchronize(const SP_Device*, TF_Status* status) { answer(status); }
void zero(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to, std::uint64_t bytes,
          TF_Status* status) {
  answer(status);
  std::memset(to->opaque, 0, bytes);
}
void fill(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to, std::uint8_t pattern,
          std::uint64_t bytes, TF_Status*) {
  std::memset(to->opaque, pattern, bytes);
}
void fill32(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to, std::uint32_t pattern,
            std::uint64_t bytes, TF_Status*) {
  std::memset(to->opaque, static_cast<int>(pattern), bytes);
}
TF_Bool callback(const SP_Device*, SP_Stream, SE_StatusCallbackFn, void*) {
  return in->byte() % 2;
}

SP_StreamExecutor whole() {
  SP_StreamExecutor e{};
  e.allocate = allocate, e.deallocate = deallocate;
  e.host_memory_allocate = host_allocate, e.host_memory_deallocate = host_deallocate;
  e.unified_memory_allocate = host_allocate, e.unified_memory_deallocate = host_deallocate;
  e.get_allocator_stats = stats, e.device_memory_usage = usage;
  e.create_stream = create, e.destroy_stream = destroy;
  e.create_stream_dependency = tie, e.get_stream_status = state;
  e.create_event = create_event, e.destroy_event = destroy_event;
  e.get_event_status = event_state, e.record_event = mark, e.wait_for_event = mark;
  e.memcpy_dtoh = to_host, e.memcpy_htod = to_device;
  e.sync_memcpy_dtoh = now_to_host, e.sync_memcpy_htod = now_to_device;
  e.block_host_for_event = block_event, e.block_host_until_done = state;
  e.synchronize_all_activity = synchronize;
  e.mem_zero = zero, e.memset = fill, e.memset32 = fill32, e.host_callback = callback;
  return e;
}

// Takes a few pointers out of a table that begins with size and `ext`, and states a size.
template <class Table>
void damage(Table* table, std::size_t right) {
  constexpr std::size_t kPointers = (sizeof(Table) - 16) / sizeof(void*);
  for (std::size_t k = in->below(8) == 0 ? in->below(4) : 0; k > 0; --k) {
    const std::size_t place = 16 + sizeof(void*) * in->below(kPointers);
    std::memset(reinterpret_cast<char*>(table) + place, 0, sizeof(void*));
  }
  table->struct_size = size(right);
}

void device_count(const SP_Platform*, int* count, TF_Status* status) {
  answer(status);
  *count = in->below(10) == 0 ? static_cast<int>(in->number()) : 2;
}
void create_device(const SP_Platform*, SE_CreateDeviceParams* params, TF_Status* status) {
  answer(status);
  params->device->hardware_name = name();
  params->device->struct_size = size(SP_DEVICE_STRUCT_SIZE);
}
void destroy_device(const SP_Platform*, SP_Device*) {}
void create_facts(const SP_Platform*, SE_CreateDeviceFnsParams* params, TF_Status* status) {
  answer(status);
  params->device_fns->struct_size = size(SP_DEVICE_FNS_STRUCT_SIZE);
}
void destroy_facts(const SP_Platform*, SP_DeviceFns*) {}
void create_executor(const SP_Platform*, SE_CreateStreamExecutorParams* params,
                     TF_Status* status) {
  answer(status);
  *params->stream_executor = whole();
  damage(params->stream_executor, SP_STREAMEXECUTOR_STRUCT_SIZE);
  // The layout of 264 bytes has its last function where mem_zero lies.
  if (params->stream_executor->struct_size == 264) {
    SP_StreamExecutor* const old = params->stream_executor;
    std::memcpy(&old->mem_zero, &old->host_callback, sizeof old->mem_zero);
  }
}
void destroy_executor(const SP_Platform*, SP_StreamExecutor*) {}
void destroy_platform(SP_Platform*) {}
void destroy_fns(SP_PlatformFns*) {}

void init(SE_PlatformRegistrationParams* params, TF_Status* status) {
  answer(status);
  if (in->below(16) == 0) params->major_version = static_cast<int>(in->number());
  params->destroy_platform = destroy_platform;
  params->destroy_platform_fns = destroy_fns;
  params->platform->name = name();
  params->platform->type = name();
  params->platform->supports_unified_memory = in->byte() % 2;
  *params->platform_fns = {};
  params->platform_fns->get_device_count = device_count;
  params->platform_fns->create_device = create_device;
  params->platform_fns->destroy_device = destroy_device;
  params->platform_fns->create_device_fns = create_facts;
  params->platform_fns->destroy_device_fns = destroy_facts;
  params->platform_fns->create_stream_executor = create_executor;
  params->platform_fns->destroy_stream_executor = destroy_executor;
  damage(params->platform_fns, SP_PLATFORM_FNS_STRUCT_SIZE);
  params->platform->struct_size = size(SP_PLATFORM_STRUCT_SIZE);
  params->struct_size = size(SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE);
}

void start_or_stop(const TP_Profiler*, TF_Status* status) { answer(status); }
void collect(const TP_Profiler*, std::uint8_t* buffer, std::size_t* bytes, TF_Status* status) {
  answer(status);
  if (buffer == nullptr) *bytes = in->below(4) == 0 ? in->number() : in->byte();
  if (*bytes > 4096) *bytes = ~std::size_t{0} - 1;  // refused; memory for it is not to be had
  if (buffer != nullptr && in->below(8) == 0) *bytes = in->number();
}
void destroy_profiler(TP_Profiler*) {}
void destroy_profiler_fns(TP_ProfilerFns*) {}

void init_profile(TF_ProfilerRegistrationParams* params, TF_Status* status) {
  answer(status);
  params->destroy_profiler = destroy_profiler;
  params->destroy_profiler_fns = destroy_profiler_fns;
  params->profiler->device_type = name();
  params->profiler_fns->start = start_or_stop;
  params->profiler_fns->stop = start_or_stop;
  params->profiler_fns->collect_data_xspace = collect;
  damage(params->profiler_fns, TP_PROFILER_FNS_STRUCT_SIZE);
  params->profiler->struct_size = size(TP_PROFILER_STRUCT_SIZE);
  params->struct_size = size(TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE);
}

void use(const char* type) {
  DS_Device* device = DS_GetDevice(type, static_cast<int>(in->below(3)), nullptr);
  DS_Stream* stream = DS_NewStream(device, nullptr);
  DS_Event* event = DS_NewEvent(device, nullptr);
  DS_DeviceMemory* memory = DS_AllocateDeviceMemory(device, 64, nullptr);
  char bytes[64] = {};
  for (std::size_t k = in->below(8); k > 0; --k) {
    const std::uint64_t count = in->below(100);
    switch (in->below(8)) {
      case 0: DS_CopyToDevice(stream, memory, bytes, count, nullptr); break;
      case 1: DS_CopyToHost(nullptr, bytes, memory, count, nullptr); break;
      case 2: DS_CopyOnDevice(stream, memory, memory, count, nullptr); break;
      case 3: DS_FillDevice(stream, memory, in->byte(), count, nullptr); break;
      case 4: DS_FillDevice32(nullptr, memory, 7, count, nullptr); break;
      case 5: DS_RecordEvent(stream, event, nullptr); break;
      case 6: DS_BlockForStream(stream, nullptr); break;
      default: DS_EventState(event); DS_DeleteTimer(DS_NewTimer(device, nullptr));
    }
  }
  TF_Buffer* text = TF_NewBuffer();
  DS_DescribeDevice(device, text, nullptr);
  TF_DeleteBuffer(text);
  DS_FreeDeviceMemory(memory);
  DS_DeleteEvent(event);
  DS_DeleteStream(stream);
}

template <class Function>
void registered(void (*handler)(drystone::host::Library&, void*), Function function) {
  drystone::host::Library library;
  library.path = "fuzzed.so";
  drystone::host::guarded(nullptr, "fuzz",
                          [&] { handler(library, reinterpret_cast<void*>(function)); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  Input input(data, size);
  in = &input;
  registered(drystone::host::init_device, init);
  registered(drystone::host::init_device, init);
  registered(drystone::host::init_profiler, init_profile);
  for (const char* type : {"FAKE", "NPU", "A_B"}) {
    use(type);
    DS_StartProfiler(type, nullptr);
    DS_StopProfiler(type, nullptr);
    TF_Buffer* profile = TF_NewBuffer();
    DS_CollectProfile(type, profile, nullptr);
    TF_DeleteBuffer(profile);
  }
  DS_ShutdownDevices();
  return 0;
}

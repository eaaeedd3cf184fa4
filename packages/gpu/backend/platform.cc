// The plugin as a device: the functions of drystone/device.h.
#include <cstdlib>
#include <new>

#include "drystone/sdk/guard.hpp"
#include "drystone/sdk/status.hpp"
#include "streams.h"

using drystone::gpu::Card;
using drystone::gpu::Event;

SP_Stream_st::SP_Stream_st(Card& card)
    : card(card),
      stream(card.open_stream()),
      layers(*stream),
      flag(static_cast<std::uint32_t*>(card.allocate_pinned(sizeof *flag))) {
  if (flag == nullptr) throw std::bad_alloc();
  *flag = 0;
}

SP_Stream_st::~SP_Stream_st() {
  try {
    stream->enter();
    stream->wait();
  } catch (const std::exception&) {  // what failed was told where it was waited for
    static_cast<void>(flag);
  }
  card.free_pinned(flag);
}

std::string SP_Stream_st::trouble() const {
  if (std::atomic_ref<std::uint32_t>(*flag).load() != 0) return "an index out of range";
  const std::lock_guard<std::mutex> guard(noting_);
  return noted_;
}

void SP_Stream_st::note(std::string text) {
  const std::lock_guard<std::mutex> guard(noting_);
  if (noted_.empty()) noted_ = std::move(text);
}

namespace {

// What a function does, without an exception that leaves it.
template <class Body>
void attempt(const char* place, TF_Status* status, Body body) {
  const auto error = drystone::sdk::guarded(place, [&]() -> drystone::sdk::Error {
    body();
    return {};
  });
  if (!error.ok()) drystone::sdk::store(error, status);
}

template <class Answer, class Body>
Answer answered(Answer otherwise, Body body) {
  Answer out = otherwise;
  static_cast<void>(drystone::sdk::guarded("device", [&]() -> drystone::sdk::Error {
    out = body();
    return {};
  }));
  return out;
}

Card& card_of(const SP_Device* device) { return *static_cast<Card*>(device->device_handle); }

drystone::gpu::Stream& entered(SP_Stream stream) {
  stream->stream->enter();
  return *stream->stream;
}

// ---- memory ----------------------------------------------------------------------------------

void allocate(const SP_Device* device, uint64_t size, int64_t, SP_DeviceMemoryBase* memory) {
  memory->opaque = answered<void*>(nullptr, [&] { return card_of(device).allocate(size); });
  if (memory->opaque == nullptr) return;
  memory->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  memory->size = size;
}

void deallocate(const SP_Device* device, SP_DeviceMemoryBase* memory) {
  answered(0, [&] { return card_of(device).free(memory->opaque), 0; });
  memory->opaque = nullptr;
  memory->size = 0;
}

void* allocate_host(const SP_Device* device, uint64_t size) {
  return answered<void*>(nullptr, [&] { return card_of(device).allocate_pinned(size); });
}

void free_host(const SP_Device* device, void* memory) {
  answered(0, [&] { return card_of(device).free_pinned(memory), 0; });
}

TF_Bool no_stats(const SP_Device*, SP_AllocatorStats*) { return 0; }

TF_Bool memory_usage(const SP_Device* device, int64_t* unused, int64_t* total) {
  return answered<TF_Bool>(0, [&] { return card_of(device).usage(unused, total) ? 1 : 0; });
}

// ---- copies and fills ------------------------------------------------------------------------

void copy_out(const SP_Device*, SP_Stream stream, void* to, const SP_DeviceMemoryBase* from,
              uint64_t size, TF_Status* status) {
  attempt("memcpy_dtoh", status, [&] { entered(stream).copy_out(to, from->opaque, size); });
}

void copy_in(const SP_Device*, SP_Stream stream, SP_DeviceMemoryBase* to, const void* from,
             uint64_t size, TF_Status* status) {
  attempt("memcpy_htod", status, [&] { entered(stream).copy_in(to->opaque, from, size); });
}

void copy_within(const SP_Device*, SP_Stream stream, SP_DeviceMemoryBase* to,
                 const SP_DeviceMemoryBase* from, uint64_t size, TF_Status* status) {
  attempt("memcpy_dtod", status,
          [&] { entered(stream).copy_within(to->opaque, from->opaque, size); });
}

void copy_out_now(const SP_Device* device, void* to, const SP_DeviceMemoryBase* from, uint64_t size,
                  TF_Status* status) {
  attempt("sync_memcpy_dtoh", status, [&] { card_of(device).copy(to, from->opaque, size); });
}

void copy_in_now(const SP_Device* device, SP_DeviceMemoryBase* to, const void* from, uint64_t size,
                 TF_Status* status) {
  attempt("sync_memcpy_htod", status, [&] { card_of(device).copy(to->opaque, from, size); });
}

void copy_within_now(const SP_Device* device, SP_DeviceMemoryBase* to,
                     const SP_DeviceMemoryBase* from, uint64_t size, TF_Status* status) {
  attempt("sync_memcpy_dtod", status,
          [&] { card_of(device).copy(to->opaque, from->opaque, size); });
}

void fill_zero(const SP_Device*, SP_Stream stream, SP_DeviceMemoryBase* at, uint64_t size,
               TF_Status* status) {
  attempt("mem_zero", status, [&] { entered(stream).clear(at->opaque, size); });
}

void fill(const SP_Device*, SP_Stream stream, SP_DeviceMemoryBase* at, uint8_t byte, uint64_t size,
          TF_Status* status) {
  attempt("memset", status, [&] { entered(stream).fill(at->opaque, byte, size); });
}

void fill32(const SP_Device*, SP_Stream stream, SP_DeviceMemoryBase* at, uint32_t pattern,
            uint64_t size, TF_Status* status) {
  attempt("memset32", status, [&] { entered(stream).fill32(at->opaque, pattern, size); });
}

// ---- streams ---------------------------------------------------------------------------------

void create_stream(const SP_Device* device, SP_Stream* stream, TF_Status* status) {
  attempt("create_stream", status, [&] { *stream = new SP_Stream_st(card_of(device)); });
}

void destroy_stream(const SP_Device*, SP_Stream stream) { delete stream; }

void create_stream_dependency(const SP_Device* device, SP_Stream dependent, SP_Stream other,
                              TF_Status* status) {
  attempt("create_stream_dependency", status, [&] {
    const std::unique_ptr<Event> event = card_of(device).make_event();
    entered(other).mark(*event);
    entered(dependent).wait_for(*event);
  });
}

void say(const SP_Stream_st& stream, TF_Status* status) {
  const std::string text = stream.trouble();
  if (!text.empty()) TF_SetStatus(status, TF_INVALID_ARGUMENT, text.c_str());
}

void get_stream_status(const SP_Device*, SP_Stream stream, TF_Status* status) {
  attempt("get_stream_status", status, [&] { say(*stream, status); });
}

void block_host_until_done(const SP_Device*, SP_Stream stream, TF_Status* status) {
  attempt("block_host_until_done", status, [&] {
    entered(stream).wait();
    say(*stream, status);
  });
}

void synchronize_all_activity(const SP_Device* device, TF_Status* status) {
  attempt("synchronize_all_activity", status, [&] { card_of(device).wait(); });
}

// What a stream is to call on the host.
struct HostCall {
  SP_Stream stream;
  SE_StatusCallbackFn function;
  void* argument;

  static void run(void* given) {
    const std::unique_ptr<HostCall> own(static_cast<HostCall*>(given));
    const drystone::sdk::Status status;
    own->function(own->argument, status.get());
    if (TF_GetCode(status.get()) != TF_OK) own->stream->note(TF_Message(status.get()));
  }
};

TF_Bool host_callback(const SP_Device*, SP_Stream stream, SE_StatusCallbackFn function,
                      void* argument) {
  return answered<TF_Bool>(0, [&] {
    auto call = std::make_unique<HostCall>(HostCall{stream, function, argument});
    entered(stream).call(HostCall::run, call.get());
    static_cast<void>(call.release());
    return static_cast<TF_Bool>(1);
  });
}

// ---- events and timers -----------------------------------------------------------------------

void create_event(const SP_Device* device, SP_Event* event, TF_Status* status) {
  attempt("create_event", status,
          [&] { *event = new SP_Event_st{card_of(device).make_event(), nullptr, 0}; });
}

void destroy_event(const SP_Device*, SP_Event event) { delete event; }

void record_event(const SP_Device*, SP_Stream stream, SP_Event event, TF_Status* status) {
  attempt("record_event", status, [&] {
    entered(stream).mark(*event->event);
    event->stream = stream;
    event->marks = stream->marks;
  });
}

SE_EventStatus get_event_status(const SP_Device*, SP_Event event) {
  return answered(SE_EVENT_ERROR, [&] {
    if (event->stream == nullptr) return SE_EVENT_UNKNOWN;
    if (!event->event->is_done()) return SE_EVENT_PENDING;
    const auto raised = std::atomic_ref<std::uint32_t>(*event->stream->flag).load();
    return raised != 0 && raised <= event->marks ? SE_EVENT_ERROR : SE_EVENT_COMPLETE;
  });
}

void wait_for_event(const SP_Device* const, SP_Stream stream, SP_Event event,
                    TF_Status* const status) {
  attempt("wait_for_event", status, [&] { entered(stream).wait_for(*event->event); });
}

void block_host_for_event(const SP_Device*, SP_Event event, TF_Status* status) {
  attempt("block_host_for_event", status, [&] { event->event->wait(); });
}

void create_timer(const SP_Device* device, SP_Timer* timer, TF_Status* status) {
  attempt("create_timer", status, [&] {
    Card& card = card_of(device);
    *timer = new SP_Timer_st{card.make_event(), card.make_event()};
  });
}

void destroy_timer(const SP_Device*, SP_Timer timer) { delete timer; }

void start_timer(const SP_Device*, SP_Stream stream, SP_Timer timer, TF_Status* status) {
  attempt("start_timer", status, [&] { entered(stream).mark(*timer->begin); });
}

void stop_timer(const SP_Device*, SP_Stream stream, SP_Timer timer, TF_Status* status) {
  attempt("stop_timer", status, [&] { entered(stream).mark(*timer->end); });
}

uint64_t nanoseconds(SP_Timer timer) {
  return answered<uint64_t>(0, [&] {
    const double seconds = timer->end->seconds_since(*timer->begin);
    return seconds > 0 ? static_cast<uint64_t>(seconds * 1e9) : uint64_t{0};
  });
}

// ---- the platform ----------------------------------------------------------------------------

void get_device_count(const SP_Platform*, int* count, TF_Status*) {
  *count = drystone::gpu::found().devices;
}

void create_device(const SP_Platform*, SE_CreateDeviceParams* params, TF_Status* status) {
  attempt("create_device", status, [&] {
    Card* const card = drystone::gpu::open_card(params->ordinal).release();
    SP_Device& device = *params->device;
    device.struct_size = SP_DEVICE_STRUCT_SIZE;
    device.device_handle = card;
    device.hardware_name = card->name();
    device.device_vendor = drystone::gpu::found().is_host ? "drystone" : "NVIDIA";
    device.pci_bus_id = card->bus();
  });
}

void destroy_device(const SP_Platform*, SP_Device* device) {
  delete static_cast<Card*>(device->device_handle);
  device->device_handle = nullptr;
}

int64_t memory_bandwidth(const SP_Device* device) {
  const double rate = card_of(device).bytes_per_second();
  return rate < 0 ? -1 : static_cast<int64_t>(rate);
}

void create_device_fns(const SP_Platform*, SE_CreateDeviceFnsParams* params, TF_Status*) {
  params->device_fns->struct_size = SP_DEVICE_FNS_STRUCT_SIZE;
  params->device_fns->get_memory_bandwidth = memory_bandwidth;
}

void destroy_device_fns(const SP_Platform*, SP_DeviceFns*) {}

void create_stream_executor(const SP_Platform*, SE_CreateStreamExecutorParams* params, TF_Status*) {
  SP_StreamExecutor& fns = *params->stream_executor;
  fns.struct_size = SP_STREAMEXECUTOR_STRUCT_SIZE;
  fns.allocate = allocate;
  fns.deallocate = deallocate;
  fns.host_memory_allocate = allocate_host;
  fns.host_memory_deallocate = free_host;
  fns.get_allocator_stats = no_stats;
  fns.device_memory_usage = memory_usage;
  fns.create_stream = create_stream;
  fns.destroy_stream = destroy_stream;
  fns.create_stream_dependency = create_stream_dependency;
  fns.get_stream_status = get_stream_status;
  fns.create_event = create_event;
  fns.destroy_event = destroy_event;
  fns.get_event_status = get_event_status;
  fns.record_event = record_event;
  fns.wait_for_event = wait_for_event;
  fns.create_timer = create_timer;
  fns.destroy_timer = destroy_timer;
  fns.start_timer = start_timer;
  fns.stop_timer = stop_timer;
  fns.memcpy_dtoh = copy_out;
  fns.memcpy_htod = copy_in;
  fns.memcpy_dtod = copy_within;
  fns.sync_memcpy_dtoh = copy_out_now;
  fns.sync_memcpy_htod = copy_in_now;
  fns.sync_memcpy_dtod = copy_within_now;
  fns.block_host_for_event = block_host_for_event;
  fns.block_host_until_done = block_host_until_done;
  fns.synchronize_all_activity = synchronize_all_activity;
  fns.mem_zero = fill_zero;
  fns.memset = fill;
  fns.memset32 = fill32;
  fns.host_callback = host_callback;
}

void destroy_stream_executor(const SP_Platform*, SP_StreamExecutor*) {}

void create_timer_fns(const SP_Platform*, SP_TimerFns* fns, TF_Status*) {
  fns->struct_size = SP_TIMER_FNS_STRUCT_SIZE;
  fns->nanoseconds = nanoseconds;
}

void destroy_timer_fns(const SP_Platform*, SP_TimerFns*) {}
void destroy_platform(SP_Platform*) {}
void destroy_platform_fns(SP_PlatformFns*) {}

}  // namespace

TF_CAPI_EXPORT void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status* status) {
  if (const drystone::gpu::Found& found = drystone::gpu::found(); found.devices == 0) {
    TF_SetStatus(status, TF_UNAVAILABLE, ("0 devices: " + found.reason).c_str());
    return;
  }
  params->struct_size = SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->major_version = SE_MAJOR;
  params->minor_version = SE_MINOR;
  params->patch_version = SE_PATCH;
  params->destroy_platform = destroy_platform;
  params->destroy_platform_fns = destroy_platform_fns;
  SP_Platform& platform = *params->platform;
  platform.struct_size = SP_PLATFORM_STRUCT_SIZE;
  platform.name = "NVIDIA_CUDA";
  platform.type = "GPU";
  platform.use_bfc_allocator = 1;
  SP_PlatformFns& fns = *params->platform_fns;
  fns.struct_size = SP_PLATFORM_FNS_STRUCT_SIZE;
  fns.get_device_count = get_device_count;
  fns.create_device = create_device;
  fns.destroy_device = destroy_device;
  fns.create_device_fns = create_device_fns;
  fns.destroy_device_fns = destroy_device_fns;
  fns.create_stream_executor = create_stream_executor;
  fns.destroy_stream_executor = destroy_stream_executor;
  fns.create_timer_fns = create_timer_fns;
  fns.destroy_timer_fns = destroy_timer_fns;
}

// DS_ functions for streams, events and timers.
#include "device/objects.h"

namespace drystone::host {
namespace {

// Makes an object by `create`, one of the executor's functions that fill in a handle.
template <class Object, class Function>
Object* make(DS_Device* device, const char* what, Function create) {
  require(device, "device");
  auto made = std::make_unique<Object>();
  made->device = device;
  execute(*device, what, create, &made->handle);
  return made.release();
}

template <class Object, class Function>
void destroy(Object* object, const char* what, Function function) {
  if (object == nullptr) return;
  answered(0, [&] {
    const std::unique_ptr<Object> owned(object);
    ask(*object->device, what, function, object->handle);
    return 0;
  });
}

// Calls a function of the executor on a stream and another object of the same device.
template <class Object, class Function>
void pair(DS_Stream* stream, Object* object, const char* name, const char* what,
          Function function) {
  require(stream, "stream");
  require(object, name);
  require_same_device(*stream, *object);
  execute(*stream->device, what, function, stream->handle, object->handle);
}

struct EventDeleter {
  void operator()(DS_Event* event) const { DS_DeleteEvent(event); }
};

}  // namespace

void block_for_stream(DS_Stream& stream) {
  DS_Device& device = *stream.device;
  if (device.executor->block_host_until_done != nullptr) {
    execute(device, "block_host_until_done", &SP_StreamExecutor::block_host_until_done,
            stream.handle);
    return;
  }
  const std::unique_ptr<DS_Event, EventDeleter> event(
      make<DS_Event>(&device, "create_event", &SP_StreamExecutor::create_event));
  execute(device, "record_event", &SP_StreamExecutor::record_event, stream.handle, event->handle);
  execute(device, "block_host_for_event", &SP_StreamExecutor::block_host_for_event, event->handle);
}

void block_for_device(DS_Device& device) {
  execute(device, "synchronize_all_activity", &SP_StreamExecutor::synchronize_all_activity);
}

}  // namespace drystone::host

using namespace drystone::host;

extern "C" {

DS_Stream* DS_NewStream(DS_Device* device, TF_Status* status) {
  DS_Stream* made = nullptr;
  guarded(status, __func__, [&] {
    made = make<DS_Stream>(device, "create_stream", &SP_StreamExecutor::create_stream);
  });
  return made;
}

void DS_DeleteStream(DS_Stream* stream) { destroy(stream, "destroy_stream", &SP_StreamExecutor::destroy_stream); }

SP_Stream DS_StreamHandle(const DS_Stream* stream) {
  return stream == nullptr ? nullptr : stream->handle;
}

void DS_StreamWaitForStream(DS_Stream* stream, DS_Stream* other, TF_Status* status) {
  guarded(status, __func__, [&] {
    pair(stream, other, "other", "create_stream_dependency",
         &SP_StreamExecutor::create_stream_dependency);
  });
}

void DS_StreamStatus(DS_Stream* stream, TF_Status* status) {
  guarded(status, __func__, [&] {
    require(stream, "stream");
    execute(*stream->device, "get_stream_status", &SP_StreamExecutor::get_stream_status,
            stream->handle);
  });
}

void DS_BlockForStream(DS_Stream* stream, TF_Status* status) {
  guarded(status, __func__, [&] {
    require(stream, "stream");
    block_for_stream(*stream);
  });
}

void DS_StreamCall(DS_Stream* stream, SE_StatusCallbackFn function, void* argument,
                   TF_Status* status) {
  guarded(status, __func__, [&] {
    require(stream, "stream");
    if (function == nullptr) fail(TF_INVALID_ARGUMENT, "function must not be NULL");
    DS_Device& device = *stream->device;
    if (!ask(device, "host_callback", &SP_StreamExecutor::host_callback, stream->handle, function, argument)) {
      fail(TF_INTERNAL, device.name + " host_callback could not enqueue the call", about(device));
    }
  });
}

void DS_SynchronizeDevice(DS_Device* device, TF_Status* status) {
  guarded(status, __func__, [&] {
    require(device, "device");
    block_for_device(*device);
  });
}

DS_Event* DS_NewEvent(DS_Device* device, TF_Status* status) {
  DS_Event* made = nullptr;
  guarded(status, __func__, [&] {
    made = make<DS_Event>(device, "create_event", &SP_StreamExecutor::create_event);
  });
  return made;
}

void DS_DeleteEvent(DS_Event* event) { destroy(event, "destroy_event", &SP_StreamExecutor::destroy_event); }

void DS_RecordEvent(DS_Stream* stream, DS_Event* event, TF_Status* status) {
  guarded(status, __func__, [&] {
    pair(stream, event, "event", "record_event", &SP_StreamExecutor::record_event);
  });
}

void DS_StreamWaitForEvent(DS_Stream* stream, DS_Event* event, TF_Status* status) {
  guarded(status, __func__, [&] {
    pair(stream, event, "event", "wait_for_event", &SP_StreamExecutor::wait_for_event);
  });
}

void DS_BlockForEvent(DS_Event* event, TF_Status* status) {
  guarded(status, __func__, [&] {
    require(event, "event");
    execute(*event->device, "block_host_for_event", &SP_StreamExecutor::block_host_for_event,
            event->handle);
  });
}

int DS_EventState(DS_Event* event) {
  if (event == nullptr) return SE_EVENT_UNKNOWN;
  return answered<int>(SE_EVENT_UNKNOWN, [&] {
    return static_cast<int>(
        ask(*event->device, "get_event_status", &SP_StreamExecutor::get_event_status, event->handle));
  });
}

DS_Timer* DS_NewTimer(DS_Device* device, TF_Status* status) {
  DS_Timer* made = nullptr;
  guarded(status, __func__, [&] {
    require(device, "device");
    if (!device->has_timer) fail(TF_UNIMPLEMENTED, device->name + " has no timers");
    made = make<DS_Timer>(device, "create_timer", &SP_StreamExecutor::create_timer);
  });
  return made;
}

void DS_DeleteTimer(DS_Timer* timer) { destroy(timer, "destroy_timer", &SP_StreamExecutor::destroy_timer); }

void DS_StartTimer(DS_Stream* stream, DS_Timer* timer, TF_Status* status) {
  guarded(status, __func__, [&] {
    pair(stream, timer, "timer", "start_timer", &SP_StreamExecutor::start_timer);
  });
}

void DS_StopTimer(DS_Stream* stream, DS_Timer* timer, TF_Status* status) {
  guarded(status, __func__, [&] {
    pair(stream, timer, "timer", "stop_timer", &SP_StreamExecutor::stop_timer);
  });
}

uint64_t DS_TimerNanoseconds(DS_Timer* timer) {
  if (timer == nullptr) return 0;
  return answered<uint64_t>(0, [&] {
    DS_Device& device = *timer->device;
    return in_plugin(device.name + " nanoseconds", device.platform.library(),
                     [&] { return device.timer->nanoseconds(timer->handle); });
  });
}

}  // extern "C"

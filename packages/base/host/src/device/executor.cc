// Stream executors of every release: from the layout a plugin has to today's.
#include "device/calls.h"
#include "device/platform.h"

namespace drystone::host {
namespace {

// TensorFlow 2.5 and 2.6: 31 functions; mem_zero, memset and memset32 came later, before the last.
constexpr std::size_t kBeforeFills = 264;
static_assert(offsetof(SP_StreamExecutor, mem_zero) + sizeof(void*) == kBeforeFills,
              "the last function of the old layout lies where mem_zero lies today");

void move_callback(SP_StreamExecutor& executor) {
  executor.host_callback = reinterpret_cast<decltype(executor.host_callback)>(
      reinterpret_cast<void (*)()>(executor.mem_zero));
  executor.mem_zero = nullptr;
}

void require_base(const SP_StreamExecutor& e) {
  require_members("SP_StreamExecutor",
                  {{"allocate", e.allocate != nullptr},
                   {"deallocate", e.deallocate != nullptr},
                   {"host_memory_allocate", e.host_memory_allocate != nullptr},
                   {"host_memory_deallocate", e.host_memory_deallocate != nullptr},
                   {"get_allocator_stats", e.get_allocator_stats != nullptr},
                   {"device_memory_usage", e.device_memory_usage != nullptr},
                   {"create_stream", e.create_stream != nullptr},
                   {"destroy_stream", e.destroy_stream != nullptr},
                   {"create_stream_dependency", e.create_stream_dependency != nullptr},
                   {"get_stream_status", e.get_stream_status != nullptr},
                   {"create_event", e.create_event != nullptr},
                   {"destroy_event", e.destroy_event != nullptr},
                   {"get_event_status", e.get_event_status != nullptr},
                   {"record_event", e.record_event != nullptr},
                   {"wait_for_event", e.wait_for_event != nullptr},
                   {"memcpy_dtoh", e.memcpy_dtoh != nullptr},
                   {"memcpy_htod", e.memcpy_htod != nullptr},
                   {"sync_memcpy_dtoh", e.sync_memcpy_dtoh != nullptr},
                   {"sync_memcpy_htod", e.sync_memcpy_htod != nullptr},
                   {"block_host_for_event", e.block_host_for_event != nullptr},
                   {"synchronize_all_activity", e.synchronize_all_activity != nullptr},
                   {"host_callback", e.host_callback != nullptr}});
}

void require_fills(const SP_StreamExecutor& e) {
  require_members("SP_StreamExecutor", {{"mem_zero", e.mem_zero != nullptr},
                                        {"memset", e.memset != nullptr},
                                        {"memset32", e.memset32 != nullptr}});
}

void require_unified(const SP_StreamExecutor& e) {
  require_members("SP_StreamExecutor (SP_Platform.supports_unified_memory is set)",
                  {{"unified_memory_allocate", e.unified_memory_allocate != nullptr},
                   {"unified_memory_deallocate", e.unified_memory_deallocate != nullptr}});
}

}  // namespace

void settle_executor(DS_Device& device, bool unified_memory) {
  device.executor_size = device.executor.settle();
  SP_StreamExecutor& executor = *device.executor;
  const bool old = device.executor_size == kBeforeFills;
  if (old) move_callback(executor);
  require_base(executor);
  if (!old) require_fills(executor);
  if (unified_memory) require_unified(executor);
  const bool timers[] = {executor.create_timer != nullptr, executor.destroy_timer != nullptr,
                         executor.start_timer != nullptr, executor.stop_timer != nullptr};
  for (const bool set : timers) {
    if (set != timers[0]) {
      fail(TF_FAILED_PRECONDITION,
           "SP_StreamExecutor must set all or none of create_timer, destroy_timer, start_timer "
           "and stop_timer");
    }
  }
}

}  // namespace drystone::host

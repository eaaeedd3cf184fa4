// A call of a plugin's function: who is named when the process ends in it, and what it cannot leave
// behind.
#ifndef DRYSTONE_HOST_CORE_PLUGIN_CALL_H_
#define DRYSTONE_HOST_CORE_PLUGIN_CALL_H_

#include <atomic>
#include <string>
#include <string_view>

#include "core/floating_mode.h"

namespace drystone::host {

struct GuardOwner;

// A function of a plugin, as it is named. The texts outlive its calls.
struct PluginFunction {
  const char* name;
  const char* library;
  std::string_view node = {};  // of a kernel, with its op
  std::string_view op = {};
  const GuardOwner* guards = nullptr;  // of tensors that it makes; NULL: none
};

// What of a plugin runs on this thread, or NULL. Read by the handler of crash_report.h.
extern constinit thread_local const PluginFunction* running_call
    __attribute__((tls_model("initial-exec")));

// A call of it, on the stack around it: two stores, as a kernel's are made once and its calls are many.
class RunningCall {
 public:
  explicit RunningCall(const PluginFunction& function) noexcept : outer_(running_call) { running_call = &function; }
  ~RunningCall() { running_call = outer_; }
  RunningCall(const RunningCall&) = delete;
  RunningCall& operator=(const RunningCall&) = delete;

 private:
  const PluginFunction* const outer_;
};

// Whether this process is a copy that a plugin has made in a call of the host's.
extern constinit std::atomic<bool> is_plugins_copy;

// Ends such a process, whose call returns: the program must not go on twice.
[[noreturn]] void end_copy(const PluginFunction& call) noexcept;

// One after which the floating-point mode is the host's again.
class PluginCall {
 public:
  explicit PluginCall(const PluginFunction& function) noexcept : function_(function), running_(function_) {}
  PluginCall(const char* name, const char* library, std::string_view node = {}, std::string_view op = {}) noexcept
      : PluginCall(PluginFunction{name, library, node, op}) {}
  ~PluginCall() {
    if (is_plugins_copy.load(std::memory_order_relaxed)) [[unlikely]] end_copy(function_);
  }
  PluginCall(const PluginCall&) = delete;
  PluginCall& operator=(const PluginCall&) = delete;

 private:
  const PluginFunction function_;
  const RunningCall running_;
  const KeptFloatingMode mode_;
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_PLUGIN_CALL_H_

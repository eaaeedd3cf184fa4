// A call of a plugin's function: who is named when the process ends in it, and what it cannot leave
// behind.
#ifndef DRYSTONE_HOST_CORE_PLUGIN_CALL_H_
#define DRYSTONE_HOST_CORE_PLUGIN_CALL_H_

#include <atomic>
#include <string>
#include <string_view>

#include "core/floating_mode.h"

namespace drystone::host {

class RunningCall;
struct GuardOwner;

// What of a plugin runs on this thread, or NULL. Read by the handler of last_words.h.
extern constinit thread_local const RunningCall* running_call
    __attribute__((tls_model("initial-exec")));

// The name of a call, on the stack around it. The texts outlive it. Costs two stores.
class RunningCall {
 public:
  RunningCall(const char* function, const char* library, std::string_view node = {},
              std::string_view op = {}, const GuardOwner* guards = nullptr) noexcept
      : function(function), library(library), node(node), op(op), guards(guards), outer_(running_call) {
    running_call = this;
  }
  ~RunningCall() { running_call = outer_; }
  RunningCall(const RunningCall&) = delete;
  RunningCall& operator=(const RunningCall&) = delete;

  const char* const function;
  const char* const library;
  const std::string_view node;  // of a kernel, with its op
  const std::string_view op;
  const GuardOwner* const guards;  // of tensors that it makes; NULL: none

 private:
  const RunningCall* const outer_;
};

// Whether this process is a copy that a plugin has made in a call of the host's.
extern constinit std::atomic<bool> is_plugins_copy;

// Ends such a process, whose call returns: the program must not go on twice.
[[noreturn]] void end_copy(const RunningCall& call) noexcept;

// One after which the floating-point mode is the host's again.
class PluginCall : public RunningCall {
 public:
  using RunningCall::RunningCall;
  ~PluginCall() {
    if (is_plugins_copy.load(std::memory_order_relaxed)) [[unlikely]] end_copy(*this);
  }

 private:
  const KeptFloatingMode mode_;
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_PLUGIN_CALL_H_

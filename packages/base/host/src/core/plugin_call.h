// A call of a plugin's function: who is named when the process ends in it, and what it cannot leave
// behind.
#ifndef DRYSTONE_HOST_CORE_PLUGIN_CALL_H_
#define DRYSTONE_HOST_CORE_PLUGIN_CALL_H_

#include <string>
#include <string_view>

#include "core/floating_mode.h"

namespace drystone::host {

class PluginCall;
struct GuardOwner;

// What of a plugin runs on this thread, or NULL. Read by the handler of last_words.h.
extern constinit thread_local const PluginCall* running_call
    __attribute__((tls_model("initial-exec")));

// On the stack around the call. The texts outlive it. Costs two stores, and a look at the
// floating-point mode, which is the host's again afterwards.
class PluginCall {
 public:
  PluginCall(const char* function, const char* library, std::string_view node = {},
             std::string_view op = {}, const GuardOwner* guards = nullptr) noexcept
      : function(function), library(library), node(node), op(op), guards(guards), outer_(running_call) {
    running_call = this;
  }
  ~PluginCall() { running_call = outer_; }
  PluginCall(const PluginCall&) = delete;
  PluginCall& operator=(const PluginCall&) = delete;

  const char* const function;
  const char* const library;
  const std::string_view node;  // of a kernel, with its op
  const std::string_view op;
  const GuardOwner* const guards;  // of tensors that it makes; NULL: none

 private:
  const PluginCall* const outer_;
  const KeptFloatingMode mode_;
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_PLUGIN_CALL_H_

// How the device module calls a plugin and checks what it was given.
#ifndef DRYSTONE_HOST_DEVICE_CALLS_H_
#define DRYSTONE_HOST_DEVICE_CALLS_H_

#include <string>
#include <utility>
#include <vector>

#include "core/failure.h"
#include "core/plugin_call.h"

namespace drystone::host {

// Calls `body` with a fresh status and fails with "WHAT: MESSAGE" when the plugin sets it.
template <class Body>
void call_plugin(const std::string& what, Body&& body) {
  TF_Status status;
  const PluginCall running(what.c_str(), running_call == nullptr ? "" : running_call->library);
  std::forward<Body>(body)(&status);
  if (status.code != TF_OK) pass_on(status, what + ": ");
}

// A member of a table and whether the plugin has set it.
struct Member {
  const char* name;
  bool set;
};

// Fails with FAILED_PRECONDITION naming every member of `table` that is not set.
inline void require_members(const char* table, const std::vector<Member>& members) {
  std::string missing;
  for (const Member& member : members) {
    if (!member.set) missing += (missing.empty() ? "" : ", ") + std::string(member.name);
  }
  if (!missing.empty()) {
    fail(TF_FAILED_PRECONDITION,
         std::string(table) + " lacks required members: " + missing + "; the plugin must set them");
  }
}

// Fails with FAILED_PRECONDITION unless the major versions agree.
inline void require_major(const char* what, int host, int plugin_major, int plugin_minor,
                          int plugin_patch) {
  if (plugin_major == host) return;
  fail(TF_FAILED_PRECONDITION,
       std::string(what) + " version " + std::to_string(plugin_major) + "." +
           std::to_string(plugin_minor) + "." + std::to_string(plugin_patch) +
           " of the plugin does not fit this host, which needs major version " +
           std::to_string(host) + "; install a plugin built for it");
}

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_DEVICE_CALLS_H_

// How the device module calls a plugin and checks what it was given.
#ifndef DRYSTONE_HOST_DEVICE_CALLS_H_
#define DRYSTONE_HOST_DEVICE_CALLS_H_

#include <string>
#include <utility>
#include <vector>

#include "core/failure.h"
#include "core/plugin_call.h"

namespace drystone::host {

// What a failure of a library's function is about; `device`: its name, where the function is one of a device's.
inline Payloads about(const std::string& library, const std::string& device = {}) {
  Payloads out = {{DS_PAYLOAD_LIBRARY, library}};
  if (!device.empty()) out[DS_PAYLOAD_DEVICE] = device;
  return out;
}

// Fails with INTERNAL: what a function of a library did is nothing that the host can use.
[[noreturn]] inline void misbehaved(const std::string& what, const std::string& library, const std::string& how,
                                    const std::string& device = {}) {
  fail(TF_INTERNAL, what + " " + how + " (" + library + ")", about(library, device));
}

// Runs `body`, a call of a library's function, which is named where it ends the process or throws.
template <class Body>
auto in_plugin(const std::string& what, const std::string& library, Body&& body, const std::string& device = {}) {
  const PluginCall running(what.c_str(), library.c_str());
  try {
    return std::forward<Body>(body)();
  } catch (const Failure&) {
    throw;
  } catch (const std::exception& error) {
    misbehaved(what, library, std::string("threw a C++ exception: ") + error.what(), device);
  } catch (...) {
    misbehaved(what, library, "threw a C++ exception of unknown type", device);
  }
}

// The same with a fresh status: fails with "WHAT: MESSAGE (LIBRARY)" when the plugin sets it.
template <class Body>
void call_plugin(const std::string& what, const std::string& library, Body&& body, const std::string& device = {}) {
  TF_Status status;
  in_plugin(what, library, [&] { std::forward<Body>(body)(&status); }, device);
  if (status.code == TF_OK) return;
  Failure failure = failure_in(status, what + ": ", about(library, device));
  failure.message += " (" + library + ")";
  throw failure;
}

// Of an entry function, within the call of its library, which names the one that it calls.
template <class Body>
void call_entry(const std::string& what, Body&& body) {
  TF_Status status;
  const bool is_named = running_call != nullptr && running_call->name == what;
  const PluginCall running(what.c_str(), running_call == nullptr ? "" : running_call->library);
  std::forward<Body>(body)(&status);
  if (status.code != TF_OK) pass_on(status, is_named ? "" : what + ": ");
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

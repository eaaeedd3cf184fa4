// Who may register: see library/registering.h.
#include "library/registering.h"

#include <string>

#include "core/failure.h"
#include "core/library.h"
#include "core/plugin_call.h"
#include "library/crash_report.h"

namespace drystone::host {
namespace {

[[noreturn]] void refuse(const char* rule, const std::string& when) {
  fail(TF_FAILED_PRECONDITION, std::string(rule) + "; this was " + when);
}

std::string described(const PluginFunction& call, const std::string& library) {
  std::string out = "while " + std::string(call.name);
  if (!call.node.empty()) {
    out += " of node '" + std::string(call.node) + "' (op " + std::string(call.op) + ")";
  }
  return library.empty() ? out + " ran" : out + " of " + library + " ran";
}

}  // namespace

void require_registering(const char* rule, const void* caller) {
  const PluginFunction* const call = running_call;
  const Library* const library = current_library();
  const char* const found = plugin_at(caller);
  const std::string code = found == nullptr ? "" : found;
  if (call != nullptr) {
    const std::string whose = *call->library == '\0' ? code : call->library;
    if (library == nullptr || (!whose.empty() && library->path != whose)) refuse(rule, described(*call, whose));
  } else if (library == nullptr && !code.empty()) {
    refuse(rule, "in code of " + code + " that drystone had not called");
  }
}

}  // namespace drystone::host

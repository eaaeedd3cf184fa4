// Who calls functions of the program's: see library/of_programs.h.
#include "library/of_programs.h"

#include <string>

#include "core/failure.h"
#include "drystone/logging.h"
#include "library/crash_report.h"
#include "library/told_once.h"

namespace drystone::host {
namespace {

std::string refusal(const char* function) {
  return std::string("it called ") + function + ", which is for the program that embeds the host; that was refused";
}

}  // namespace

bool is_refused(const char* function, const void* caller) noexcept {
  const char* const library = plugin_at(caller);
  if (library == nullptr) return false;
  if (answered(false, [&] { return is_first_time(library, function); })) {
    TF_Log(TF_WARNING, "plugin %s: %s", library, refusal(function).c_str());
  }
  return true;
}

void require_program(const char* function, const void* caller) {
  if (is_refused(function, caller)) fail(TF_PERMISSION_DENIED, refusal(function));
}

}  // namespace drystone::host

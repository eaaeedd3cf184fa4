// Calls that hold a lock: see device/locked_call.h.
#include "device/locked_call.h"

#include <utility>

#include "core/failure.h"
#include "threads/abandonable_call.h"

namespace drystone::host {

void call_locked(std::mutex& mutex, const Called& called, std::function<void()> work) {
  const auto inside = [&mutex, work = std::move(work)] {
    const std::scoped_lock lock(mutex);
    work();
  };
  if (!called.is_watched) return inside();
  const std::string named = called.what + " of " + called.library;
  if (has_abandoned_call(called.library)) {
    fail(TF_UNAVAILABLE, named + ": the library has not returned to an earlier call, which was abandoned",
         {{DS_PAYLOAD_LIBRARY, called.library}});
  }
  if (call_abandonable(called.library, inside, {}) == CallEnd::returned) return;
  fail(TF_CANCELLED, named + " was left as it had not returned", {{DS_PAYLOAD_LIBRARY, called.library}});
}

}  // namespace drystone::host

// A call of a plugin's that holds a lock, and that its caller can leave.
#ifndef DRYSTONE_HOST_DEVICE_LOCKED_CALL_H_
#define DRYSTONE_HOST_DEVICE_LOCKED_CALL_H_

#include <functional>
#include <mutex>
#include <string>

namespace drystone::host {

// Who is called: what it is for people, which library's, and whether its functions may take forever.
struct Called {
  std::string what;
  const std::string& library;
  bool is_watched;
};

// Calls `work` with the lock, which goes with a call that is left: then nobody waits for it. Fails with CANCELLED
// when it is left, and with UNAVAILABLE while an earlier call of the library that was left has not returned.
void call_locked(std::mutex& mutex, const Called& called, std::function<void()> work);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_DEVICE_LOCKED_CALL_H_

// What was said of a plugin already: a remark is said once.
#ifndef DRYSTONE_HOST_LIBRARY_TOLD_ONCE_H_
#define DRYSTONE_HOST_LIBRARY_TOLD_ONCE_H_

#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace drystone::host {

// Whether this is the first time for a plugin's library and what it does.
inline bool is_first_time(const char* library, const char* what) {
  struct Told {
    std::mutex mutex;
    std::set<std::pair<std::string, std::string>> all;
  };
  static auto* const told = new Told();  // plugins' threads may outlive main()
  const std::lock_guard lock(told->mutex);
  return told->all.emplace(library, what).second;
}

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_LIBRARY_TOLD_ONCE_H_

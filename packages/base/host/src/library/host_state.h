// What belongs to the process and a plugin has no business to change: noted before a plugin's code
// runs, looked at again and put back afterwards.
//
// Floating-point modes are looked at in every call (core/plugin_call.h); this is for calls that are
// rare. Another thread's change of the same state in that very time is put back as well.
#ifndef DRYSTONE_HOST_LIBRARY_HOST_STATE_H_
#define DRYSTONE_HOST_LIBRARY_HOST_STATE_H_

#include <memory>
#include <string>
#include <vector>

#include "library/kept_file.h"

namespace drystone::host {

// What a plugin had changed, in words: "the umask, from 0022 to 0000".
struct Changes {
  std::vector<std::string> put_back;
  std::vector<std::string> lasting;  // which cannot be restored
};

class HostState {
 public:
  // Without the environment where others may be setting variables, which moves what is read here.
  enum class Noting { kAll, kBesideEnvironment };

  explicit HostState(Noting noting = Noting::kAll);
  ~HostState();
  HostState(const HostState&) = delete;
  HostState& operator=(const HostState&) = delete;

  // The first time puts back and says what; the destructor does otherwise.
  Changes put_back();

  // Leaves everything as it is now.
  void forget() noexcept;

 private:
  struct Noted;
  std::unique_ptr<Noted> noted_;
};

// Whether changes are watched on this thread, and those of the environment.
bool is_looked_at() noexcept;
bool is_environment_looked_at() noexcept;

// The umask, without changing it; negative if the kernel does not say.
int umask_now() noexcept;

// What is written to standard output goes to standard error, for a scope: also what C's streams hold.
class OutputToError {
 public:
  OutputToError();
  ~OutputToError();
  OutputToError(const OutputToError&) = delete;
  OutputToError& operator=(const OutputToError&) = delete;

 private:
  KeptFile output_;
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_LIBRARY_HOST_STATE_H_

// Functions in the place of those that a plugin needs and no library defines.
#ifndef DRYSTONE_HOST_LIBRARY_STAND_INS_H_
#define DRYSTONE_HOST_LIBRARY_STAND_INS_H_

#include <string>
#include <vector>

namespace drystone::host {

// Opens a library in memory that defines `functions`, for the library alone that needs it by name, and
// returns that name. A call of one of them fails: it throws Failure (UNIMPLEMENTED), which names the
// function and the plugin at `path`. While a library is being opened, where nothing may be thrown, it
// says so on the standard error output and ends the process. Throws.
std::string open_symbol_stubs(const std::string& path, const std::vector<std::string>& functions);

// While there is one on this thread, stubs end the process.
class Opening {
 public:
  Opening() noexcept;
  ~Opening();
  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_LIBRARY_STAND_INS_H_

// Whether symbols of opened plugins are bound to this host.
#ifndef DRYSTONE_HOST_LIBRARY_BINDING_H_
#define DRYSTONE_HOST_LIBRARY_BINDING_H_

#include <link.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace drystone::host {

// A file that the linker has mapped.
struct Mapped {
  ElfW(Addr) base;
  const ElfW(Dyn)* dynamic;
  std::string name;
  std::uintptr_t code_begin = 0;  // of its executable segments; an end of 0 where it has none
  std::uintptr_t code_end = 0;
  std::uintptr_t kept_begin = 0;  // of what must not be written to once it is bound
  std::uintptr_t kept_end = 0;
};

// Every mapped file that has a dynamic section.
std::vector<Mapped> mapped_files();

// Whether an address lies in the host library.
bool is_in_host(const void* address) noexcept;

// Fails (FAILED_PRECONDITION) where an undefined symbol of `handle`, or of a file mapped since
// `before`, has been bound to another library although the host has it.
void require_bound_to_host(void* handle, const std::vector<Mapped>& before);

// Well-known names that several libraries of a process bring with them, as far as the whole program
// finds them. What is opened later would be tied to them instead of to its own.
class GlobalNames {
 public:
  GlobalNames();
  // Adds a line for each family of names that has become global since, with the file that has it.
  void report(std::vector<std::string>* out) const;

 private:
  static std::map<std::string, std::string> found();

  std::map<std::string, std::string> before_;
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_LIBRARY_BINDING_H_

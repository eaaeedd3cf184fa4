// A loaded library as the slices see it, and which one is registering on this thread.
#ifndef DRYSTONE_HOST_CORE_LIBRARY_H_
#define DRYSTONE_HOST_CORE_LIBRARY_H_

#include <string>
#include <utility>
#include <vector>

namespace drystone::host {

struct Library {
  std::string path;   // real path
  void* handle = nullptr;
  bool is_vouched_for = false;        // drystone's own: its kernels are not watched
  std::vector<std::string> errors;    // of registrations, which entry functions cannot return
  std::vector<std::string> warnings;
  std::vector<std::string> ops;       // names registered by this library
  std::vector<std::string> kernels;   // ops that it registered kernels for, with repeats
  std::vector<std::string> optimizers;  // device types
  bool asked_order = false;             // whether DS_OrderOptimizer was called, if there is one
  bool has_order = false;
  std::string phase = "end";
  int priority = 0;
  std::vector<std::string> passes;
  std::vector<std::string> schemes;
  std::vector<std::string> devices;
  std::vector<std::string> profilers;
};

// The library whose entry function runs on this thread, or NULL.
Library* current_library() noexcept;

// The path of the current library, or "the host program".
std::string current_origin();

// Makes a library the current one for a scope.
class LibraryScope {
 public:
  explicit LibraryScope(Library* library) noexcept;
  ~LibraryScope();
  LibraryScope(const LibraryScope&) = delete;
  LibraryScope& operator=(const LibraryScope&) = delete;

 private:
  Library* before_;
};

// Remember an error of a registration with the current library.
void record_error(const std::string& text) noexcept;

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_LIBRARY_H_

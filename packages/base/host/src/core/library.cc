// The library that is registering on this thread.
#include "core/library.h"

#include "core/plugin_call.h"

namespace drystone::host {

constinit thread_local unsigned modes_put_back __attribute__((tls_model("initial-exec"))) = 0;
constinit thread_local const PluginFunction* running_call
    __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

thread_local Library* current = nullptr;

}  // namespace

Library* current_library() noexcept { return current; }

std::string current_origin() { return current == nullptr ? "the host program" : current->path; }

LibraryScope::LibraryScope(Library* library) noexcept
    : before_(std::exchange(current, library)) {}

LibraryScope::~LibraryScope() { current = before_; }

void record_error(const std::string& text) noexcept {
  if (current == nullptr) return;
  try {
    current->errors.push_back(text);
  } catch (...) {
    return;  // without memory for it the status that the plugin got still stands
  }
}

}  // namespace drystone::host

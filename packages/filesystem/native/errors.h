// Failures inside the library: exceptions that never leave a function of the tables.
#ifndef DRYSTONE_FILES_ERRORS_H_
#define DRYSTONE_FILES_ERRORS_H_

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "drystone/status.h"

namespace drystone::files {

struct Error {
  TF_Code code;
  std::string text;
};

// What the system refused; the host knows which code an errno is.
struct SystemError {
  int number;
  std::string context;
};

[[noreturn]] inline void fail(TF_Code code, std::string text) { throw Error{code, std::move(text)}; }

[[noreturn]] inline void fail_errno(int number, std::string context) {
  throw SystemError{number, std::move(context)};
}

// Runs `body`; what it throws becomes the status.
template <class Body>
void guarded(TF_Status* status, Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
  } catch (const Error& error) {
    TF_SetStatus(status, error.code, error.text.c_str());
  } catch (const SystemError& error) {
    TF_SetStatusFromIOError(status, error.number, error.context.c_str());
  } catch (const std::bad_alloc&) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory is left");
  } catch (const std::exception& error) {
    TF_SetStatus(status, TF_INTERNAL, error.what());
  }
}

}  // namespace drystone::files

#endif  // DRYSTONE_FILES_ERRORS_H_

// How a body inside the host fails, and the guard around every exported function.
#ifndef DRYSTONE_HOST_CORE_FAILURE_H_
#define DRYSTONE_HOST_CORE_FAILURE_H_

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "core/status.h"

namespace drystone::host {

// Thrown inside a guarded body; becomes the status of the call.
struct Failure : std::exception {
  Failure(TF_Code code_, std::string message_) : code(code_), message(std::move(message_)) {}
  const char* what() const noexcept override { return message.c_str(); }

  TF_Code code;
  std::string message;
};

[[noreturn]] inline void fail(TF_Code code, std::string message) {
  throw Failure(code, std::move(message));
}

// Fails with INVALID_ARGUMENT unless the argument, a pointer to anything, is there.
template <class T>
void require(T* argument, const char* name) {
  if (argument == nullptr) fail(TF_INVALID_ARGUMENT, std::string(name) + " must not be NULL");
}

// Runs `body` and turns whatever it throws into `status`, which may be NULL. Nothing leaves it.
template <class Body>
void guarded(TF_Status* status, const char* function, Body&& body) noexcept {
  const auto named = [&](TF_Code code, const char* text) noexcept {
    set(status, code, function, text);
  };
  clear(status);
  try {
    std::forward<Body>(body)();
  } catch (const Failure& failure) {
    named(failure.code, failure.message.c_str());
  } catch (const std::bad_alloc&) {
    named(TF_RESOURCE_EXHAUSTED, "out of memory");
  } catch (const std::exception& error) {
    named(TF_INTERNAL, error.what());
  } catch (...) {
    named(TF_INTERNAL, "an exception of unknown type was thrown");
  }
}

// The same for functions that have no status and answer `otherwise` when they fail.
template <class Result, class Body>
Result answered(Result otherwise, Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    return otherwise;
  }
}

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_FAILURE_H_

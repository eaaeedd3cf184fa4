// How a body inside the host fails, and the guard around every exported function.
#ifndef DRYSTONE_HOST_CORE_FAILURE_H_
#define DRYSTONE_HOST_CORE_FAILURE_H_

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "core/status.h"
#include "drystone/payloads.h"

namespace drystone::host {

// What a failure is about; "" where there is no such thing.
struct Subject {
  std::string node{};
  std::string op{};
  std::string kernel{};
  std::string library{};
  std::string device{};

  // "node 'a' (op Relu, kernel 'MyRelu' of /path.so)", or "node 'a' (Relu)" without a kernel.
  std::string title() const;
};

// Thrown inside a guarded body; becomes the status of the call: code and message, which people read, and
// payloads, which programs read. What is about a node is made by fail_at() or failure_at(), what a status
// of another owner's says by pass_on().
struct Failure : std::exception {
  Failure(TF_Code code_, std::string message_, Payloads payloads_ = {})
      : code(code_), message(std::move(message_)), payloads(std::move(payloads_)) {}
  const char* what() const noexcept override { return message.c_str(); }

  // The node was reached through this function, which that node called; the innermost first.
  void reached_through(const std::string& function, const std::string& node);
  // The message without the names of what it is about.
  const std::string& found() const;

  TF_Code code;
  std::string message;
  Payloads payloads;
};

// The failure, which names its subject.
Failure failure_at(const Subject& subject, Failure failure);
[[noreturn]] void fail_at(const Subject& subject, Failure failure);

// What a status of a plugin's or the embedder's says, behind `before`, with its payloads: those of
// plugins within the bounds of drystone/payloads.h. `more` is what is known beside them.
Failure failure_in(const TF_Status& status, const std::string& before = {}, Payloads more = {});
[[noreturn]] void pass_on(const TF_Status& status, const std::string& before = {}, Payloads more = {});

// Set what the status says of a failed call.
void set(TF_Status* status, const char* function, const Failure& failure) noexcept;
// The same of a failure that is only a text.
void set_found(TF_Status* status, TF_Code code, const char* function, const char* text) noexcept;

[[noreturn]] inline void fail(TF_Code code, std::string message) {
  throw Failure(code, std::move(message));
}
[[noreturn]] inline void fail(TF_Code code, std::string message, Payloads payloads) {
  throw Failure(code, std::move(message), std::move(payloads));
}

// A check of which everything is known; the message is "CHECK: FOUND; needed: NEEDED".
Failure failed_check(TF_Code code, const std::string& check, const std::string& found,
                     const std::string& needed);
[[noreturn]] void fail_check(TF_Code code, const std::string& check, const std::string& found,
                             const std::string& needed);

// Fails with INVALID_ARGUMENT unless the argument, a pointer to anything, is there.
template <class T>
void require(T* argument, const char* name) {
  if (argument == nullptr) fail(TF_INVALID_ARGUMENT, std::string(name) + " must not be NULL");
}

// Runs `body` and turns whatever it throws into `status`, which may be NULL. Nothing leaves it.
template <class Body>
void guarded(TF_Status* status, const char* function, Body&& body) noexcept {
  clear(status);
  try {
    std::forward<Body>(body)();
  } catch (const Failure& failure) {
    set(status, function, failure);
  } catch (const std::bad_alloc&) {
    set_found(status, TF_RESOURCE_EXHAUSTED, function, "out of memory");
  } catch (const std::exception& error) {
    set_found(status, TF_INTERNAL, function, error.what());
  } catch (...) {
    set_found(status, TF_INTERNAL, function, "an exception of unknown type was thrown");
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

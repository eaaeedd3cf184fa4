// Calls that can be left: see threads/abandonable_call.h.
#include "threads/abandonable_call.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <utility>

#include "core/failure.h"
#include "drystone_host/core.h"
#include "library/crash_report.h"
#include "library/of_programs.h"
#include "threads/tasks.h"

namespace drystone::host {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLooks{50};

struct Attention {
  std::mutex mutex;
  int (*asks)(void*) = nullptr;
  void* context = nullptr;
};

// Never destroyed: calls may be left when the process ends.
Attention& attention() {
  static auto* only = new Attention();
  return *only;
}

bool wants_to_go_on() {
  int (*asks)(void*) = nullptr;
  void* context = nullptr;
  {
    const std::lock_guard lock(attention().mutex);
    asks = attention().asks;
    context = attention().context;
  }
  return asks != nullptr && asks(context) != 0;
}

bool can_ask() {
  if (syscall(SYS_gettid) != getpid()) return false;
  const std::lock_guard lock(attention().mutex);
  return attention().asks != nullptr;
}

struct Left {
  std::mutex mutex;
  std::map<std::string, int, std::less<>> calls;
};

Left& left_calls() {
  static auto* only = new Left();
  return *only;
}

void count_left(const std::string& library, int change) noexcept {
  try {
    const std::lock_guard lock(left_calls().mutex);
    left_calls().calls[library] += change;
  } catch (...) {
    return;  // without memory for the note the next call is tried
  }
}

class Call;
thread_local Call* under_way __attribute__((tls_model("initial-exec"))) = nullptr;

class Call : public Task {
 public:
  Call(std::string library, std::function<void()> work) : library_(std::move(library)), work_(std::move(work)) {}

  void go() noexcept override {
    prepare_thread();
    std::exception_ptr error;
    under_way = this;
    try {
      work_();
    } catch (...) {
      error = std::current_exception();
    }
    under_way = nullptr;
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    is_done_ = true;
    changed_.notify_all();
    if (!is_left_) return;
    count_left(library_, -1);
    note_returned();
  }

  CallEnd wait(const CallLimits& patience, bool asks) {
    const auto until = patience.most_ms > 0 ? Clock::now() + std::chrono::milliseconds(std::min(patience.most_ms, kMost))
                                            : Clock::time_point::max();
    std::unique_lock lock(mutex_);
    const auto is_due = [&] { return is_done_ || request_ != nullptr; };
    while (!is_done_) {
      if (changed_.wait_until(lock, std::min(until, Clock::now() + kLooks), is_due)) {
        serve(lock);
        continue;
      }
      lock.unlock();
      CallEnd how = CallEnd::returned;
      if (asks && wants_to_go_on()) how = CallEnd::interrupted;
      else if (Clock::now() >= until) how = CallEnd::late;
      lock.lock();
      if (how != CallEnd::returned && !is_done_) return leave(how);
    }
    if (error_ != nullptr) std::rethrow_exception(error_);
    return CallEnd::returned;
  }

  // On its thread: has the caller run `body`.
  void ask_caller(const std::function<void()>& body) {
    std::unique_lock lock(mutex_);
    if (!is_left_) {
      request_ = &body;
      changed_.notify_all();
      changed_.wait(lock, [&] { return request_ == nullptr || is_left_; });
    }
    if (std::exchange(request_, nullptr) != nullptr || is_left_) {
      fail(TF_UNAVAILABLE, "the caller has gone on without this");
    }
    if (raised_ != nullptr) std::rethrow_exception(std::exchange(raised_, nullptr));
  }

 private:
  static constexpr std::int64_t kMost = std::int64_t{1} << 40;

  // What the thread has asked for, if anything. With the lock.
  void serve(std::unique_lock<std::mutex>& lock) {
    if (request_ == nullptr) return;
    const std::function<void()>& body = *request_;
    lock.unlock();
    std::exception_ptr raised;
    try {
      body();
    } catch (...) {
      raised = std::current_exception();
    }
    lock.lock();
    raised_ = std::move(raised);
    request_ = nullptr;
    changed_.notify_all();
  }

  CallEnd leave(CallEnd how) {
    is_left_ = true;
    changed_.notify_all();
    count_left(library_, 1);
    note_abandoned();
    return how;
  }

  const std::string library_;
  const std::function<void()> work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_done_ = false;  // this and what follows: under the mutex
  bool is_left_ = false;
  std::exception_ptr error_;
  const std::function<void()>* request_ = nullptr;
  std::exception_ptr raised_;  // by the request
};

}  // namespace

void set_attention(int (*asks)(void*), void* context) noexcept {
  const std::lock_guard lock(attention().mutex);
  attention().asks = asks;
  attention().context = context;
}

CallEnd call_abandonable(const std::string& library, std::function<void()> work, const CallLimits& patience) {
  const bool asks = patience.asks && can_ask();
  if (asks || patience.most_ms > 0) {
    const auto call = std::make_shared<Call>(library, work);
    if (start_task(call)) return call->wait(patience, asks);
  }
  work();
  return CallEnd::returned;
}

void on_caller(const std::function<void()>& body) {
  if (under_way == nullptr) return body();
  under_way->ask_caller(body);
}

bool has_abandoned_call(const std::string& library) noexcept {
  const std::lock_guard lock(left_calls().mutex);
  const auto found = left_calls().calls.find(library);
  return found != left_calls().calls.end() && found->second > 0;
}

}  // namespace drystone::host

extern "C" void DS_SetAttention(int (*asks)(void*), void* context) {
  using namespace drystone::host;
  if (!is_refused("DS_SetAttention", __builtin_return_address(0))) set_attention(asks, context);
}

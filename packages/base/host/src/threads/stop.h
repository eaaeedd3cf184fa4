// Telling the kernels of a run that it is over.
#ifndef DRYSTONE_HOST_THREADS_STOP_H_
#define DRYSTONE_HOST_THREADS_STOP_H_

#include <atomic>
#include <utility>

namespace drystone::host {

// Belongs to a run. Any thread may set it, and all that works for the run reads it.
class Stop {
 public:
  bool is_set() const noexcept { return is_set_.load(std::memory_order_relaxed); }
  void set() noexcept { is_set_.store(true, std::memory_order_release); }

  // The same, after a question to the caller that may stop the run: on the thread that `asks_on` was called by.
  bool look() {
    if (is_set()) return true;
    if (ask_ == nullptr || thread_ != &of_thread) return false;
    if (ask_(context_)) set();
    return is_set();
  }
  void asks_on_this_thread(bool (*ask)(void*), void* context) noexcept {
    ask_ = ask;
    context_ = context;
    thread_ = &of_thread;
  }

  // Of the kernel that this thread is in; NULL where it cannot be stopped.
  static Stop* current() noexcept { return of_thread; }

  // This thread works for the run of `stop` from now on; what it worked for.
  static Stop* exchange(Stop* stop) noexcept { return std::exchange(of_thread, stop); }

  // For a scope, this thread works for the run of `stop`.
  class Scope {
   public:
    explicit Scope(Stop* stop) noexcept : before_(of_thread) { of_thread = stop; }
    ~Scope() { of_thread = before_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Stop* before_;
  };

 private:
  static constinit thread_local Stop* of_thread __attribute__((tls_model("initial-exec")));

  std::atomic<bool> is_set_{false};
  bool (*ask_)(void*) = nullptr;
  void* context_ = nullptr;
  Stop* const* thread_ = nullptr;  // an address that each thread has another one of
};

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_THREADS_STOP_H_

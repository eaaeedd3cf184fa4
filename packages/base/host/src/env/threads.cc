// Threads of the environment: drystone/env.h.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cxxabi.h>
#include <limits>
#include <memory>

#include "core/failure.h"
#include "drystone/env.h"
#include "drystone/logging.h"

struct TF_Thread {
  pthread_t id{};
};

namespace drystone::host {
namespace {

struct Work {
  void (*function)(void*);
  void* argument;
  std::string name;
};

void* run(void* given) {
  const std::unique_ptr<Work> work(static_cast<Work*>(given));
  if (!work->name.empty()) pthread_setname_np(pthread_self(), work->name.substr(0, 15).c_str());
  try {
    work->function(work->argument);
#ifdef __GLIBCXX__
  } catch (const abi::__forced_unwind&) {
    throw;  // the thread is being ended, which must not be stopped
#endif
  } catch (const std::exception& error) {
    TF_Log(TF_ERROR, "thread \"%s\" of a plugin threw an exception: %s", work->name.c_str(),
           error.what());
  } catch (...) {
    TF_Log(TF_ERROR, "thread \"%s\" of a plugin threw an exception", work->name.c_str());
  }
  return nullptr;
}

struct Attributes {
  Attributes() { pthread_attr_init(&value); }
  ~Attributes() { pthread_attr_destroy(&value); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  pthread_attr_t value;
};

// Whole pages, and at least what the system needs; 0 when that does not fit into a size.
std::size_t stack_bytes(std::size_t wanted) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto least = static_cast<std::size_t>(sysconf(_SC_THREAD_STACK_MIN));
  if (wanted > std::numeric_limits<std::size_t>::max() - page) return 0;
  return (std::max(wanted, least) + page - 1) / page * page;
}

bool apply(const TF_ThreadOptions* options, pthread_attr_t* attributes) {
  if (options == nullptr) return true;
  if (options->guard_size != 0 && pthread_attr_setguardsize(attributes, options->guard_size) != 0) {
    return false;
  }
  if (options->stack_size == 0) return true;
  return pthread_attr_setstacksize(attributes, stack_bytes(options->stack_size)) == 0;
}

}  // namespace
}  // namespace drystone::host

using namespace drystone::host;

extern "C" {

void TF_DefaultThreadOptions(TF_ThreadOptions* options) {
  if (options != nullptr) *options = {0, 0, -1};
}

TF_Thread* TF_StartThread(const TF_ThreadOptions* options, const char* thread_name,
                          void (*work_func)(void*), void* param) {
  if (work_func == nullptr) return nullptr;
  return answered<TF_Thread*>(nullptr, [&]() -> TF_Thread* {
    auto work = std::make_unique<Work>(
        Work{work_func, param, thread_name == nullptr ? "" : thread_name});
    auto thread = std::make_unique<TF_Thread>();
    Attributes attributes;
    if (!apply(options, &attributes.value)) return nullptr;
    if (pthread_create(&thread->id, &attributes.value, run, work.get()) != 0) return nullptr;
    static_cast<void>(work.release());  // the thread's
    return thread.release();
  });
}

void TF_JoinThread(TF_Thread* thread) {
  if (thread == nullptr) return;
  if (pthread_equal(thread->id, pthread_self()) != 0) {
    pthread_detach(thread->id);
  } else {
    pthread_join(thread->id, nullptr);
  }
  delete thread;
}

}  // extern "C"

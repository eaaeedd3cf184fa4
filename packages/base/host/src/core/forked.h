// State of the process behind a lock, and what becomes of it when the process forks.
#ifndef DRYSTONE_HOST_CORE_FORKED_H_
#define DRYSTONE_HOST_CORE_FORKED_H_

#include <pthread.h>

namespace drystone::host {

// A State with a member `mutex`, made once, which the process forks while no thread has it locked: the
// child has none that would go on inside. Never destroyed, as tensors may go during exit.
template <class State>
State& whole_in_children() {
  static State* const only = [] {
    static State* const made = new State();
    pthread_atfork([] { made->mutex.lock(); }, [] { made->mutex.unlock(); },
                   [] { made->mutex.unlock(); });
    return made;
  }();
  return *only;
}

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_FORKED_H_

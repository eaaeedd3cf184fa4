// Threads of the host's own.
#ifndef DRYSTONE_HOST_THREADS_START_H_
#define DRYSTONE_HOST_THREADS_START_H_

namespace drystone::host {

// Runs work(argument) on a new thread that takes no signals, so that they reach those who wait for them.
// False where the system, or the process's limit, gives no thread.
bool start_thread(void (*work)(void*) noexcept, void* argument) noexcept;

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_THREADS_START_H_

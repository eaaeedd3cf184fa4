// A coarse clock that costs its readers a load: a counter that goes up while runs look at it.
#ifndef DRYSTONE_HOST_EXECUTOR_TICKER_H_
#define DRYSTONE_HOST_EXECUTOR_TICKER_H_

#include <atomic>
#include <cstdint>

namespace drystone::host::executor {

// The counter, which goes up every 50 ms for at least a second from now on. The thread that counts
// sleeps when this was not called for so long. NULL where the system gives no thread.
const std::atomic<std::uint32_t>* ticks();

}  // namespace drystone::host::executor

#endif  // DRYSTONE_HOST_EXECUTOR_TICKER_H_

// Calls of plugins' functions that their callers can leave, as runs can be (docs/explanation/decisions/0070).
#ifndef DRYSTONE_HOST_THREADS_LEAVING_H_
#define DRYSTONE_HOST_THREADS_LEAVING_H_

#include <cstdint>
#include <functional>
#include <string>

namespace drystone::host {

// What the embedder is asked every 50 ms while the process's main thread waits for such a call: not 0
// when it wants to go on. NULL: it is not asked.
void set_attention(int (*asks)(void*), void* context) noexcept;

enum class CallEnd : std::uint8_t { returned, interrupted, late };

// What ends a call before it returns, if anything does.
struct CallLimits {
  std::int64_t most_ms = 0;  // 0: as long as it takes
  bool asks = true;          // the embedder, on the main thread
};

// Calls `work` of a library: on another thread where it may be ended, else on this one. What it throws
// is thrown here. When it is left, the thread goes on with what `work` holds, and lets go of it when it
// returns: it must hold all that it uses.
CallEnd call_abandonable(const std::string& library, std::function<void()> work, const CallLimits& patience);

// Calls `body` on the thread that waits for the call that this thread makes, or here where it makes none:
// what the embedder offers may depend on the thread (locks, time limits). Fails with UNAVAILABLE when the
// call was left. What `body` throws is thrown here.
void on_caller(const std::function<void()>& body);

// Whether calls of the library were left that have not returned.
bool has_abandoned_call(const std::string& library) noexcept;

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_THREADS_LEAVING_H_

// Memory of the handles that plugins delete. It is never anything else, and never given back to the system:
// whether a handle was deleted before is read in memory that is there, whoever asks and however late.
#ifndef DRYSTONE_HOST_CORE_HANDLES_H_
#define DRYSTONE_HOST_CORE_HANDLES_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace drystone::host {

// Whether threads keep blocks and handles that were given back: sanitizers must see each come and go.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadsKeep = false;
#else
inline constexpr bool kThreadsKeep = true;
#endif

enum class HandleKind : std::uint8_t { tensor, status, buffer };
inline constexpr std::size_t kHandleKinds = 3;

// Bytes of a handle, and the 8 of them that say whether it is alive: they stay as they are while nothing lies
// there, and are 0 before anything has.
struct HandleLayout {
  std::size_t bytes;
  std::size_t mark;
};
inline constexpr std::array<HandleLayout, kHandleKinds> kHandleLayouts{{{64, 56}, {128, 24}, {32, 24}}};

struct FreeHandle {
  FreeHandle* next;
};

// Handles that a thread has given back.
struct HandleLists {
  struct List {
    FreeHandle* first = nullptr;
    std::size_t count = 0;
  };
  std::array<List, kHandleKinds> of;
};
inline constexpr std::size_t kKeptHandles = 1024;  // of a kind, by one thread

// One pointer, so that it fits where access is one instruction even though the library is opened late.
// NULL: the thread keeps none (yet).
extern constinit thread_local HandleLists* handle_lists __attribute__((tls_model("initial-exec")));

void* take_other_handle(HandleKind kind) noexcept;
void give_other_handle(HandleKind kind, void* handle) noexcept;

// Room for one; NULL without memory.
inline void* take_handle(HandleKind kind) noexcept {
  if (handle_lists != nullptr) {
    HandleLists::List& kept = handle_lists->of[static_cast<std::size_t>(kind)];
    if (FreeHandle* out = kept.first; out != nullptr) {
      kept.first = out->next;
      --kept.count;
      return out;
    }
  }
  return take_other_handle(kind);
}

// By any thread.
inline void give_handle(HandleKind kind, void* handle) noexcept {
  if (handle_lists != nullptr) {
    HandleLists::List& kept = handle_lists->of[static_cast<std::size_t>(kind)];
    if (kept.count < kKeptHandles) {
      auto* free = static_cast<FreeHandle*>(handle);
      free->next = kept.first;
      kept.first = free;
      ++kept.count;
      return;
    }
  }
  give_other_handle(kind, handle);
}

// Whether a handle of the kind lies, or has lain, at an address, which is not read. Without a lock.
bool is_handle(HandleKind kind, const void* address) noexcept;

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_HANDLES_H_

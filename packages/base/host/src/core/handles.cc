// Memory of handles: see core/handles.h.
#include "core/handles.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "core/forked.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace drystone::host {
namespace {

// With sanitizers those that were given back last are given out last.
constexpr std::size_t kLeftAlone = kThreadsKeep ? 0 : 4096;

constexpr std::size_t kSlab = std::size_t{32} << 10;  // bytes, at a multiple of that
constexpr std::size_t kMoved = kKeptHandles / 2;      // at once between a thread and the others

#if defined(__SANITIZE_ADDRESS__)
void forbid(HandleKind kind, void* handle) noexcept {
  const HandleLayout layout = kHandleLayouts[static_cast<std::size_t>(kind)];
  auto* const bytes = static_cast<char*>(handle);
  ASAN_POISON_MEMORY_REGION(bytes, layout.mark);
  ASAN_POISON_MEMORY_REGION(bytes + layout.mark + 8, layout.bytes - layout.mark - 8);
}
void allow(HandleKind kind, void* handle) noexcept {
  ASAN_UNPOISON_MEMORY_REGION(handle, kHandleLayouts[static_cast<std::size_t>(kind)].bytes);
}
#else
void forbid(HandleKind, void*) noexcept {}
void allow(HandleKind, void*) noexcept {}
#endif

// Where slabs begin, with their kind in the lowest bits: at most half full, and read without a lock. 0: empty.
struct Slabs {
  explicit Slabs(std::size_t count) : size(count), at(new std::atomic<std::uintptr_t>[count]()) {}

  const std::size_t size;  // a power of two
  const std::unique_ptr<std::atomic<std::uintptr_t>[]> at;
  std::size_t used = 0;
  std::unique_ptr<Slabs> before;  // somebody may be reading it

  std::size_t place(std::uintptr_t slab) const noexcept { return (slab / kSlab * 0x9E37'79B9'7F4A'7C15) % size; }
  void add(std::uintptr_t slab) noexcept {
    std::size_t k = place(slab);
    while (at[k].load(std::memory_order_relaxed) != 0) k = (k + 1) % size;
    at[k].store(slab, std::memory_order_release);
    ++used;
  }
  bool holds(std::uintptr_t slab) const noexcept {
    for (std::size_t k = place(slab);; k = (k + 1) % size) {
      const std::uintptr_t found = at[k].load(std::memory_order_acquire);
      if (found == slab || found == 0) return found == slab;
    }
  }
};

std::atomic<const Slabs*> slabs{nullptr};

std::uintptr_t slab_of(HandleKind kind, const void* address) noexcept {
  return (reinterpret_cast<std::uintptr_t>(address) & ~(kSlab - 1)) | (static_cast<std::uintptr_t>(kind) + 1);
}

// What no thread keeps: a queue of each kind, and the slabs.
struct Depot {
  struct Queue {
    FreeHandle* first = nullptr;
    FreeHandle* last = nullptr;
    std::size_t count = 0;
  };
  std::mutex mutex;
  std::array<Queue, kHandleKinds> of;
  std::unique_ptr<Slabs> known;

  void put(HandleKind kind, void* handle) noexcept {
    Queue& queue = of[static_cast<std::size_t>(kind)];
    auto* const free = static_cast<FreeHandle*>(handle);
    free->next = nullptr;
    if (queue.last == nullptr) {
      queue.first = free;
    } else {
      allow(kind, queue.last);
      queue.last->next = free;
      forbid(kind, queue.last);
    }
    queue.last = free;
    ++queue.count;
    forbid(kind, handle);
  }

  FreeHandle* take(HandleKind kind) noexcept {
    Queue& queue = of[static_cast<std::size_t>(kind)];
    if (queue.count <= kLeftAlone && !add_slab(kind) && queue.first == nullptr) return nullptr;
    FreeHandle* const out = queue.first;
    allow(kind, out);
    queue.first = out->next;
    if (queue.first == nullptr) queue.last = nullptr;
    --queue.count;
    return out;
  }

 private:
  bool add_slab(HandleKind kind) noexcept {
    auto* const slab = static_cast<char*>(std::aligned_alloc(kSlab, kSlab));
    if (slab == nullptr) return false;
    if (!make_known(slab_of(kind, slab))) {
      std::free(slab);
      return false;
    }
    std::memset(slab, 0, kSlab);
    const std::size_t bytes = kHandleLayouts[static_cast<std::size_t>(kind)].bytes;
    for (std::size_t k = 0; k + bytes <= kSlab; k += bytes) put(kind, slab + k);
    return true;
  }

  bool make_known(std::uintptr_t slab) noexcept {
    constexpr std::size_t kFirst = 64;
    try {
      if (known == nullptr || known->used * 2 >= known->size) {
        auto more = std::make_unique<Slabs>(known == nullptr ? kFirst : known->size * 2);
        for (std::size_t k = 0; known != nullptr && k < known->size; ++k) {
          if (const std::uintptr_t one = known->at[k].load(std::memory_order_relaxed); one != 0) more->add(one);
        }
        more->before = std::move(known);
        known = std::move(more);
      }
    } catch (...) {
      return false;
    }
    known->add(slab);
    slabs.store(known.get(), std::memory_order_release);
    return true;
  }
};

Depot& depot() { return whole_in_children<Depot>(); }

thread_local bool handles_are_over __attribute__((tls_model("initial-exec"))) = false;

// Some of what the thread keeps goes to the others.
void hand_over(HandleKind kind, HandleLists::List& kept, std::size_t count) noexcept {
  const std::lock_guard lock(depot().mutex);
  for (; count != 0 && kept.first != nullptr; --count, --kept.count) {
    FreeHandle* const next = kept.first->next;
    depot().put(kind, kept.first);
    kept.first = next;
  }
}

// All that the thread keeps, when it ends.
struct EndOfHandles {
  ~EndOfHandles() {
    handles_are_over = true;
    HandleLists* const mine = std::exchange(handle_lists, nullptr);
    for (std::size_t k = 0; k < kHandleKinds; ++k) {
      hand_over(static_cast<HandleKind>(k), mine->of[k], mine->of[k].count);
    }
    delete mine;
  }
};

bool open_handle_lists() noexcept {
  if (!kThreadsKeep || handles_are_over) return false;
  if (handle_lists != nullptr) return true;
  handle_lists = new (std::nothrow) HandleLists();
  if (handle_lists == nullptr) return false;
  thread_local EndOfHandles end;
  static_cast<void>(&end);
  return true;
}

}  // namespace

constinit thread_local HandleLists* handle_lists __attribute__((tls_model("initial-exec"))) = nullptr;

void* take_other_handle(HandleKind kind) noexcept {
  const bool keeps = open_handle_lists();
  const std::lock_guard lock(depot().mutex);
  void* const out = depot().take(kind);
  if (!keeps || out == nullptr) return out;
  // As many more as there are without a new slab, for what the thread asks next.
  HandleLists::List& kept = handle_lists->of[static_cast<std::size_t>(kind)];
  const auto& queue = depot().of[static_cast<std::size_t>(kind)];
  while (kept.count < kMoved && queue.count > kLeftAlone) {
    FreeHandle* const one = depot().take(kind);
    one->next = kept.first;
    kept.first = one;
    ++kept.count;
  }
  return out;
}

void give_other_handle(HandleKind kind, void* handle) noexcept {
  if (open_handle_lists()) {
    HandleLists::List& kept = handle_lists->of[static_cast<std::size_t>(kind)];
    if (kept.count >= kKeptHandles) hand_over(kind, kept, kMoved);
    return give_handle(kind, handle);
  }
  const std::lock_guard lock(depot().mutex);
  depot().put(kind, handle);
}

bool is_handle(HandleKind kind, const void* address) noexcept {
  const Slabs* const known = slabs.load(std::memory_order_acquire);
  const std::size_t bytes = kHandleLayouts[static_cast<std::size_t>(kind)].bytes;
  return known != nullptr && reinterpret_cast<std::uintptr_t>(address) % bytes == 0 &&
         known->holds(slab_of(kind, address));
}

}  // namespace drystone::host

// Blocks: see core/blocks.h.
#include "core/blocks.h"

#include <cstdlib>
#include <new>
#include <utility>

namespace drystone::host {
namespace {

constexpr std::size_t kUnit = 64;
constexpr std::size_t kClasses = 64;        // up to 4 KiB
constexpr std::size_t kKeptBytes = 65536;   // of one class, by one thread

// Sanitizers must see every block come and go.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kKeeps = false;
#else
constexpr bool kKeeps = true;
#endif

struct Free {
  Free* next;
};

struct Class {
  Free* first = nullptr;
  std::size_t count = 0;
};

struct Lists {
  Class classes[kClasses + 1];
};

enum class Stage : unsigned char { unused, open, over };

// A thread's lists. One pointer, so that it fits where access is one instruction even though the
// library is opened late.
#define DRYSTONE_FAST_TLS __attribute__((tls_model("initial-exec")))
thread_local Lists* lists DRYSTONE_FAST_TLS = nullptr;
thread_local Stage stage DRYSTONE_FAST_TLS = Stage::unused;

// Frees what the thread keeps when it ends.
struct End {
  ~End() {
    stage = Stage::over;
    for (Class& kept : lists->classes) {
      while (kept.first != nullptr) {
        Free* next = kept.first->next;
        std::free(kept.first);
        kept.first = next;
      }
    }
    delete std::exchange(lists, nullptr);
  }
};

Lists* open_lists() noexcept {
  if (stage == Stage::over) return nullptr;
  lists = new (std::nothrow) Lists();
  if (lists == nullptr) return nullptr;
  stage = Stage::open;
  thread_local End end;
  static_cast<void>(&end);
  return lists;
}

// The list for a size, or NULL where nothing is kept.
Class* class_of(std::size_t units) noexcept {
  if (!kKeeps || units > kClasses) return nullptr;
  Lists* mine = lists != nullptr ? lists : open_lists();
  return mine == nullptr ? nullptr : &mine->classes[units];
}

}  // namespace

void* take_block(std::size_t bytes) {
  const std::size_t units = bytes / kUnit + (bytes % kUnit != 0 ? 1 : 0);
  Class* kept = class_of(units);
  if (kept != nullptr && kept->first != nullptr) {
    void* out = kept->first;
    kept->first = kept->first->next;
    --kept->count;
    return out;
  }
  if (units > static_cast<std::size_t>(-1) / kUnit) throw std::bad_alloc();
  void* out = std::aligned_alloc(kUnit, (units == 0 ? 1 : units) * kUnit);
  if (out == nullptr) throw std::bad_alloc();
  return out;
}

void give_block(void* block, std::size_t bytes) noexcept {
  const std::size_t units = bytes / kUnit + (bytes % kUnit != 0 ? 1 : 0);
  Class* kept = class_of(units);
  if (kept == nullptr || kept->count * units * kUnit >= kKeptBytes) {
    std::free(block);
    return;
  }
  auto* free = static_cast<Free*>(block);
  free->next = kept->first;
  kept->first = free;
  ++kept->count;
}

}  // namespace drystone::host

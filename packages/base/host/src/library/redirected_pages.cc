// Calls of plugins that change pages of memory: see library/redirect.h.
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdarg>
#include <cstddef>
#include <cstdint>

#include "library/crash_report.h"
#include "library/redirect.h"

namespace drystone::host {
namespace {

// Pages of a file that is mapped as a library, and is another than the caller's own.
bool is_of_others(const void* address, const void* caller) {
  Dl_info there;
  Dl_info here;
  if (dladdr(address, &there) == 0 || dladdr(caller, &here) == 0 || there.dli_fbase == here.dli_fbase) return false;
  return plugin_at(address) == nullptr || plugin_at(address) != plugin_at(caller);
}

struct Range {
  const char* begin;
  const char* end;
  const void* caller;
};

// Whether a range that begins and ends elsewhere has a library of others inside.
int holds_library(struct dl_phdr_info* info, std::size_t, void* data) {
  const auto& range = *static_cast<const Range*>(data);
  for (int k = 0; k < info->dlpi_phnum; ++k) {
    if (info->dlpi_phdr[k].p_type != PT_LOAD) continue;
    const auto* const at = reinterpret_cast<const char*>(info->dlpi_addr + info->dlpi_phdr[k].p_vaddr);
    if (at >= range.begin && at < range.end) return is_of_others(at, range.caller) ? 1 : 0;
  }
  return 0;
}

}  // namespace

bool may_change_pages(const void* address, std::size_t size, const void* caller) {
  constexpr std::size_t kSmall = std::size_t{64} << 10;  // no library fits in, and allocators give this back often
  const auto* const first = static_cast<const char*>(address);
  const char* const last = first + (size == 0 ? 0 : size - 1);
  Range range{first, last + 1, caller};
  const bool is_others = is_of_others(first, caller) || is_of_others(last, caller) ||
                         (size > kSmall && dl_iterate_phdr(holds_library, &range) != 0);
  if (!is_others) return true;
  return may_change_for_good("memory of another library", caller);
}

namespace {

int protected_so(void* address, std::size_t size, int protection) {
  return may_change_pages(address, size, __builtin_return_address(0)) ? ::mprotect(address, size, protection) : -1;
}

int protected_by_key(void* address, std::size_t size, int protection, int key) {
  if (!may_change_pages(address, size, __builtin_return_address(0))) return -1;
  return ::pkey_mprotect(address, size, protection, key);
}

int unmapped(void* address, std::size_t size) {
  return may_change_pages(address, size, __builtin_return_address(0)) ? ::munmap(address, size) : -1;
}

void* mapped(void* address, std::size_t size, int protection, int flags, int file, off_t offset) {
  const bool replaces = (flags & MAP_FIXED) != 0;
  if (replaces && !may_change_pages(address, size, __builtin_return_address(0))) return MAP_FAILED;
  return ::mmap(address, size, protection, flags, file, offset);
}

// The new address is there for some flags only, and passed on without need.
void* remapped(void* address, std::size_t size, std::size_t new_size, int flags, void* new_address) {
  const void* const caller = __builtin_return_address(0);
  if (!may_change_pages(address, size, caller)) return MAP_FAILED;
  if ((flags & MREMAP_FIXED) != 0 && !may_change_pages(new_address, new_size, caller)) return MAP_FAILED;
  return ::mremap(address, size, new_size, flags, new_address);
}

// Some advice empties pages.
int advised(void* address, std::size_t size, int advice) {
  switch (advice) {
    case MADV_DONTNEED: case MADV_FREE: case MADV_REMOVE: case MADV_DONTFORK: case MADV_WIPEONFORK:
      if (!may_change_pages(address, size, __builtin_return_address(0))) return -1;
      break;
    default: break;
  }
  return ::madvise(address, size, advice);
}

// The end of the heap, which is malloc's.
constexpr const char* kHeap = "the end of the heap";

void* heap_moved(std::intptr_t by) {
  if (by < 0 && !may_change_for_good(kHeap, __builtin_return_address(0))) return reinterpret_cast<void*>(-1);
  return ::sbrk(by);
}

int heap_ended(void* at) {
  if (at < ::sbrk(0) && !may_change_for_good(kHeap, __builtin_return_address(0))) return -1;
  return ::brk(at);
}

// All memory, that of the program too, and of all that it asks for later where it says so.
int all_locked(int flags) {
  return may_change_for_good("which memory stays in place", __builtin_return_address(0)) ? ::mlockall(flags) : -1;
}

}  // namespace

void add_page_functions(std::vector<Redirected>& all) {
  all.insert(all.end(), {
                            instead("mprotect", protected_so),
                            instead("pkey_mprotect", protected_by_key),
                            instead("munmap", unmapped),
                            instead("mmap", mapped),
                            instead("mmap64", mapped),
                            instead("mremap", remapped),
                            instead("madvise", advised),
                            instead("sbrk", heap_moved),
                            instead("brk", heap_ended),
                            instead("mlockall", all_locked),
                        });
}

}  // namespace drystone::host

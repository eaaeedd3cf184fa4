// Memory that plugins give back: see library/redirect.h.
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/freed_blocks.h"
#include "library/redirect.h"

namespace drystone::host {
namespace {

void give_back(void* memory, FreedBlocks::Release release) noexcept {
  FreedBlocks* const kept = FreedBlocks::current();
  if (kept == nullptr || memory == nullptr) release(memory);
  else kept->take(memory, release);
}

void freed(void* memory) { give_back(memory, std::free); }

void* grown(void* memory, std::size_t size) {
  if (FreedBlocks::current() == nullptr || memory == nullptr || size == 0) return std::realloc(memory, size);
  void* const made = std::malloc(size);
  if (made == nullptr) return nullptr;
  std::memcpy(made, memory, std::min(size, malloc_usable_size(memory)));
  freed(memory);
  return made;
}

void delete_one(void* memory) { ::operator delete(memory); }
void delete_many(void* memory) { ::operator delete[](memory); }

void deleted(void* memory) { give_back(memory, delete_one); }
void deleted_sized(void* memory, std::size_t) { give_back(memory, delete_one); }
void all_deleted(void* memory) { give_back(memory, delete_many); }
void all_deleted_sized(void* memory, std::size_t) { give_back(memory, delete_many); }

}  // namespace

void add_memory_functions(std::vector<Redirected>& all) {
  all.insert(all.end(), {
                            instead("free", freed),
                            instead("realloc", grown),
                            instead("_ZdlPv", deleted),
                            instead("_ZdlPvm", deleted_sized),
                            instead("_ZdaPv", all_deleted),
                            instead("_ZdaPvm", all_deleted_sized),
                        });
}

}  // namespace drystone::host

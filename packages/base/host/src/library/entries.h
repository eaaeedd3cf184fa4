// The entry symbols that this host knows.
#ifndef DRYSTONE_HOST_LIBRARY_ENTRIES_H_
#define DRYSTONE_HOST_LIBRARY_ENTRIES_H_

#include <string_view>
#include <vector>

#include "core/library.h"

namespace drystone::host {

// One entry symbol: the module it belongs to, and how a library registers through it.
struct Entry {
  const char* symbol;
  const char* module;
  void (*handler)(Library& library, void* function);  // throws Failure
};

// In the order in which entry functions of one library are called: devices before the kernels that
// run on them.
const std::vector<Entry>& entries();

// The entry of that symbol, or NULL.
const Entry* find_entry(std::string_view symbol);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_LIBRARY_ENTRIES_H_

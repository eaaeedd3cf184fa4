// Where the dynamic linker has put the addresses of symbols that a file takes from others.
#ifndef DRYSTONE_HOST_LIBRARY_BOUND_SYMBOLS_H_
#define DRYSTONE_HOST_LIBRARY_BOUND_SYMBOLS_H_

#include <link.h>

#include <cstddef>
#include <string>
#include <vector>

#include "library/binding.h"

namespace drystone::host {

// A symbol that the file does not define, and the place that holds its address.
struct BoundSymbol {
  const char* name;
  void** place;
};

// All of a mapped file's; none where it states them in a form that this machine does not use.
std::vector<BoundSymbol> bound_symbols(const Mapped& file);

// What a mapped file says it needs, by name.
std::vector<std::string> needed_names(const Mapped& file);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_LIBRARY_BOUND_SYMBOLS_H_

// Functions that plugins look up by name while they run: they find what they would be linked to. See
// library/redirect.h.
#include <dlfcn.h>

#include "library/open.h"
#include "library/redirect.h"

namespace drystone::host {
namespace {

// What code of the plugin would find without a handle: what all see, then what its library does; but of those that
// come `next`, none of its own.
void* found_from(const void* caller, const char* name, bool next) {
  Dl_info own;
  Dl_info there;
  if (dladdr(caller, &own) == 0) return nullptr;
  void* const found = dlsym(RTLD_DEFAULT, name);
  if (!next) return found != nullptr ? found : find_open_symbol(own.dli_fname, name);
  const bool is_own = found != nullptr && dladdr(found, &there) != 0 && there.dli_fbase == own.dli_fbase;
  return is_own ? find_open_symbol("libc.so.6", name) : found;
}

void* looked_up(void* handle, const char* name) {
  const bool without = handle == RTLD_DEFAULT || handle == RTLD_NEXT;
  return instead_of(without ? found_from(__builtin_return_address(0), name, handle == RTLD_NEXT) : dlsym(handle, name));
}

void* looked_up_of(void* handle, const char* name, const char* version) {
  return instead_of(dlvsym(handle, name, version));
}

}  // namespace

void add_looking_functions(std::vector<Redirected>& all) {
  all.insert(all.end(), {instead("dlsym", looked_up), instead("dlvsym", looked_up_of)});
}

}  // namespace drystone::host

// Writing functions of the host where the linker has put those of the C library: see library/redirect.h.
#include "library/redirect.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <unordered_map>

#include "library/bound_symbols.h"
#include "library/open.h"

namespace drystone::host {
namespace {

std::string_view folder_of(std::string_view path) { return path.substr(0, path.rfind('/') + 1); }

std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The plugin's file and what of the others it needs: wheels keep libraries in folders beside the plugin's.
std::vector<const Mapped*> own_files(const std::string& path, const std::vector<Mapped>& mapped) {
  std::vector<const Mapped*> out;
  const std::string_view folder = folder_of(path);
  const std::string_view around = folder_of(folder.substr(0, folder.empty() ? 0 : folder.size() - 1));
  for (const Mapped& file : mapped) {
    if (file.name == path) out.push_back(&file);
  }
  for (std::size_t k = 0; k < out.size(); ++k) {
    const std::vector<std::string> needed = needed_names(*out[k]);
    for (const Mapped& file : mapped) {
      const bool is_known = std::find(out.begin(), out.end(), &file) != out.end();
      if (is_known || !std::string_view(file.name).starts_with(around)) continue;
      const auto names_it = [&](const std::string& name) { return name_of(name) == name_of(file.name); };
      if (std::any_of(needed.begin(), needed.end(), names_it)) out.push_back(&file);
    }
  }
  return out;
}

// Where the linker has made the page read-only it is so again afterwards.
void write_over(const Mapped& file, void** place, void* function) noexcept {
  static const auto size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(place) & ~(size - 1);
  auto* const at = reinterpret_cast<void*>(page);
  const bool is_kept = page >= (file.kept_begin & ~(size - 1)) && page < (file.kept_end & ~(size - 1));
  if (is_kept && mprotect(at, size, PROT_READ | PROT_WRITE) != 0) return;
  *place = function;
  if (is_kept) mprotect(at, size, PROT_READ);
}

// By where the C library has them: it has many under several names, of which headers say one. Where a sanitizer has
// functions of its own in front of them, those count, too. Never destroyed: plugins may be opened while the process
// ends.
const std::unordered_map<const void*, void*>& by_address() {
  auto* const out = new std::unordered_map<const void*, void*>;
  for (const Redirected& one : redirected_functions()) {
    for (const void* const found : {dlsym(RTLD_DEFAULT, one.name), find_open_symbol("libc.so.6", one.name)}) {
      if (found != nullptr && found != one.function) out->emplace(found, one.function);
    }
  }
  return *out;
}

}  // namespace

void* instead_of(void* function) noexcept {
  static const auto& functions = by_address();
  const auto found = functions.find(function);
  return found == functions.end() ? function : found->second;
}

void redirect_calls(const std::string& path, const std::vector<Mapped>& before) {
  std::vector<Mapped> mapped = mapped_files();
  std::erase_if(mapped, [&](const Mapped& file) {
    return std::any_of(before.begin(), before.end(), [&](const Mapped& old) { return old.dynamic == file.dynamic; });
  });
  for (const Mapped* file : own_files(path, mapped)) {
    for (const BoundSymbol& symbol : bound_symbols(*file)) {
      void* const function = instead_of(*symbol.place);
      if (function != *symbol.place) write_over(*file, symbol.place, function);
    }
  }
}

}  // namespace drystone::host

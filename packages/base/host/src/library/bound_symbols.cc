// Reading the tables of a mapped file: see library/bound_symbols.h.
#include "library/bound_symbols.h"

namespace drystone::host {
namespace {

// The parts of a dynamic section that lead to its bound symbols.
struct Tables {
  const ElfW(Sym)* symbols = nullptr;
  const char* strings = nullptr;
  const ElfW(Rela)* relocations[2] = {};
  std::size_t sizes[2] = {};
};

const void* address(const ElfW(Dyn)* entry) {
  return reinterpret_cast<const void*>(entry->d_un.d_ptr);
}

Tables tables_of(const ElfW(Dyn)* entry) {
  Tables out;
  bool with_addends = true;
  for (; entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_SYMTAB: out.symbols = static_cast<const ElfW(Sym)*>(address(entry)); break;
      case DT_STRTAB: out.strings = static_cast<const char*>(address(entry)); break;
      case DT_JMPREL: out.relocations[0] = static_cast<const ElfW(Rela)*>(address(entry)); break;
      case DT_PLTRELSZ: out.sizes[0] = entry->d_un.d_val; break;
      case DT_RELA: out.relocations[1] = static_cast<const ElfW(Rela)*>(address(entry)); break;
      case DT_RELASZ: out.sizes[1] = entry->d_un.d_val; break;
      case DT_PLTREL: with_addends = entry->d_un.d_val == DT_RELA; break;
      default: break;
    }
  }
  return with_addends ? out : Tables();
}

#if __SIZEOF_POINTER__ == 8
std::size_t symbol_of(const ElfW(Rela)& item) { return ELF64_R_SYM(item.r_info); }
#else
std::size_t symbol_of(const ElfW(Rela)& item) { return ELF32_R_SYM(item.r_info); }
#endif

}  // namespace

std::vector<BoundSymbol> bound_symbols(const Mapped& file) {
  std::vector<BoundSymbol> out;
  const Tables tables = tables_of(file.dynamic);
  if (tables.symbols == nullptr || tables.strings == nullptr) return out;
  for (int k = 0; k < 2; ++k) {
    const ElfW(Rela)* item = tables.relocations[k];
    if (item == nullptr) continue;
    const std::size_t count = tables.sizes[k] / sizeof *item;
    for (const ElfW(Rela)* end = item + count; item < end; ++item) {
      const ElfW(Sym)& symbol = tables.symbols[symbol_of(*item)];
      if (symbol_of(*item) == 0 || symbol.st_shndx != SHN_UNDEF) continue;
      out.push_back({tables.strings + symbol.st_name, reinterpret_cast<void**>(file.base + item->r_offset)});
    }
  }
  return out;
}

std::vector<std::string> needed_names(const Mapped& file) {
  std::vector<std::string> out;
  const char* strings = tables_of(file.dynamic).strings;
  if (strings == nullptr) return out;
  for (const ElfW(Dyn)* entry = file.dynamic; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED) out.emplace_back(strings + entry->d_un.d_val);
  }
  return out;
}

}  // namespace drystone::host

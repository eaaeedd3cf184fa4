#include "image.h"

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "convention.h"
#include "imports.h"
#include "services.h"

namespace drystone_tvm {
namespace {

using drystone::sdk::Error;
using drystone::sdk::Result;

constexpr std::string_view kOfTvm = "TVM";
constexpr std::string_view kVariables = "__TVM";
constexpr std::string_view kOwn = "__tvm_ffi__";  // begins no function's name

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#else
constexpr Elf64_Half kMachine = EM_NONE;
#endif

Error broken(const std::string& what) { return Error(TF_FAILED_PRECONDITION, what); }

// The dynamic symbols of the file; every access is checked against its size.
class Symbols {
 public:
  explicit Symbols(std::string& file) : file_(file) {}

  Error find() {
    if (Error error = check_header(); !error.ok()) return error;
    std::uint64_t hash = 0;
    std::uint64_t gnu_hash = 0;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic_size_; at += sizeof(Elf64_Dyn)) {
      const auto entry = read<Elf64_Dyn>(dynamic_ + at);
      if (!entry || entry->d_tag == DT_NULL) break;
      const auto place = offset_of(entry->d_un.d_ptr);
      if (entry->d_tag == DT_SYMTAB && place) table_ = *place;
      if (entry->d_tag == DT_STRTAB && place) names_ = *place;
      if (entry->d_tag == DT_HASH && place) hash = *place;
      if (entry->d_tag == DT_GNU_HASH && place) gnu_hash = *place;
    }
    if (table_ == 0 || names_ == 0) return broken("it has no dynamic symbols");
    count_ = hash != 0 ? count_by_hash(hash) : gnu_hash != 0 ? count_by_gnu_hash(gnu_hash) : 0;
    return count_ == 0 ? broken("its table of symbols has no end") : Error();
  }

  std::uint64_t count() const { return count_; }
  std::optional<Elf64_Sym> symbol(std::uint64_t index) const {
    return read<Elf64_Sym>(table_ + index * sizeof(Elf64_Sym));
  }
  std::string_view name(const Elf64_Sym& symbol) const {
    const std::uint64_t at = names_ + symbol.st_name;
    if (at >= file_.size()) return {};
    const std::size_t end = file_.find('\0', at);
    return std::string_view(file_).substr(at, end == std::string::npos ? 0 : end - at);
  }
  void put(std::uint64_t index, const Elf64_Sym& symbol) {
    std::memcpy(file_.data() + table_ + index * sizeof symbol, &symbol, sizeof symbol);
  }

 private:
  template <class T>
  std::optional<T> read(std::uint64_t at) const {
    T out;
    if (at > file_.size() || file_.size() - at < sizeof out) return std::nullopt;
    std::memcpy(&out, file_.data() + at, sizeof out);
    return out;
  }

  Error check_header() {
    const auto header = read<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
      return broken("it is no shared library: it does not begin as ELF files do");
    }
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
        header->e_machine != kMachine) {
      return broken("it is for another processor than this one (ELF machine " +
                    std::to_string(header->e_machine) + ", needed " + std::to_string(kMachine) + ")");
    }
    if (header->e_type != ET_DYN) return broken("it is no shared library, but a program or an object");
    for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
      const auto segment = read<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
      if (!segment) return broken("it is cut off");
      if (segment->p_offset > file_.size() || file_.size() - segment->p_offset < segment->p_filesz) {
        return broken("it is cut off");
      }
      if (segment->p_type == PT_LOAD) loads_.push_back(*segment);
      if (segment->p_type == PT_DYNAMIC) {
        dynamic_ = segment->p_offset;
        dynamic_size_ = segment->p_filesz;
      }
    }
    return dynamic_ == 0 ? broken("it has no dynamic section") : Error();
  }

  std::optional<std::uint64_t> offset_of(std::uint64_t address) const {
    for (const Elf64_Phdr& load : loads_) {
      if (address >= load.p_vaddr && address - load.p_vaddr < load.p_filesz) {
        return address - load.p_vaddr + load.p_offset;
      }
    }
    return std::nullopt;
  }

  std::uint64_t bounded(std::uint64_t count) const {
    return count <= (file_.size() - table_) / sizeof(Elf64_Sym) ? count : 0;
  }

  std::uint64_t count_by_hash(std::uint64_t at) const {
    return bounded(read<std::uint32_t>(at + 4).value_or(0));
  }

  // The table ends where the chain of its last bucket does.
  std::uint64_t count_by_gnu_hash(std::uint64_t at) const {
    const std::uint64_t buckets = read<std::uint32_t>(at).value_or(0);
    const std::uint64_t first = read<std::uint32_t>(at + 4).value_or(0);
    const std::uint64_t words = read<std::uint32_t>(at + 8).value_or(0);
    const std::uint64_t bucket = at + 16 + words * 8;
    std::uint64_t last = 0;
    for (std::uint64_t i = 0; i < buckets; ++i) {
      const auto found = read<std::uint32_t>(bucket + i * 4);
      if (!found) return 0;
      last = *found > last ? *found : last;
    }
    if (last < first) return bounded(first);
    const std::uint64_t chains = bucket + buckets * 4;
    for (;; ++last) {
      const auto link = read<std::uint32_t>(chains + (last - first) * 4);
      if (!link) return 0;
      if ((*link & 1) != 0) return bounded(last + 1);
    }
  }

  std::string& file_;
  std::vector<Elf64_Phdr> loads_;
  std::uint64_t dynamic_ = 0;
  std::uint64_t dynamic_size_ = 0;
  std::uint64_t table_ = 0;
  std::uint64_t names_ = 0;
  std::uint64_t count_ = 0;
};

void define(Symbols& symbols, std::uint64_t index, Elf64_Sym symbol, void* address) {
  symbol.st_shndx = SHN_ABS;
  symbol.st_value = reinterpret_cast<std::uintptr_t>(address);
  symbol.st_other = STV_HIDDEN;
  symbols.put(index, symbol);
}

void take_defined(Image& image, std::string_view name, const Elf64_Sym& symbol) {
  const std::string_view prefix = kFunctionPrefix;
  if (name == kModules) image.modules = symbol.st_size;
  if (name.substr(0, kVariables.size()) == kVariables || name == kContext) image.variables.emplace_back(name);
  if (name.substr(0, kOwn.size()) == kOwn) return;
  if (name.substr(0, prefix.size()) == prefix) image.functions.emplace_back(name.substr(prefix.size()));
}

}  // namespace

Result<Image> make_image(std::string bytes) {
  Image image{std::move(bytes), {}, {}};
  Symbols symbols(image.bytes);
  if (Error error = symbols.find(); !error.ok()) return error;
  std::string lacking;
  for (std::uint64_t i = 1; i < symbols.count(); ++i) {
    const auto symbol = symbols.symbol(i);
    if (!symbol) return broken("its table of symbols is cut off");
    const std::string_view name = symbols.name(*symbol);
    if (symbol->st_shndx != SHN_UNDEF) {
      take_defined(image, name, *symbol);
    } else if (name.substr(0, kOfTvm.size()) == kOfTvm) {
      void* address = imported(name);
      if (address != nullptr) {
        define(symbols, i, *symbol, address);
      } else if (ELF64_ST_BIND(symbol->st_info) != STB_WEAK) {
        lacking += (lacking.empty() ? "" : ", ") + std::string(name);
      }
    }
  }
  if (!lacking.empty()) return broken("it needs " + lacking + ", which only TVM's own run time has");
  return image;
}

}  // namespace drystone_tvm

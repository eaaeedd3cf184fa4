// Shared libraries made in memory: see library/elf_image.h.
//
// Source: the ELF specification (System V ABI, chapters 4 and 5). The image is one readable and
// writable segment, because the dynamic linker writes into the dynamic section of what it loads, and
// it states a stack that is not executable, because the linker would otherwise make every stack so.
#include "library/elf_image.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/failure.h"
#include "library/open.h"

namespace drystone::host {
namespace {

constexpr int kSegments = 3;

struct Image {
  ElfW(Ehdr) header;
  ElfW(Phdr) segments[kSegments];
};

// What lies behind the head of the image.
struct Parts {
  std::string symbols;  // from the undefined symbol on that every table begins with
  std::string hash;
  std::string strings = std::string(1, '\0');

  std::size_t text(const std::string& value) {
    const std::size_t at = strings.size();
    strings.append(value).push_back('\0');
    return at;
  }
};

constexpr std::size_t kSymbols = sizeof(Image);
static_assert(kSymbols % alignof(ElfW(Sym)) == 0);

void append(std::string* out, const void* data, std::size_t size) {
  out->append(static_cast<const char*>(data), size);
}

ElfW(Phdr) segment(ElfW(Word) type, ElfW(Word) flags, std::size_t offset, std::size_t size) {
  ElfW(Phdr) out = {};
  out.p_type = type;
  out.p_flags = flags;
  out.p_offset = out.p_vaddr = out.p_paddr = offset;
  out.p_filesz = out.p_memsz = size;
  out.p_align = type == PT_LOAD ? 0x10000 : sizeof(ElfW(Addr));
  return out;
}

// The hash of the ELF specification.
ElfW(Word) hash_of(const std::string& name) {
  ElfW(Word) out = 0;
  for (const char c : name) {
    out = (out << 4) + static_cast<unsigned char>(c);
    const ElfW(Word) high = out & 0xf0000000;
    out = (out ^ (high >> 24)) & ~high;
  }
  return out;
}

// Symbols without addresses, which are known when the image lies somewhere.
Parts parts_of(const std::vector<std::string>& defined) {
  Parts out;
  const std::size_t buckets = defined.empty() ? 1 : defined.size();
  std::vector<ElfW(Word)> hash(2 + buckets + 1 + defined.size());
  hash[0] = static_cast<ElfW(Word)>(buckets);
  hash[1] = static_cast<ElfW(Word)>(defined.size() + 1);
  ElfW(Sym) symbol = {};
  append(&out.symbols, &symbol, sizeof symbol);
  for (std::size_t k = 0; k < defined.size(); ++k) {
    symbol.st_name = static_cast<ElfW(Word)>(out.text(defined[k]));
    symbol.st_info = (STB_GLOBAL << 4) | STT_FUNC;
    symbol.st_shndx = 1;
    append(&out.symbols, &symbol, sizeof symbol);
    ElfW(Word)& first = hash[2 + hash_of(defined[k]) % buckets];
    hash[2 + buckets + k + 1] = first;
    first = static_cast<ElfW(Word)>(k + 1);
  }
  if (hash.size() % 2 != 0) hash.push_back(0);  // the dynamic section behind it is aligned
  append(&out.hash, hash.data(), hash.size() * sizeof hash[0]);
  return out;
}

// Entries of the dynamic section; the strings begin after the last of them.
std::string dynamic_section(const std::string& soname, const std::vector<std::string>& needed,
                            Parts* parts) {
  std::vector<std::pair<ElfW(Sxword), ElfW(Xword)>> entries;
  for (const std::string& name : needed) entries.emplace_back(DT_NEEDED, parts->text(name));
  if (!soname.empty()) entries.emplace_back(DT_SONAME, parts->text(soname));
  const std::size_t hash = kSymbols + parts->symbols.size();
  const std::size_t table = hash + parts->hash.size() + (entries.size() + 6) * sizeof(ElfW(Dyn));
  entries.emplace_back(DT_HASH, hash);
  entries.emplace_back(DT_SYMTAB, kSymbols);
  entries.emplace_back(DT_SYMENT, sizeof(ElfW(Sym)));
  entries.emplace_back(DT_STRTAB, table);
  entries.emplace_back(DT_STRSZ, parts->strings.size());
  entries.emplace_back(DT_NULL, 0);
  std::string out;
  for (const auto& [tag, value] : entries) {
    ElfW(Dyn) entry = {};
    entry.d_tag = tag;
    entry.d_un.d_val = value;
    append(&out, &entry, sizeof entry);
  }
  return out;
}

std::string image_of(const std::string& soname, const std::vector<std::string>& needed,
                     const std::vector<std::string>& defined) {
  Parts parts = parts_of(defined);
  const std::string dynamic = dynamic_section(soname, needed, &parts);
  const std::size_t start = kSymbols + parts.symbols.size() + parts.hash.size();
  const std::size_t size = start + dynamic.size() + parts.strings.size();
  const ElfW(Ehdr)* own = own_header();
  Image image = {};
  std::memcpy(image.header.e_ident, own->e_ident, EI_NIDENT);
  image.header.e_type = ET_DYN;
  image.header.e_machine = own->e_machine;
  image.header.e_version = EV_CURRENT;
  image.header.e_flags = own->e_flags;
  image.header.e_phoff = offsetof(Image, segments);
  image.header.e_ehsize = sizeof(ElfW(Ehdr));
  image.header.e_phentsize = sizeof(ElfW(Phdr));
  image.header.e_phnum = kSegments;
  image.segments[0] = segment(PT_LOAD, PF_R | PF_W, 0, size);
  image.segments[1] = segment(PT_DYNAMIC, PF_R | PF_W, start, dynamic.size());
  image.segments[2] = segment(PT_GNU_STACK, PF_R | PF_W, 0, 0);
  std::string out;
  append(&out, &image, sizeof image);
  return out + parts.symbols + parts.hash + dynamic + parts.strings;
}

// A file with a name of its own that the linker can open and no other process can change.
int memory_file(const std::string& image) {
#ifdef MFD_CLOEXEC
  int file = memfd_create("drystone-plugin", MFD_CLOEXEC);
#else
  int file = -1;
#endif
  if (file < 0) {
    const char* folder = std::getenv("TMPDIR");
    std::string name = std::string(folder == nullptr ? "/tmp" : folder) + "/drystone-XXXXXX";
    file = mkostemp(name.data(), O_CLOEXEC);
    if (file >= 0) unlink(name.c_str());
  }
  const auto size = static_cast<ssize_t>(image.size());
  if (file >= 0 && write(file, image.data(), image.size()) != size) {
    close(file);
    file = -1;
  }
  return file;
}

}  // namespace

const ElfW(Ehdr)* own_header() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&elf_image), &info) == 0) {
    fail(TF_INTERNAL, "the dynamic linker does not know the host library");
  }
  return static_cast<const ElfW(Ehdr)*>(info.dli_fbase);
}

std::string elf_image(const std::string& soname, const std::vector<std::string>& needed) {
  return image_of(soname, needed, {});
}

std::string open_definitions(const std::vector<Definition>& definitions) {
  std::vector<std::string> names;
  for (const Definition& one : definitions) names.push_back(one.name);
  std::string error;
  void* handle = open_image(image_of("", {}, names), 0, &error);
  link_map* map = nullptr;
  if (handle == nullptr || dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0) {
    fail(TF_FAILED_PRECONDITION, "a library for missing functions cannot be opened: " + error);
  }
  auto* symbols = reinterpret_cast<ElfW(Sym)*>(map->l_addr + kSymbols);
  for (std::size_t k = 0; k < definitions.size(); ++k) {
    symbols[k + 1].st_value = reinterpret_cast<ElfW(Addr)>(definitions[k].address) - map->l_addr;
  }
  return map->l_name;
}

void* open_image(const std::string& image, int flags, std::string* error) {
  // The linker knows libraries by name: one seen before is not opened again. The descriptor stays
  // open so that its number stays taken, and the dots keep names apart if the program closes it.
  static std::string dots;
  const int file = memory_file(image);
  if (file < 0) {
    *error = std::string("a file in memory cannot be made: ") + std::strerror(errno);
    return nullptr;
  }
  dots += "./";
  const std::string name = "/proc/self/fd/" + dots + std::to_string(file);
  void* handle = open_file(name.c_str(), flags, error);
  if (handle == nullptr) close(file);
  return handle;
}

}  // namespace drystone::host

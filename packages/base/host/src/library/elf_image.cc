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
  ElfW(Word) hash[4];  // one empty bucket, one chain
  ElfW(Sym) symbol;    // the undefined symbol that every table begins with
};

// The header of the file this code is in, which states machine, class, byte order and flags.
const ElfW(Ehdr)* own_header() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&elf_image), &info) == 0) {
    fail(TF_INTERNAL, "the dynamic linker does not know the host library");
  }
  return static_cast<const ElfW(Ehdr)*>(info.dli_fbase);
}

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

// Entries of the dynamic section; `strings` begins after the last of them.
std::string dynamic_section(const std::string& soname, const std::vector<std::string>& needed,
                            std::string* strings) {
  std::vector<std::pair<ElfW(Sxword), ElfW(Xword)>> entries;
  strings->assign(1, '\0');
  const auto text = [&](const std::string& value) {
    const std::size_t at = strings->size();
    strings->append(value).push_back('\0');
    return at;
  };
  for (const std::string& name : needed) entries.emplace_back(DT_NEEDED, text(name));
  if (!soname.empty()) entries.emplace_back(DT_SONAME, text(soname));
  const std::size_t count = entries.size() + 6;
  const std::size_t table = sizeof(Image) + count * sizeof(ElfW(Dyn));
  entries.emplace_back(DT_HASH, offsetof(Image, hash));
  entries.emplace_back(DT_SYMTAB, offsetof(Image, symbol));
  entries.emplace_back(DT_SYMENT, sizeof(ElfW(Sym)));
  entries.emplace_back(DT_STRTAB, table);
  entries.emplace_back(DT_STRSZ, strings->size());
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

// A file with a name of its own that the linker can open and nobody else can change.
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

std::string elf_image(const std::string& soname, const std::vector<std::string>& needed) {
  std::string strings;
  const std::string dynamic = dynamic_section(soname, needed, &strings);
  const std::size_t size = sizeof(Image) + dynamic.size() + strings.size();
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
  image.segments[1] = segment(PT_DYNAMIC, PF_R | PF_W, sizeof(Image), dynamic.size());
  image.segments[2] = segment(PT_GNU_STACK, PF_R | PF_W, 0, 0);
  image.hash[0] = image.hash[1] = 1;
  std::string out;
  append(&out, &image, sizeof image);
  return out + dynamic + strings;
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

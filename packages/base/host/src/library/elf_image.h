// Generated ELF files that hold nothing but names: what they need, define, and what they are called.
#ifndef DRYSTONE_HOST_LIBRARY_ELF_IMAGE_H_
#define DRYSTONE_HOST_LIBRARY_ELF_IMAGE_H_

#include <link.h>

#include <string>
#include <vector>

namespace drystone::host {

// The header of the file this code is in, which states machine, class, byte order and flags. Throws Failure.
const ElfW(Ehdr)* own_header();

// The bytes of a shared library without code or symbols that needs `needed`, in that order, and is
// called `soname` ("" for no name). For the machine this code runs on.
std::string elf_image(const std::string& soname, const std::vector<std::string>& needed);

// A function of a generated library, and where it is.
struct Definition {
  std::string name;
  const void* address;
};

// Opens a generated library that defines these functions (locally), and returns the name by which
// others need it. Throws Failure.
std::string open_definitions(const std::vector<Definition>& definitions);

// Opens the bytes as a library (RTLD_NOW | RTLD_LOCAL | `flags`); NULL with *error set on failure.
void* open_image(const std::string& image, int flags, std::string* error);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_LIBRARY_ELF_IMAGE_H_

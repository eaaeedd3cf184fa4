// Checks of a library's bytes: see library/inspect.h.
#include "library/inspect.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/failure.h"

namespace drystone::host {
namespace {

constexpr int kMostSegments = 512;

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

FileState state_of(const struct stat& facts) noexcept {
  return {facts.st_dev, facts.st_ino, facts.st_size, nanoseconds(facts.st_mtim),
          nanoseconds(facts.st_ctim)};
}

[[noreturn]] void no_library(const std::string& path, const std::string& why) {
  fail(TF_INVALID_ARGUMENT, path + " is no library for this machine: " + why);
}

const ElfW(Ehdr)* own_header() {
  Dl_info info;
  const bool known = dladdr(reinterpret_cast<void*>(&require_whole_library), &info) != 0;
  return known ? static_cast<const ElfW(Ehdr)*>(info.dli_fbase) : nullptr;
}

}  // namespace

FileState state_of(const std::string& path) noexcept {
  struct stat facts;
  return stat(path.c_str(), &facts) == 0 ? state_of(facts) : FileState();
}

FileBytes::FileBytes(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat facts;
  if (file < 0 || fstat(file, &facts) != 0) {
    const int reason = errno;
    if (file >= 0) close(file);
    fail(TF_NOT_FOUND, path + ": " + std::strerror(reason));
  }
  state_ = state_of(facts);
  size_ = S_ISREG(facts.st_mode) ? static_cast<std::size_t>(facts.st_size) : 0;
  if (size_ > 0) data_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (data_ == MAP_FAILED) fail(TF_RESOURCE_EXHAUSTED, path + " cannot be mapped");
}

FileBytes::~FileBytes() {
  if (data_ != nullptr && data_ != MAP_FAILED) munmap(data_, size_);
}

std::string_view FileBytes::view() const noexcept {
  return data_ == nullptr ? std::string_view()
                          : std::string_view(static_cast<const char*>(data_), size_);
}

void require_whole_library(const std::string& path, std::string_view file) {
  const ElfW(Ehdr)* own = own_header();
  ElfW(Ehdr) header;
  if (file.size() < sizeof header) no_library(path, "the file is too short");
  std::memcpy(&header, file.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) no_library(path, "it is no ELF file");
  if (own != nullptr && (std::memcmp(header.e_ident, own->e_ident, EI_VERSION) != 0 ||
                         header.e_machine != own->e_machine)) {
    no_library(path, "it is for another processor");
  }
  if (header.e_type != ET_DYN) no_library(path, "it is no shared object");
  const std::size_t table = header.e_phoff;
  const std::size_t count = header.e_phnum;
  if (header.e_phentsize != sizeof(ElfW(Phdr)) || count == 0 || count > kMostSegments ||
      table > file.size() || count * sizeof(ElfW(Phdr)) > file.size() - table) {
    no_library(path, "its table of segments lies outside the file");
  }
  for (std::size_t k = 0; k < count; ++k) {
    ElfW(Phdr) segment;
    std::memcpy(&segment, file.data() + table + k * sizeof segment, sizeof segment);
    const bool inside =
        segment.p_offset <= file.size() && segment.p_filesz <= file.size() - segment.p_offset;
    if (segment.p_type == PT_LOAD && !inside) no_library(path, "it is truncated");
  }
}

}  // namespace drystone::host

// Checks of a library's bytes: see library/inspect.h.
#include "library/inspect.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "core/failure.h"
#include "library/elf_image.h"

namespace drystone::host {
namespace {

constexpr int kMostSegments = 512;

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

FileState state_in(const struct stat& facts) noexcept {
  return {facts.st_dev, facts.st_ino, facts.st_size, nanoseconds(facts.st_mtim),
          nanoseconds(facts.st_ctim)};
}

[[noreturn]] void no_library(const std::string& path, const std::string& why) {
  fail(TF_INVALID_ARGUMENT, path + " is no library for this machine: " + why);
}

[[noreturn]] void unsafe(const std::string& path, const std::string& why) {
  fail(TF_INVALID_ARGUMENT, path + " is not opened: " + why);
}

// A value at a place in the file, or zeros beyond its end.
template <class Value>
Value value_at(std::string_view file, std::size_t at) {
  Value out{};
  if (at <= file.size() && sizeof out <= file.size() - at) std::memcpy(&out, file.data() + at, sizeof out);
  return out;
}

std::vector<ElfW(Phdr)> segments_of(std::string_view file) {
  const auto header = value_at<ElfW(Ehdr)>(file, 0);
  std::vector<ElfW(Phdr)> out;
  for (std::size_t k = 0; k < header.e_phnum; ++k) {
    out.push_back(value_at<ElfW(Phdr)>(file, header.e_phoff + k * sizeof(ElfW(Phdr))));
  }
  return out;
}

// The entries of the dynamic section.
std::vector<ElfW(Dyn)> dynamic_of(std::string_view file, const std::vector<ElfW(Phdr)>& segments) {
  std::vector<ElfW(Dyn)> out;
  for (const ElfW(Phdr)& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    for (std::size_t at = 0; at < segment.p_filesz; at += sizeof(ElfW(Dyn))) {
      out.push_back(value_at<ElfW(Dyn)>(file, segment.p_offset + at));
      if (out.back().d_tag == DT_NULL) return out;
    }
  }
  return out;
}

// Its table of names, from there to the end of the file.
std::string_view names_of(std::string_view file, const std::vector<ElfW(Phdr)>& segments,
                          const std::vector<ElfW(Dyn)>& dynamic) {
  for (const ElfW(Dyn)& entry : dynamic) {
    if (entry.d_tag != DT_STRTAB) continue;
    for (const ElfW(Phdr)& one : segments) {
      const ElfW(Addr) from = entry.d_un.d_ptr - one.p_vaddr;
      if (one.p_type != PT_LOAD || entry.d_un.d_ptr < one.p_vaddr || from >= one.p_filesz) continue;
      return file.substr(std::min(file.size(), static_cast<std::size_t>(one.p_offset + from)));
    }
  }
  return {};
}

bool is_relative(std::string_view folder) {
  return !folder.starts_with('/') && !folder.starts_with("$ORIGIN") && !folder.starts_with("${ORIGIN}");
}

void require_absolute_folders(const std::string& path, std::string_view folders) {
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string_view one = folders.substr(begin, end - begin);
    if (is_relative(one)) {
      unsafe(path, "its libraries are looked for in '" + std::string(one) + "', which is in the working folder");
    }
    begin = end + 1;
  }
}

// As drystone's loader in Python has it (drystone_base/plugins/_asks.py).
void require_safe_library(const std::string& path, std::string_view file) {
  const std::vector<ElfW(Phdr)> segments = segments_of(file);
  bool has_stack = false;
  for (const ElfW(Phdr)& segment : segments) {
    if (segment.p_type == PT_GNU_STACK && (segment.p_flags & PF_X) == 0) has_stack = true;
  }
  if (!has_stack) unsafe(path, "it asks for stacks whose memory can be executed");
  const std::vector<ElfW(Dyn)> dynamic = dynamic_of(file, segments);
  const std::string_view names = names_of(file, segments, dynamic);
  for (const ElfW(Dyn)& entry : dynamic) {
    if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RPATH && entry.d_tag != DT_RUNPATH) continue;
    if (entry.d_un.d_val >= names.size()) continue;
    const std::string_view rest = names.substr(entry.d_un.d_val);
    const std::string_view text = rest.substr(0, rest.find('\0'));
    if (entry.d_tag != DT_NEEDED) require_absolute_folders(path, text);
    else if (text.find('/') != std::string_view::npos && is_relative(text)) {
      unsafe(path, "it needs '" + std::string(text) + "', which is in the working folder");
    }
  }
}

}  // namespace

FileState state_of(const std::string& path) noexcept {
  struct stat facts;
  return stat(path.c_str(), &facts) == 0 ? state_in(facts) : FileState();
}

FileBytes::FileBytes(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat facts;
  if (file < 0 || fstat(file, &facts) != 0) {
    const int reason = errno;
    if (file >= 0) close(file);
    fail(TF_NOT_FOUND, path + ": " + std::strerror(reason));
  }
  state_ = state_in(facts);
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
  if (std::memcmp(header.e_ident, own->e_ident, EI_VERSION) != 0 || header.e_machine != own->e_machine) {
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
  require_safe_library(path, file);
}

}  // namespace drystone::host

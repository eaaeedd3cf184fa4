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
#include <cstdlib>
#include <cstring>

#include "core/failure.h"
#include "drystone/version.h"
#include "library/contents.h"

namespace drystone::host {
namespace {

constexpr int kMostSegments = 512;

// A file in memory, read-only.
class Bytes {
 public:
  explicit Bytes(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat facts;
    if (file < 0 || fstat(file, &facts) != 0) {
      const int reason = errno;
      if (file >= 0) close(file);
      fail(TF_NOT_FOUND, path + ": " + std::strerror(reason));
    }
    size_ = S_ISREG(facts.st_mode) ? static_cast<std::size_t>(facts.st_size) : 0;
    if (size_ > 0) data_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (data_ == MAP_FAILED) fail(TF_RESOURCE_EXHAUSTED, path + " cannot be mapped");
  }
  ~Bytes() {
    if (data_ != nullptr && data_ != MAP_FAILED) munmap(data_, size_);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  std::string_view view() const {
    return data_ == nullptr ? std::string_view()
                            : std::string_view(static_cast<const char*>(data_), size_);
  }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

[[noreturn]] void no_library(const std::string& path, const std::string& why) {
  fail(TF_INVALID_ARGUMENT, path + " is no library for this machine: " + why);
}

const ElfW(Ehdr)* own_header() {
  Dl_info info;
  const bool known = dladdr(reinterpret_cast<void*>(&require_whole_library), &info) != 0;
  return known ? static_cast<const ElfW(Ehdr)*>(info.dli_fbase) : nullptr;
}

// The value of `name` among the records, or NULL data when it is not there.
std::string_view value_of(const std::vector<std::string>& records, std::string_view name) {
  for (const std::string_view record : records) {
    if (record.size() > name.size() && record.substr(0, name.size()) == name &&
        record[name.size()] == '=') {
      return record.substr(name.size() + 1);
    }
  }
  return {};
}

struct Feature {
  const char* macro;
  bool present;
};

// Features of x86 processors that compilers record and that this processor may lack.
std::vector<Feature> processor_features() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_cpu_init();
#define DRYSTONE_FEATURE(macro, name) {macro, __builtin_cpu_supports(name) != 0}
  return {
      DRYSTONE_FEATURE("__SSE3__", "sse3"), DRYSTONE_FEATURE("__SSSE3__", "ssse3"),
      DRYSTONE_FEATURE("__SSE4_1__", "sse4.1"), DRYSTONE_FEATURE("__SSE4_2__", "sse4.2"),
      DRYSTONE_FEATURE("__POPCNT__", "popcnt"), DRYSTONE_FEATURE("__AVX__", "avx"),
      DRYSTONE_FEATURE("__AVX2__", "avx2"), DRYSTONE_FEATURE("__FMA__", "fma"),
      DRYSTONE_FEATURE("__FMA4__", "fma4"), DRYSTONE_FEATURE("__XOP__", "xop"),
      DRYSTONE_FEATURE("__SSE4A__", "sse4a"), DRYSTONE_FEATURE("__BMI__", "bmi"),
      DRYSTONE_FEATURE("__BMI2__", "bmi2"), DRYSTONE_FEATURE("__AES__", "aes"),
      DRYSTONE_FEATURE("__PCLMUL__", "pclmul"), DRYSTONE_FEATURE("__AVX512F__", "avx512f"),
      DRYSTONE_FEATURE("__AVX512VL__", "avx512vl"), DRYSTONE_FEATURE("__AVX512BW__", "avx512bw"),
      DRYSTONE_FEATURE("__AVX512DQ__", "avx512dq"), DRYSTONE_FEATURE("__AVX512CD__", "avx512cd"),
      DRYSTONE_FEATURE("__AVX512IFMA__", "avx512ifma"),
      DRYSTONE_FEATURE("__AVX512VBMI__", "avx512vbmi"),
      DRYSTONE_FEATURE("__AVX512VBMI2__", "avx512vbmi2"),
      DRYSTONE_FEATURE("__AVX512VNNI__", "avx512vnni"),
      DRYSTONE_FEATURE("__AVX512BITALG__", "avx512bitalg"),
      DRYSTONE_FEATURE("__AVX512BF16__", "avx512bf16"),
      DRYSTONE_FEATURE("__AVX512VPOPCNTDQ__", "avx512vpopcntdq"),
      DRYSTONE_FEATURE("__AVX512VP2INTERSECT__", "avx512vp2intersect"),
      DRYSTONE_FEATURE("__GFNI__", "gfni"), DRYSTONE_FEATURE("__VPCLMULQDQ__", "vpclmulqdq"),
  };
#undef DRYSTONE_FEATURE
#else
  return {};
#endif
}

// The macros this file was compiled with that name the machine.
bool is_this_machine(std::string_view macro) {
  constexpr std::string_view kOurs[] = {
#ifdef __linux__
      "__linux__",
#endif
#ifdef __x86_64__
      "__x86_64__",
#endif
#ifdef __aarch64__
      "__aarch64__",
#endif
#ifdef __powerpc64__
      "__powerpc64__", "__powerpc__",
#endif
#ifdef __riscv
      "__riscv",
#endif
      ""};
  for (const std::string_view ours : kOurs) {
    if (macro == ours) return true;
  }
  return false;
}

void require_machine(const std::string& path, const std::vector<std::string>& records) {
  constexpr std::string_view kMachines[] = {
      "__linux__",    "__APPLE__",  "_WIN32",    "__FreeBSD__", "__ANDROID__",    "__x86_64__",
      "__i386__",     "__aarch64__", "__arm__",   "__powerpc64__", "__powerpc__",  "__s390x__",
      "__mips64__",   "__mips32__", "__riscv",   "__loongarch64", "__sparc__",     "_M_X64"};
  for (const std::string_view macro : kMachines) {
    const bool recorded = value_of(records, macro).data() != nullptr;
    if (recorded && !is_this_machine(macro)) {
      fail(TF_FAILED_PRECONDITION,
           path + " is built for another platform: it records " + std::string(macro));
    }
  }
  const std::string_view order = value_of(records, "__BYTE_ORDER__");
  if (order.data() != nullptr && order != DRYSTONE_STRINGIZE(__BYTE_ORDER__)) {
    fail(TF_FAILED_PRECONDITION, path + " is built for another byte order");
  }
}

void require_processor(const std::string& path, const std::vector<std::string>& records) {
  std::string missing;
  for (const Feature& feature : processor_features()) {
    if (feature.present || value_of(records, feature.macro).data() == nullptr) continue;
    missing += missing.empty() ? feature.macro : std::string(", ") + feature.macro;
  }
  if (missing.empty()) return;
  fail(TF_FAILED_PRECONDITION, path + " needs processor features that are not there: " + missing);
}

void require_abi(const std::string& path, const std::vector<std::string>& records) {
  const std::string_view version = value_of(records, "DRYSTONE_ABI_VERSION");
  if (version.data() == nullptr) return;
  const std::string major(version.substr(0, version.find('.')));
  if (major != DRYSTONE_STRINGIZE(DRYSTONE_ABI_VERSION_MAJOR)) {
    fail(TF_FAILED_PRECONDITION, path + " is built for plugin ABI " + std::string(version) +
                                     ", this host has " DRYSTONE_ABI_VERSION_STRING);
  }
}

}  // namespace

void require_whole_library(const std::string& path) {
  const Bytes bytes(path);
  const std::string_view file = bytes.view();
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

void require_platform(const std::string& path) {
  const Bytes bytes(path);
  RecordFinder finder;
  finder.take(bytes.view());
  const std::vector<std::string> records = finder.finish();
  if (records.empty()) return;
  require_machine(path, records);
  require_processor(path, records);
  require_abi(path, records);
}

}  // namespace drystone::host

// The limit: see core/memory_limit.h.
#include "core/memory_limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

namespace drystone::host {
namespace {

constexpr char kMustFit[] = "a tensor must fit in this machine's memory, with room for others";
constexpr std::size_t kCeiling = std::size_t{1} << 40;

// Of a file with one number; the ceiling for "max", and without it.
std::size_t number_in(const std::string& file) {
  std::ifstream in(file);
  std::uint64_t bytes = 0;
  return in >> bytes ? static_cast<std::size_t>(std::min<std::uint64_t>(bytes, SIZE_MAX)) : SIZE_MAX;
}

std::size_t found() noexcept {
  std::size_t out = SIZE_MAX;
  const auto smaller = [&](std::size_t bytes) {
    if (bytes > 0) out = std::min(out, bytes);
  };
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long size = sysconf(_SC_PAGESIZE);
  if (pages > 0 && size > 0) smaller(static_cast<std::size_t>(pages) * static_cast<std::size_t>(size));
  try {
    smaller(memory_of_groups(""));
  } catch (...) {  // without memory for a file's name the others hold
    static_cast<void>(out);
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) smaller(limit.rlim_cur);
  return std::min(out / 4, kCeiling);
}

std::string decimal(unsigned __int128 number) {
  std::string out;
  do {
    out.insert(out.begin(), static_cast<char>('0' + static_cast<int>(number % 10)));
    number /= 10;
  } while (number != 0);
  return out;
}

}  // namespace

std::size_t memory_of_groups(const std::string& root) {
  const std::string top = root + "/sys/fs/cgroup";
  return std::min(number_in(top + "/memory.max"), number_in(top + "/memory/memory.limit_in_bytes"));
}

std::size_t byte_limit() noexcept {
  static const std::size_t limit = found();
  return limit;
}

Failure no_memory() {
  return failed_check(TF_RESOURCE_EXHAUSTED, kMustFit, "the system gives the kernel no more memory",
                      "as much as the kernel works with");
}

void fail_too_large(unsigned __int128 bytes, const std::string& what) {
  fail_check(TF_RESOURCE_EXHAUSTED, kMustFit,
             what + decimal(bytes) + " bytes", "at most " + std::to_string(byte_limit()) + " bytes");
}

}  // namespace drystone::host

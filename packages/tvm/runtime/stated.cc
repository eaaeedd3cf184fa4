#include "stated.h"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>

namespace drystone_tvm {
namespace {

constexpr std::string_view kSection = ".drystone_tvm";
constexpr std::string_view kFirst = "drystone-tvm 1\nneeds";

#if defined(__x86_64__)
bool has(std::string_view name) {
  __builtin_cpu_init();
  if (name == "sse3") return __builtin_cpu_supports("sse3");
  if (name == "ssse3") return __builtin_cpu_supports("ssse3");
  if (name == "sse4.1") return __builtin_cpu_supports("sse4.1");
  if (name == "sse4.2") return __builtin_cpu_supports("sse4.2");
  if (name == "popcnt") return __builtin_cpu_supports("popcnt");
  if (name == "avx") return __builtin_cpu_supports("avx");
  if (name == "avx2") return __builtin_cpu_supports("avx2");
  if (name == "fma") return __builtin_cpu_supports("fma");
  if (name == "bmi") return __builtin_cpu_supports("bmi");
  if (name == "bmi2") return __builtin_cpu_supports("bmi2");
  if (name == "avx512f") return __builtin_cpu_supports("avx512f");
  if (name == "avx512bw") return __builtin_cpu_supports("avx512bw");
  if (name == "avx512cd") return __builtin_cpu_supports("avx512cd");
  if (name == "avx512dq") return __builtin_cpu_supports("avx512dq");
  if (name == "avx512vl") return __builtin_cpu_supports("avx512vl");
  return false;
}
#else
bool has(std::string_view) { return false; }
#endif

template <class T>
std::optional<T> read(std::string_view file, std::uint64_t at) {
  T out;
  if (at > file.size() || file.size() - at < sizeof out) return std::nullopt;
  std::memcpy(&out, file.data() + at, sizeof out);
  return out;
}

std::string_view part(std::string_view file, std::uint64_t begin, std::uint64_t size) {
  if (begin > file.size() || file.size() - begin < size) return {};
  return file.substr(begin, size);
}

std::string_view section(std::string_view file) {
  const auto header = read<Elf64_Ehdr>(file, 0);
  if (!header || header->e_shoff == 0) return {};
  const auto at = [&](std::uint64_t index) {
    return read<Elf64_Shdr>(file, header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  const auto names = at(header->e_shstrndx);
  for (std::uint64_t i = 0; names && i < header->e_shnum; ++i) {
    const auto one = at(i);
    if (!one) return {};
    const std::string_view name = part(file, names->sh_offset + one->sh_name, kSection.size() + 1);
    if (!name.empty() && name.substr(0, kSection.size()) == kSection && name.back() == '\0') {
      return part(file, one->sh_offset, one->sh_size);
    }
  }
  return {};
}

}  // namespace

std::string lacking(std::string_view file) {
  const std::string_view text = section(file);
  if (text.substr(0, kFirst.size()) != kFirst) return {};
  std::string_view line = text.substr(kFirst.size());
  line = line.substr(0, line.find('\n'));
  std::string out;
  while (!line.empty()) {
    const std::size_t end = line.find(' ');
    const std::string_view name = line.substr(0, end);
    line = end == std::string_view::npos ? std::string_view() : line.substr(end + 1);
    if (name.empty() || has(name)) continue;
    out += (out.empty() ? "" : ", ") + std::string(name);
  }
  return out;
}

}  // namespace drystone_tvm

// Reading what a plugin answers: see core/answers.h.
#include "core/answers.h"

#include <cstring>

#include "core/readable.h"

namespace drystone::host {
namespace {

constexpr std::uintptr_t kPage = 4096;

bool is_page_readable(std::uintptr_t at) noexcept {
  return is_readable(reinterpret_cast<const void*>(at & ~(sizeof(std::uint64_t) - 1)));
}

}  // namespace

bool can_read(const void* data, std::size_t bytes) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  if (bytes == 0) return true;
  if (begin == 0 || begin + bytes < begin) return false;
  for (std::uintptr_t at = begin; at < begin + bytes; at = (at & ~(kPage - 1)) + kPage) {
    if (!is_page_readable(at)) return false;
  }
  return true;
}

std::optional<std::string> text_at(const char* text) {
  constexpr std::size_t kLongest = std::size_t{1} << 20;
  std::string out;
  while (out.size() < kLongest) {
    const auto at = reinterpret_cast<std::uintptr_t>(text);
    if (!is_page_readable(at)) return std::nullopt;
    const std::size_t room = kPage - at % kPage;
    const std::size_t length = ::strnlen(text, room);
    out.append(text, length);
    if (length < room) return out;
    text += room;
  }
  return std::nullopt;
}

}  // namespace drystone::host

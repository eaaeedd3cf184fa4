// Text of others where people read it.
#include "core/printable.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace drystone::host {
namespace {

struct Range {
  std::uint32_t first, last;
};

// What takes no room of its own, or moves the place where a terminal writes: Unicode's controls,
// formats, line separators and halves of pairs.
constexpr std::array<Range, 22> kHidden = {{
    {0x0, 0x1f}, {0x7f, 0x9f}, {0xad, 0xad}, {0x600, 0x605}, {0x61c, 0x61c}, {0x6dd, 0x6dd},
    {0x70f, 0x70f}, {0x890, 0x891}, {0x8e2, 0x8e2}, {0x180e, 0x180e}, {0x200b, 0x200f},
    {0x2028, 0x202e}, {0x2060, 0x206f}, {0xd800, 0xdfff}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb},
    {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
}};

struct Letter {
  std::uint32_t code;
  std::size_t size;
};

// The letter that begins the text, which is not empty; of size 0 where it is no UTF-8.
Letter letter_of(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return {0, 0};
  std::uint32_t code = first & (0x7fU >> size);
  for (std::size_t k = 1; k < size; ++k) {
    if ((byte(k) & 0xc0) != 0x80) return {0, 0};
    code = code << 6 | (byte(k) & 0x3fU);
  }
  return code < kLeast[size] || code > 0x10ffff ? Letter{0, 0} : Letter{code, size};
}

bool is_hidden(std::uint32_t code) {
  const auto holds = [code](const Range& one) { return code >= one.first && code <= one.last; };
  return std::any_of(kHidden.begin(), kHidden.end(), holds);
}

void append_escaped(std::string* out, std::uint32_t code) {
  char text[16];
  const char* form = code > 0xffff ? "\\U%08x" : code > 0xff ? "\\u%04x" : "\\x%02x";
  std::snprintf(text, sizeof text, form, static_cast<unsigned>(code));
  out->append(text);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Letter letter = letter_of(text);
    const std::size_t size = std::max<std::size_t>(letter.size, 1);
    if (letter.size == 0) {
      append_escaped(&out, static_cast<unsigned char>(text[0]));
    } else if (letter.code == '\n') {
      out.append("\n    ");
    } else if (letter.code != '\t' && is_hidden(letter.code)) {
      append_escaped(&out, letter.code);
    } else {
      out.append(text.substr(0, size));
    }
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace drystone::host

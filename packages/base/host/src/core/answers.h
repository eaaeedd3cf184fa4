// Reading what a plugin answers by pointer, where the pointer may lead anywhere.
#ifndef DRYSTONE_HOST_CORE_ANSWERS_H_
#define DRYSTONE_HOST_CORE_ANSWERS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace drystone::host {

// No file has more bytes, nor a folder more entries.
inline constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60;

// Whether the bytes are mapped and readable.
bool can_read(const void* data, std::size_t bytes) noexcept;

// The text with a NUL at its end; nothing where memory ends before that, or the text is longer than
// any name.
std::optional<std::string> text_at(const char* text);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_ANSWERS_H_

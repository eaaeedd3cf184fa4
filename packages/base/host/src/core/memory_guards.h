// Guard bytes around memory that a plugin's kernel fills: who writes outside of it is found out.
#ifndef DRYSTONE_HOST_CORE_MEMORY_GUARDS_H_
#define DRYSTONE_HOST_CORE_MEMORY_GUARDS_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace drystone::host {

struct Memory;

// Whose memory it is. The texts are never freed.
struct GuardOwner {
  const char* library = "";
  const char* kernel = "";
};

// Guard bytes, and whether they are as they were set.
void fill_guard(void* bytes, std::size_t count) noexcept;
bool is_guard(const void* bytes, std::size_t count) noexcept;

// Ends the process with a line that says whose memory was written so far outside of that nothing beside
// it is to be trusted any more.
[[noreturn]] void end_harmed(const char* whose) noexcept;

inline constexpr std::size_t kGuardBefore = 64;  // with the owner in it

// Bytes behind memory of that length: more where to set them is little beside filling the memory.
inline std::size_t guard_behind(std::size_t length) noexcept {
  constexpr std::size_t kLong = std::size_t{64} << 10;
  return length < kLong ? 128 : 4096;
}

// `data` has room of guard bytes on both sides.
void set_guards(void* data, std::size_t length, const GuardOwner& owner) noexcept;

enum class Harm : std::uint8_t { none, before, behind };

// What was written outside of guarded memory. Ends the process where the guard bytes do not end what
// was written: whatever lies beyond them is not to be trusted any more.
Harm harm_of(const Memory& memory) noexcept;

// Of memory that is given back: kept for the call of a kernel that is under way on this thread, else
// logged.
void note_harm(const Memory& memory) noexcept;

// The same for anything else that a plugin does which it must not and the host went on without.
void note_misuse(const char* what) noexcept;

// What note_harm() and note_misuse() have kept since the last time, or nothing.
std::string noted_harm();

std::string to_text(Harm harm, std::size_t length);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_MEMORY_GUARDS_H_

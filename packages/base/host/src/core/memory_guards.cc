// Guard bytes around memory: see core/memory_guards.h.
#include "core/memory_guards.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/plugin_call.h"
#include "core/tensor.h"
#include "drystone/logging.h"

namespace drystone::host {
namespace {

constexpr unsigned char kPattern = 0xD5;

struct Before {
  GuardOwner owner;
  unsigned char bytes[kGuardBefore - sizeof(GuardOwner)];
};
static_assert(sizeof(Before) == kGuardBefore);

Before* before_of(void* data) noexcept {
  return reinterpret_cast<Before*>(static_cast<unsigned char*>(data) - kGuardBefore);
}

thread_local std::string noted;

[[noreturn]] void end_process(const GuardOwner* owner) noexcept {
  if (owner == nullptr) end_harmed("a kernel of a plugin");
  end_harmed((std::string("kernel '") + owner->kernel + "' of " + owner->library).c_str());
}

}  // namespace

void fill_guard(void* bytes, std::size_t count) noexcept { std::memset(bytes, kPattern, count); }

bool is_guard(const void* bytes, std::size_t count) noexcept {
  static constexpr auto kWhole = [] {
    std::array<unsigned char, 64> out{};
    out.fill(kPattern);
    return out;
  }();
  const auto* at = static_cast<const unsigned char*>(bytes);
  for (std::size_t k = 0; k < count; k += kWhole.size()) {
    if (std::memcmp(at + k, kWhole.data(), std::min(count - k, kWhole.size())) != 0) return false;
  }
  return true;
}

void end_harmed(const char* whose) noexcept {
  for (const char* part : {"drystone: ", whose,
                           " wrote so far outside of memory that it was given that other memory of the "
                           "process is changed; the process ends\n"}) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, part, std::strlen(part));
  }
  std::abort();
}

void set_guards(void* data, std::size_t length, const GuardOwner& owner) noexcept {
  Before& before = *before_of(data);
  before.owner = owner;
  fill_guard(before.bytes, sizeof before.bytes);
  fill_guard(static_cast<unsigned char*>(data) + length, guard_behind(length));
}

Harm harm_of(const Memory& memory) noexcept {
  constexpr std::size_t kLast = 8;
  const Before& before = *before_of(memory.data);
  const std::size_t count = guard_behind(memory.length);
  const unsigned char* behind = static_cast<const unsigned char*>(memory.data) + memory.length;
  if (!is_guard(before.bytes, kLast)) end_process(nullptr);
  if (!is_guard(behind + count - kLast, kLast)) end_process(&before.owner);
  if (!is_guard(behind, count)) return Harm::behind;
  return is_guard(before.bytes, sizeof before.bytes) ? Harm::none : Harm::before;
}

void note_harm(const Memory& memory) noexcept {
  const Harm harm = harm_of(memory);
  if (harm == Harm::none) return;
  const GuardOwner owner = before_of(memory.data)->owner;
  try {
    const std::string text = to_text(harm, memory.length);
    const bool is_in_call = running_call != nullptr && std::string_view(running_call->library) == owner.library;
    if (is_in_call) noted = "it wrote " + text;
    else TF_Log(TF_ERROR, "kernel '%s' of %s wrote %s, after it had returned", owner.kernel, owner.library, text.c_str());
  } catch (...) {
    return;  // without memory for the words
  }
}

void note_misuse(const char* what) noexcept {
  if (running_call == nullptr || running_call->guards == nullptr) {
    const char* const library = running_call == nullptr ? "" : running_call->library;
    return TF_Log(TF_ERROR, "%s: %s", *library == '\0' ? "a plugin or the program" : library, what);
  }
  try {
    noted = what;
  } catch (...) {
    return;  // without memory for the words
  }
}

std::string noted_harm() { return std::exchange(noted, {}); }

std::string to_text(Harm harm, std::size_t length) {
  const char* where = harm == Harm::before ? "before the beginning" : "beyond the end";
  return std::string(where) + " of memory of " + std::to_string(length) + " bytes that it was given";
}

}  // namespace drystone::host

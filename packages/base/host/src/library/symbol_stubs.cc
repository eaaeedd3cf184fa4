// Stubs for undefined functions: see library/symbol_stubs.h.
//
// A plugin's undefined symbols must all be defined when it is opened, also those that it never uses.
// The generated library has just their names; what they lead to is one of the functions below, each of
// which knows its number, and thereby whose function it stands in for.
#include "library/symbol_stubs.h"

#include <cxxabi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <utility>

#include "core/failure.h"
#include "library/elf_image.h"
#include "library/loaded.h"

namespace drystone::host {
namespace {

constexpr std::size_t kMost = 1024;

struct Missing {
  std::string function;
  std::string path;

  bool operator==(const Missing&) const = default;
};

// Written under the library lock, each before its number is given away.
std::array<Missing, kMost>& missing() {
  static auto* all = new std::array<Missing, kMost>;
  return *all;
}

std::size_t& used() {
  static std::size_t count = 0;
  return count;
}

// The number of the stub, a new one unless an attempt before has given it one. Throws.
std::size_t number_of(const Missing& one) {
  const auto end = missing().begin() + static_cast<std::ptrdiff_t>(used());
  const auto found = std::find(missing().begin(), end, one);
  if (found != end) return static_cast<std::size_t>(found - missing().begin());
  if (used() == kMost) {
    fail(TF_RESOURCE_EXHAUSTED, one.path + " needs more undefined functions than the " +
                                    std::to_string(kMost) + " that the host can stand in for");
  }
  missing()[used()] = one;
  return used()++;
}

thread_local int openings = 0;

std::string demangled(const std::string& name) {
  int status = -1;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : name;
}

[[noreturn]] void called(std::size_t number) {
  const Missing& one = missing()[number];
  std::string text = "plugin " + one.path + " called " + demangled(one.function) +
                     ", a function that neither the host nor a library of the plugin's defines";
  if (openings == 0) fail(TF_UNIMPLEMENTED, std::move(text));
  text += '\n';
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  std::abort();
}

template <std::size_t Number>
[[noreturn]] void stub() {
  called(Number);
}

template <std::size_t... Numbers>
constexpr std::array<void (*)(), sizeof...(Numbers)> table(std::index_sequence<Numbers...>) {
  return {&stub<Numbers>...};
}

constexpr auto kStandIns = table(std::make_index_sequence<kMost>{});

}  // namespace

Opening::Opening() noexcept { ++openings; }
Opening::~Opening() { --openings; }

std::string open_symbol_stubs(const std::string& path, const std::vector<std::string>& functions) {
  const std::lock_guard<std::recursive_mutex> held(library_lock());
  std::vector<Definition> definitions;
  for (const std::string& function : functions) {
    void (*const stands_in)() = kStandIns[number_of({function, path})];
    definitions.push_back({function, reinterpret_cast<const void*>(stands_in)});
  }
  return open_definitions(definitions);
}

}  // namespace drystone::host

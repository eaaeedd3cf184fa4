// Which files are kept open: see library/kept_file.h.
#include "library/kept_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

namespace drystone::host {
namespace {

// Their numbers and 1; 0 where there is none. What finds no place is open all the same.
constinit std::array<std::atomic<int>, 256> kept{};

void replace(int from, int to) noexcept {
  for (auto& one : kept) {
    int expected = from;
    if (one.compare_exchange_strong(expected, to)) return;
  }
}

}  // namespace

bool is_kept_file(int number) noexcept {
  return number >= 0 && std::any_of(kept.begin(), kept.end(), [&](const auto& one) { return one.load() == number + 1; });
}

KeptFile::KeptFile(int number) noexcept : number_(number) {
  if (number >= 0) replace(0, number + 1);
}

KeptFile::~KeptFile() {
  if (number_ < 0) return;
  replace(number_ + 1, 0);
  close(number_);
}

KeptFile::KeptFile(KeptFile&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

KeptFile& KeptFile::operator=(KeptFile&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

}  // namespace drystone::host

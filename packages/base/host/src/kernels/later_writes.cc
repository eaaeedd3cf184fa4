// Looking for what is written too late: see kernels/later_writes.h.
#include "kernels/later_writes.h"

#include <atomic>
#include <cstring>
#include <utility>

#include "kernels/watch.h"

namespace drystone::host::kernels {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20;  // that all kernels of the process keep
std::atomic<std::size_t> bytes_kept{0};

std::uint64_t print_of(const Memory& memory) noexcept {
  return print_of_all(static_cast<const unsigned char*>(memory.data), memory.length);
}

}  // namespace

LaterWrites::~LaterWrites() { found(); }

void LaterWrites::keep(TF_Tensor& output, std::size_t i) {
  Memory* const given = output.memory;
  if (!given->ours || !given->guarded || given->length == 0 || has_objects(output.dtype)) return;
  if (bytes_kept.load(std::memory_order_relaxed) + given->length > kMostBytes) return;
  const std::lock_guard lock(mutex_);
  kept_.reserve(kept_.size() + 1);
  Memory* const copy = allocate(output.dtype, given->length);
  std::memcpy(copy->data, given->data, given->length);
  kept_.push_back({given, i, print_of(*copy)});
  bytes_kept.fetch_add(given->length, std::memory_order_relaxed);
  output.memory = copy;
}

std::string LaterWrites::found() {
  std::string out;
  const std::lock_guard lock(mutex_);
  for (const Kept& kept : kept_) {
    if (out.empty() && print_of(*kept.memory) != kept.print) {
      out = "memory of output " + std::to_string(kept.output) + " of an earlier call was written to after that call was over";
    }
    bytes_kept.fetch_sub(kept.memory->length, std::memory_order_relaxed);
    release(kept.memory);
  }
  kept_.clear();
  return out;
}

bool LaterWrites::is_same(const Memory& memory, std::size_t input, std::uint64_t print) {
  const std::lock_guard lock(mutex_);
  if (input >= constants_.size()) constants_.resize(input + 1);
  const Constant before = std::exchange(constants_[input], {&memory, print});
  return before.memory != &memory || before.print == print;
}

}  // namespace drystone::host::kernels

// Looking after calls of a plugin's kernel: see kernels/watch.h.
#include "kernels/watch.h"

#include <bit>
#include <cstring>

#include "core/memory_guards.h"

namespace drystone::host::kernels {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::size_t kSmall = 512;     // bytes that are all looked at
constexpr std::size_t kSamples = 16;
constexpr std::uint64_t kUnwatched = 0;
constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;

std::uint64_t word_at(const unsigned char* bytes) noexcept {
  std::uint64_t out = 0;
  std::memcpy(&out, bytes, kWord);
  return out;
}

std::uint64_t mixed(std::uint64_t sum, std::uint64_t word) noexcept {
  return std::rotl(sum ^ word, 29) * kFactor;
}

// Four at a time, which do not wait for one another.
std::uint64_t print_of_all(const unsigned char* bytes, std::size_t count) noexcept {
  std::uint64_t sums[4] = {1, 2, 3, 4};
  std::size_t k = 0;
  for (; k + 4 * kWord <= count; k += 4 * kWord) {
    for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] = mixed(sums[lane], word_at(bytes + k + lane * kWord));
  }
  for (; k + kWord <= count; k += kWord) sums[0] = mixed(sums[0], word_at(bytes + k));
  for (; k < count; ++k) sums[1] = mixed(sums[1], bytes[k]);
  return mixed(mixed(mixed(sums[0], sums[1]), sums[2]), sums[3]);
}

std::uint64_t print_of_samples(const unsigned char* bytes, std::size_t count) noexcept {
  const std::size_t step = (count - kWord) / (kSamples - 1);
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < kSamples; ++k) sum = mixed(sum, word_at(bytes + k * step));
  return sum;
}

bool is_lent(const Memory& memory) noexcept { return !memory.ours && !memory.constant; }

[[noreturn]] void tell_changed(const TF_OpKernelContext& ctx, std::size_t i) {
  const Memory& memory = *ctx.inputs[i]->memory;
  std::string text = ctx.kernel().title() + ": input " + std::to_string(i) +
                     " has other bytes after the call than before; a kernel must not write to its inputs";
  if (is_lent(memory)) text += " (or another thread wrote to the array that was fed)";
  if (memory.constant) {
    text += "; it is a constant of the model";
    if (ctx.call.states != nullptr) ctx.call.states->note_damage(text);
  }
  fail(TF_INTERNAL, text);
}

}  // namespace

Watch::Watch(TF_OpKernelContext& ctx) : ctx_(ctx), count_(ctx.kernel().inputs.types.size()) {
  noted_harm();
  whole_ = std::has_single_bit(ctx.kernel().calls.fetch_add(1, std::memory_order_relaxed) + 1);
  if (count_ > kFew) more_.resize(count_);
  for (std::size_t i = 0; i < count_; ++i) place(i) = is_watched(i) ? print(i) : kUnwatched;
}

// Not what the kernel may overwrite, nor what is no plain memory.
bool Watch::is_watched(std::size_t i) const {
  if (ctx_.is_reference(i) || (ctx_.call.overwritable != nullptr && ctx_.call.overwritable[i] != 0)) return false;
  const TF_Tensor* input = ctx_.inputs[i];
  if (input == nullptr || input->memory == nullptr) return false;
  const Memory& memory = *input->memory;
  return !memory.opaque && !memory.stored && memory.data != nullptr && ctx_.kernel().input_on_host[i] != 0 &&
         !has_objects(input->dtype);
}

std::uint64_t Watch::print(std::size_t i) const {
  const TF_Tensor& input = *ctx_.inputs[i];
  const std::size_t bytes = static_cast<std::size_t>(input.count()) * stored_size(input.dtype);
  const auto* data = static_cast<const unsigned char*>(input.memory->data);
  return (whole_ || bytes <= kSmall ? print_of_all(data, bytes) : print_of_samples(data, bytes)) | 1;
}

void Watch::check() {
  check_inputs();
  check_outputs();
  if (const std::string text = noted_harm(); !text.empty()) {
    fail(TF_INTERNAL, ctx_.kernel().title() + ": " + text);
  }
}

void Watch::check_inputs() {
  for (std::size_t i = 0; i < count_; ++i) {
    if (place(i) != kUnwatched && print(i) != place(i)) tell_changed(ctx_, i);
  }
}

void Watch::check_outputs() const {
  const auto look = [&](const Memory* memory, const std::string& what) {
    if (memory == nullptr || !memory->guarded) return;
    const Harm harm = harm_of(*memory);
    if (harm == Harm::none) return;
    fail(TF_INTERNAL, ctx_.kernel().title() + ": it wrote " + to_text(harm, memory->length) + what);
  };
  for (int i = 0; i < ctx_.num_outputs(); ++i) {
    const TF_Tensor* output = ctx_.outputs[i];
    if (output != nullptr) look(output->memory, " for output " + std::to_string(i));
  }
  for (const Memory* memory : ctx_.scratch) look(memory, " to work with");
}

}  // namespace drystone::host::kernels

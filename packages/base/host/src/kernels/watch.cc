// Looking after calls of a plugin's kernel: see kernels/watch.h.
#include "kernels/watch.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/memory_guards.h"
#include "core/readable.h"
#include "drystone/tstring.h"
#include "library/redirect.h"
#include "ops/infer.h"

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

std::uint64_t print_of_samples(const unsigned char* bytes, std::size_t count) noexcept {
  const std::size_t step = (count - kWord) / (kSamples - 1);
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < kSamples; ++k) sum = mixed(sum, word_at(bytes + k * step));
  return sum;
}

bool is_lent(const Memory& memory) noexcept { return !memory.ours && !memory.constant; }

bool is_whole(const TF_TString& string) noexcept {
  const std::size_t size = TF_TString_GetSize(&string);
  switch (TF_TString_GetType(&string)) {
    case TF_TSTR_SMALL: return size <= TF_TString_GetCapacity(&string);
    case TF_TSTR_LARGE: if (size > TF_TString_GetCapacity(&string)) return false; break;
    default: break;
  }
  return is_readable(TF_TString_GetDataPointer(&string), size);
}

void own_bytes(TF_TString& view) {
  TF_TString own;
  TF_TString_Init(&own);
  TF_TString_Copy(&own, TF_TString_GetDataPointer(&view), TF_TString_GetSize(&view));
  view = own;
}

[[noreturn]] void tell_changed(const TF_OpKernelContext& ctx, std::size_t i) {
  const Memory& memory = *ctx.inputs[i]->memory;
  std::string text = "input " + std::to_string(i) +
                     " has other bytes after the call than before; a kernel must not write to its inputs";
  if (is_lent(memory)) text += " (or another thread wrote to the array that was fed)";
  if (memory.constant) {
    text += "; it is a constant of the model";
    if (ctx.call->states != nullptr) ctx.call->states->note_damage(ctx.kernel().title() + ": " + text);
  }
  fail_at(ctx.kernel().subject(), {TF_INTERNAL, text});
}

[[noreturn]] void tell_changed_since(const TF_OpKernelContext& ctx, std::size_t i) {
  const std::string text = "input " + std::to_string(i) + ", a constant of the model, has other bytes than after an " +
                           "earlier call: a thread that the kernel has left wrote to it, or somebody else did";
  if (ctx.call->states != nullptr) ctx.call->states->note_damage(ctx.kernel().title() + ": " + text);
  fail_at(ctx.kernel().subject(), {TF_INTERNAL, text});
}

}  // namespace

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

Watch::Watch(TF_OpKernelContext& ctx)
    : ctx_(ctx), function_(ctx.kernel().function), count_(ctx.kernel().inputs.types.size()) {
  noted_harm();
  whole_ = std::has_single_bit(ctx.kernel().calls.fetch_add(1, std::memory_order_relaxed) + 1);
  if (count_ > kFew) more_.resize(count_);
  for (std::size_t i = 0; i < count_; ++i) place(i) = is_watched(i) ? print(i) : kUnwatched;
  if (whole_) look_back();
  freed_.begin();
}

// What the plugin gave to free may be no memory of malloc's: the process then ends in its name.
Watch::~Watch() {
  const RunningCall running(function_);
  freed_.release();
}

void Watch::look_back() {
  LaterWrites& later = ctx_.kernel().later_writes;
  if (const std::string text = later.found(); !text.empty()) fail_at(ctx_.kernel().subject(), {TF_INTERNAL, text});
  for (std::size_t i = 0; i < count_; ++i) {
    if (place(i) == kUnwatched || !ctx_.inputs[i]->memory->constant) continue;
    if (!later.is_same(*ctx_.inputs[i]->memory, i, place(i))) tell_changed_since(ctx_, i);
  }
}

void Watch::keep_outputs() {
  if (ctx_.failed.load(std::memory_order_acquire)) return;
  for (int i = 0; i < ctx_.num_outputs(); ++i) {
    TF_Tensor* output = ctx_.outputs[i];
    const auto at = static_cast<std::size_t>(i);
    if (output == nullptr || output->memory == nullptr || ctx_.kernel().output_on_host[at] == 0) continue;
    ctx_.kernel().later_writes.keep(*output, at);
  }
}

// Not what the kernel may overwrite, nor what is no plain memory.
bool Watch::is_watched(std::size_t i) const {
  if (ctx_.is_reference(i) || (ctx_.call->overwritable != nullptr && ctx_.call->overwritable[i] != 0)) return false;
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
  freed_.end();
  if (unlock_streams()) note_misuse("it left a standard stream locked, which others wait for; that was unlocked");
  check_inputs();
  check_outputs();
  if (const std::string text = noted_harm(); !text.empty()) {
    fail_at(ctx_.kernel().subject(), {TF_INTERNAL, text});
  }
  if (!ctx_.failed.load(std::memory_order_acquire)) ctx_.kernel().stated.check(ctx_);
  if (!whole_) return;
  remark_left_open(ctx_.kernel().registered->library.c_str(), ctx_.kernel().title());
  check_shapes();
  keep_outputs();
}

// What the shape function makes of the inputs as they are.
void Watch::check_shapes() const {
  if (ctx_.failed.load(std::memory_order_acquire)) return;
  const auto shape_of = [](const TF_Tensor* tensor) {
    if (tensor == nullptr) return ops::Shape{};
    return ops::Shape{true, {tensor->dims.data(), tensor->dims.data() + tensor->dims.rank()}};
  };
  std::vector<ops::Shape> given;
  for (std::size_t i = 0; i < count_; ++i) given.push_back(shape_of(ctx_.is_reference(i) ? nullptr : ctx_.inputs[i]));
  const Node& node = ctx_.kernel().node;
  const std::vector<ops::Shape> stated = ops::stated_shapes(node.op(), node.bytes(), std::move(given));
  for (std::size_t i = 0; i < stated.size() && i < static_cast<std::size_t>(ctx_.num_outputs()); ++i) {
    const ops::Shape found = shape_of(ctx_.outputs[i]);
    if (found.agrees_with(stated[i])) continue;
    fail_at(ctx_.kernel().subject(),
            {TF_INTERNAL, "output " + std::to_string(i) + " has shape " + to_text(found) +
                              "; the shape function of its op says " + to_text(stated[i]) + " for these inputs"});
  }
}

// Where memory is that goes when the call has gone, or "". The watch itself lies on the stack, above the frames
// of the call.
std::string Watch::lost_place(const void* data) const {
  constexpr std::ptrdiff_t kNear = std::ptrdiff_t{256} << 10;
  if (freed_.holds(data)) return "in memory that it has freed";
  const std::ptrdiff_t below = reinterpret_cast<const char*>(this) - static_cast<const char*>(data);
  return below > 0 && below < kNear ? "on the stack of the call" : "";
}

void Watch::check_inputs() {
  for (std::size_t i = 0; i < count_; ++i) {
    if (place(i) != kUnwatched && print(i) != place(i)) tell_changed(ctx_, i);
  }
}

// Memory of the plugin's own, which the host goes on to read.
void Watch::check_place(std::size_t i) const {
  const TF_Tensor& output = *ctx_.outputs[i];
  const Memory& memory = *output.memory;
  const std::size_t bytes = static_cast<std::size_t>(output.count()) * stored_size(output.dtype);
  if (memory.ours || memory.shared || memory.stored || memory.opaque || memory.token != 0) return;
  const std::string text = "output " + std::to_string(i) + " has " + std::to_string(bytes) + " bytes ";
  if (!is_readable(memory.data, bytes)) {
    fail_at(ctx_.kernel().subject(), {TF_INTERNAL, text + "at an address where nothing can be read"});
  }
  if (const std::string lost = bytes == 0 ? "" : lost_place(memory.data); !lost.empty()) {
    fail_at(ctx_.kernel().subject(), {TF_INTERNAL, text + lost});
  }
}

// Strings that hold together, in memory that stays; those that do not are emptied, as they will be freed. Views
// become copies: who owns their bytes, and for how long, is the plugin's affair. All are looked at where inputs
// are looked at as a whole, else views and some others.
void Watch::check_strings(std::size_t i) const {
  const TF_Tensor& output = *ctx_.outputs[i];
  auto* const strings = static_cast<TF_TString*>(output.memory->data);
  const auto count = static_cast<std::size_t>(output.count());
  const std::size_t step = whole_ ? 1 : std::max<std::size_t>(1, count / kSamples);
  const auto problem_of = [&](const TF_TString& string) -> std::string {
    if (!is_whole(string)) return "is none: its bytes lie where nothing can be read, or are more than it has room for";
    const TF_TString_Type type = TF_TString_GetType(&string);
    if (type == TF_TSTR_SMALL || type == TF_TSTR_OFFSET || TF_TString_GetSize(&string) == 0) return "";
    const std::string lost = lost_place(TF_TString_GetDataPointer(&string));
    return lost.empty() ? "" : "has its bytes " + lost;
  };
  std::string problem;
  std::size_t bad = 0;
  for (std::size_t k = 0; k < count && problem.empty(); ++k) {
    const bool is_view = TF_TString_GetType(&strings[k]) == TF_TSTR_VIEW;
    if (k % step != 0 && !is_view) continue;
    problem = problem_of(strings[k]);
    if (problem.empty() && is_view) own_bytes(strings[k]);
    if (!problem.empty()) bad = k;
  }
  if (problem.empty()) return;
  for (std::size_t k = bad; k < count; ++k) {
    if (!problem_of(strings[k]).empty()) TF_TString_Init(&strings[k]);
  }
  fail_at(ctx_.kernel().subject(),
          {TF_INTERNAL, "string " + std::to_string(bad) + " of output " + std::to_string(i) + " " + problem});
}

void Watch::check_outputs() const {
  const auto look = [&](const Memory* memory, const std::string& what) {
    if (!memory->guarded) return;
    const Harm harm = harm_of(*memory);
    if (harm == Harm::none) return;
    fail_at(ctx_.kernel().subject(), {TF_INTERNAL, "it wrote " + to_text(harm, memory->length) + what});
  };
  for (int i = 0; i < ctx_.num_outputs(); ++i) {
    const TF_Tensor* output = ctx_.outputs[i];
    if (output == nullptr || output->memory == nullptr) continue;
    look(output->memory, " for output " + std::to_string(i));
    const auto at = static_cast<std::size_t>(i);
    if (ctx_.kernel().output_on_host[at] == 0) continue;
    check_place(at);
    if (output->dtype == TF_STRING && output->memory->data != nullptr) check_strings(at);
  }
  for (const Memory* memory : ctx_.scratch) look(memory, " to work with");
}

}  // namespace drystone::host::kernels

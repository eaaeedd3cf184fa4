// Recording runs: see executor/trace.h.
#include "executor/trace.h"

#include <unistd.h>

#include <chrono>

#include "device/description.h"
#include "executor/run.h"
#include "executor/value.h"

namespace drystone::host::executor {
namespace {

bool counts(const Memory* memory) noexcept {
  return memory != nullptr && !memory->opaque && !memory->constant;
}

const char* name_of(AllocationKind kind) noexcept {
  static constexpr const char* kNames[] = {"", "borrowed", "small block", "large block", "heap", "arena"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::int64_t thread_number() noexcept {
  static thread_local const std::int64_t number = gettid();
  return number;
}

bool is_array(const TF_Tensor* value) noexcept {
  return value != nullptr && value != dead() && value->memory != nullptr && !value->memory->opaque;
}

}  // namespace

std::int64_t bytes_of(const TF_Tensor* value) noexcept {
  if (!is_array(value)) return 0;
  return value->count() * static_cast<std::int64_t>(stored_size(value->dtype));
}

std::int64_t Trace::now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

const Memory* Trace::hold(const TF_Tensor* value) {
  if (value == nullptr || value == dead() || !counts(value->memory)) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = followed_.try_emplace(value->memory, Followed{next_, 0});
  if (is_new) {
    ++next_;
    held_ += static_cast<std::int64_t>(value->memory->length);
  }
  ++found->second.uses;
  return value->memory;
}

void Trace::let_go(const Memory* memory) {
  if (memory == nullptr) return;
  const std::lock_guard lock(mutex_);
  const auto found = followed_.find(memory);
  if (found == followed_.end() || --found->second.uses > 0) return;
  held_ -= static_cast<std::int64_t>(memory->length);
  followed_.erase(found);
}

void Trace::frames_hold(std::int64_t change) {
  const std::lock_guard lock(mutex_);
  held_ += change;
}

bool Trace::follows(const Memory* memory) {
  const std::lock_guard lock(mutex_);
  return followed_.contains(memory);
}

void Trace::add(const Block& block, const Instruction& in, std::int64_t start,
                TF_Tensor* const* outputs) {
  if (in.kind == Kind::constant || in.kind == Kind::nothing) return;  // it did none
  const std::int64_t end = now();
  const std::lock_guard lock(mutex_);
  const auto first = static_cast<std::int32_t>(outputs_.size());
  for (std::int32_t k = 0; k < in.outputs.count; ++k) {
    const TF_Tensor* value = outputs == nullptr ? nullptr : outputs[k];
    const auto found = value == nullptr ? followed_.end() : followed_.find(value->memory);
    outputs_.push_back({bytes_of(value), found == followed_.end() ? -1 : found->second.number,
                        is_array(value) ? allocation_of(*value->memory) : Allocation{}});
  }
  events_.push_back({static_cast<std::int32_t>(&block - program_.blocks.data()),
                     static_cast<std::int32_t>(&in - block.instructions.data()), thread_number(),
                     start, end, held_, {first, in.outputs.count}});
}

void Trace::add_device_time(const std::string* node, const DS_Device& device, std::uint64_t nanoseconds) {
  const std::lock_guard lock(mutex_);
  device_times_[node].push_back({device, nanoseconds});
}

void Trace::add_device(DS_Device& device, std::int64_t peak) {
  const std::lock_guard lock(mutex_);
  devices_.push_back({device, peak});
}

std::string Trace::json() {
  const std::lock_guard lock(mutex_);
  Json out;
  out.object();
  out.key("events");
  out.array();
  for (const Event& event : events_) add_to(out, event);
  out.close();
  if (!devices_.empty()) add_devices_to(out);
  out.close();
  return out.str();
}

void Trace::add_to(Json& out, const Event& event) {
  out.array();
  out.integer(event.block);
  out.integer(event.instruction);
  out.integer(event.thread);
  out.integer(event.start);
  out.integer(event.end);
  out.integer(event.held);
  out.array();
  for (const Output& output : event.outputs.of(outputs_)) {
    out.array();
    out.integer(output.bytes);
    out.integer(output.memory);
    out.close();
  }
  out.close();
  out.array();
  for (const Output& output : event.outputs.of(outputs_)) {
    out.array();
    out.text(name_of(output.allocation.kind));
    out.integer(static_cast<std::int64_t>(output.allocation.bytes));
    out.close();
  }
  out.close();
  const Block& block = program_.blocks[static_cast<std::size_t>(event.block)];
  const auto found = device_times_.find(&block.instructions[static_cast<std::size_t>(event.instruction)].node);
  if (found != device_times_.end() && !found->second.empty()) {
    out.integer(static_cast<std::int64_t>(found->second.front().nanoseconds));
    out.text(found->second.front().device.name);
    found->second.pop_front();
  }
  out.close();
}

void Trace::add_devices_to(Json& out) {
  out.key("devices");
  out.array();
  for (const DevicePeak& peak : devices_) {
    out.object();
    out.text("name", peak.device.name);
    out.integer("peak", peak.bytes);
    describe_memory(out, peak.device);
    out.close();
  }
  out.close();
}

Recording::Recording(Trace& trace, const Block& block, TF_Tensor* const* values)
    : trace_(trace), block_(block), held_(static_cast<std::size_t>(block.values())) {
  for (std::size_t v = 0; v < static_cast<std::size_t>(block.feeds); ++v) held_[v] = trace.hold(values[v]);
}

Recording::~Recording() {
  for (const Memory* memory : held_) trace_.let_go(memory);
}

void Recording::made(const Instruction& in, std::int64_t start, TF_Tensor* const* values) {
  const auto first = static_cast<std::size_t>(in.outputs.start);
  const auto end = first + static_cast<std::size_t>(in.outputs.count);
  for (std::size_t v = first; v < end; ++v) held_[v] = trace_.hold(values[v]);
  trace_.add(block_, in, start, values + in.outputs.start);
}

void Recording::dies(std::size_t value) { trace_.let_go(std::exchange(held_[value], nullptr)); }

void Recording::range(Run& run, std::int32_t begin, std::int32_t end, TF_Tensor** values) {
  for (std::int32_t k = begin; k < end; ++k) {
    const Instruction& in = block_.instructions[static_cast<std::size_t>(k)];
    if (run.watches_time()) run.check_time(in);
    const std::int64_t start = Trace::now();
    run.advance(block_, in, values);
    made(in, start, values);
    for (const std::int32_t v : in.dead_after.of(block_.dead_after)) {
      dies(static_cast<std::size_t>(v));
    }
    drop_dead(block_, in, values);
  }
}

}  // namespace drystone::host::executor

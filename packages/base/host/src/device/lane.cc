// Streams and their memory: see device/lane.h.
#include "device/lane.h"

#include <algorithm>
#include <utility>

namespace drystone::host {

// What `argument` of a tensor's memory on a device points to.
struct LaneBlock {
  std::shared_ptr<Lane> lane;
  SP_DeviceMemoryBase base{};
  std::size_t length = 0;

  static LaneBlock& of(const TF_Tensor& tensor) { return *static_cast<LaneBlock*>(tensor.memory->argument); }
  static void end(void*, std::size_t, void* block) {
    const std::unique_ptr<LaneBlock> own(static_cast<LaneBlock*>(block));
    own->lane->give(own->base);
  }
};

namespace {

constexpr std::size_t kMostMarks = 4096;
constexpr std::uint64_t kUnit = 256;  // sizes of blocks are multiples, so that more of them are used again

std::size_t rounded(std::size_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }

// DS_Allocate of a lane.
extern "C" TF_Tensor* allocate_on_lane(void* lane, TF_DataType dtype, const int64_t* dims, int num_dims,
                                       TF_Status* status) {
  TF_Tensor* out = nullptr;
  guarded(status, "allocate", [&] { out = static_cast<Lane*>(lane)->allocate(dtype, dims, num_dims); });
  return out;
}

std::uint64_t bytes_of(const TF_Tensor& tensor) {
  return static_cast<std::uint64_t>(tensor.count()) * stored_size(tensor.dtype);
}

std::size_t bytes_of(TF_DataType dtype, const std::int64_t* dims, int count) {
  const auto number = elements(dims, count);
  std::size_t bytes = 0;
  if (!number || stored_size(dtype) == 0 ||
      __builtin_mul_overflow(static_cast<std::size_t>(*number), stored_size(dtype), &bytes) || bytes > PTRDIFF_MAX) {
    fail(TF_INVALID_ARGUMENT, "no tensor has that dtype and those dimensions");
  }
  return bytes;
}

}  // namespace

Lane* lane_of(const TF_Tensor& tensor) noexcept {
  return tensor.memory == nullptr || tensor.memory->device == 0 ? nullptr : LaneBlock::of(tensor).lane.get();
}

Lane* lane_of(const DS_KernelCall& call) noexcept {
  return call.allocate == allocate_on_lane ? static_cast<Lane*>(call.allocate_context) : nullptr;
}

void put_on(Lane& lane, DS_KernelCall* call) {
  call->stream = lane.stream();
  call->allocate = allocate_on_lane;
  call->allocate_context = &lane;
}

std::unique_ptr<TF_Tensor> on_host(const TF_Tensor& there) {
  std::unique_ptr<TF_Tensor> out(new_tensor(there.dtype, there.dims.data(), there.dims.rank()));
  const LaneBlock& from = LaneBlock::of(there);
  const std::uint64_t bytes = bytes_of(there);
  if (bytes == 0) return out;
  from.lane->block();
  execute(from.lane->device(), "sync_memcpy_dtoh", &SP_StreamExecutor::sync_memcpy_dtoh, out->memory->data, &from.base, bytes);
  return out;
}

Lane::Lane(DS_Device& device) : device_(device) {
  stream_.device = &device;
  execute(device, "create_stream", &SP_StreamExecutor::create_stream, &stream_.handle);
}

Lane::~Lane() {
  Failure failure(TF_OK, "");
  if (is_busy_) synchronize(&failure);
  release_unused();
  answered(0, [&] {
    for (const Mark& mark : marks_) ask(device_, "destroy_event", &SP_StreamExecutor::destroy_event, mark.event);
    ask(device_, "destroy_stream", &SP_StreamExecutor::destroy_stream, stream_.handle);
    return 0;
  });
}

// ---- memory ----------------------------------------------------------------------------------------

TF_Tensor* Lane::allocate(TF_DataType dtype, const std::int64_t* dims, int count) {
  const std::size_t bytes = bytes_of(dtype, dims, count);
  if (has_objects(dtype)) fail(TF_INVALID_ARGUMENT, "objects cannot lie in the memory of " + device_.name);
  auto block = std::make_unique<LaneBlock>();
  block->lane = shared_from_this();
  block->length = bytes;
  block->base = take(rounded(bytes));
  auto memory = std::make_unique<Memory>();
  born(Kind::memory);
  memory->dtype = dtype;
  memory->data = block->base.opaque;
  memory->length = bytes;
  memory->deallocator = LaneBlock::end;
  memory->argument = block.release();
  memory->device = static_cast<std::uint8_t>(std::min(device_.sp()->ordinal, 254) + 1);
  auto* const held = memory.release();
  try {
    return new TF_Tensor(dtype, dims, count, held);
  } catch (...) {
    release(held);
    throw;
  }
}

// Without the lock while the plugin is called: a thread of its own may give memory back.
SP_DeviceMemoryBase Lane::take(std::size_t bytes) {
  SP_DeviceMemoryBase out{};
  out.struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  if (bytes == 0) return out;
  if (!reused(bytes, &out) && !allocate_block(device_, bytes, &out)) {
    Failure failure(TF_OK, "");
    synchronize(&failure);  // so that what is unused may go
    release_unused();
    if (!allocate_block(device_, bytes, &out)) {
      fail(TF_RESOURCE_EXHAUSTED, device_.name + " gave no memory for " + std::to_string(bytes) + " bytes");
    }
  }
  const std::lock_guard lock(mutex_);
  held_ += static_cast<std::int64_t>(out.size);
  peak_ = std::max(peak_, held_);
  return out;
}

// The smallest that fits, unless it would waste as much as it serves.
bool Lane::reused(std::size_t bytes, SP_DeviceMemoryBase* memory) {
  const std::lock_guard lock(mutex_);
  const auto found = unused_.lower_bound(bytes);
  if (found == unused_.end() || found->first > 2 * static_cast<std::uint64_t>(bytes)) return false;
  *memory = found->second;
  unused_.erase(found);
  return true;
}

void Lane::give(const SP_DeviceMemoryBase& memory) noexcept {
  if (memory.opaque == nullptr) return;
  answered(0, [&] {
    const std::lock_guard lock(mutex_);
    held_ -= static_cast<std::int64_t>(memory.size);
    unused_.emplace(memory.size, memory);
    return 0;
  });
}

void Lane::release_unused() noexcept {
  std::multimap<std::uint64_t, SP_DeviceMemoryBase> gone;
  {
    const std::lock_guard lock(mutex_);
    gone.swap(unused_);
  }
  for (auto& [size, memory] : gone) free_block(device_, memory);
}

std::int64_t Lane::peak() {
  const std::lock_guard lock(mutex_);
  return std::exchange(peak_, held_);
}

// ---- work ------------------------------------------------------------------------------------------

void Lane::copy_in(const TF_Tensor& host, TF_Tensor& here) {
  LaneBlock& to = LaneBlock::of(here);
  if (to.length == 0) return;
  execute(device_, "memcpy_htod", &SP_StreamExecutor::memcpy_htod, stream(), &to.base,
          static_cast<const void*>(host.memory->data), static_cast<std::uint64_t>(to.length));
}

void Lane::copy_out(const TF_Tensor& here, TF_Tensor& host) {
  const LaneBlock& from = LaneBlock::of(here);
  const std::uint64_t bytes = bytes_of(here);
  if (bytes == 0) return;
  execute(device_, "memcpy_dtoh", &SP_StreamExecutor::memcpy_dtoh, stream(), host.memory->data,
          &from.base, bytes);
}

void Lane::copy_on(const TF_Tensor& from, TF_Tensor& to) {
  const std::uint64_t bytes = bytes_of(from);
  is_busy_ = true;
  if (bytes != 0) copy_on_device(device_, &stream_, LaneBlock::of(to).base, LaneBlock::of(from).base, bytes);
}

std::unique_ptr<TF_Tensor> Lane::copy_of(const TF_Tensor& host) {
  std::unique_ptr<TF_Tensor> out(allocate(host.dtype, host.dims.data(), host.dims.rank()));
  kept_.emplace_back(share(host));
  copy_in(host, *out);
  return out;
}

void Lane::follow(const TF_Tensor& theirs) {
  kept_.emplace_back(share(theirs));
  const SP_Stream other = LaneBlock::of(theirs).lane->stream_.handle;
  execute(device_, "create_stream_dependency", &SP_StreamExecutor::create_stream_dependency, stream(), other);
}

void Lane::note(const std::string& node, const std::string& op) {
  if (marked_ == kMostMarks) wait();  // of a long loop
  if (marked_ == marks_.size()) {
    Mark fresh;
    execute(device_, "create_event", &SP_StreamExecutor::create_event, &fresh.event);
    marks_.push_back(fresh);
  }
  Mark& mark = marks_[marked_++];
  mark.node = &node;
  mark.op = &op;
  execute(device_, "record_event", &SP_StreamExecutor::record_event, stream_.handle, mark.event);
}

void Lane::wait() {
  if (!is_busy_) return;
  Failure failure(TF_OK, "");
  synchronize(&failure);
  is_busy_ = false;
  kept_.clear();
  if (failure.code != TF_OK) blame(std::move(failure));
  marked_ = 0;
}

void Lane::block() {
  block_for_stream(stream_);
  execute(device_, "get_stream_status", &SP_StreamExecutor::get_stream_status, stream_.handle);
}

// Waits, and asks whether all went well.
void Lane::synchronize(Failure* failure) noexcept {
  try {
    block();
  } catch (Failure& found) {
    *failure = std::move(found);
  } catch (...) {
    failure->code = TF_INTERNAL;
  }
}

// The first node whose event did not come; the devices that stop at a failure do not say which it was.
void Lane::blame(Failure failure) {
  const auto end = marks_.begin() + static_cast<std::ptrdiff_t>(std::exchange(marked_, 0));
  const auto is_done = [&](const Mark& mark) {
    return ask(device_, "get_event_status", &SP_StreamExecutor::get_event_status, mark.event) == SE_EVENT_COMPLETE;
  };
  const auto first = std::find_if_not(marks_.begin(), end, is_done);
  if (first == end) throw failure;
  throw failure_at({.node = *first->node, .op = *first->op, .device = device_.name}, std::move(failure));
}

}  // namespace drystone::host

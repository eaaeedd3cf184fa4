// Streams and their work: see device/lane.h.
#include "device/lane.h"

#include <algorithm>

#include "device/description.h"

namespace drystone::host {

// What `argument` of a tensor's memory on a device points to.
struct LaneBlock {
  std::shared_ptr<Lane> lane;
  Piece piece;
  std::size_t length = 0;
  void (*give_back)(void*, std::size_t, void*) = nullptr;  // of memory that is not the lane's
  void* argument = nullptr;

  static LaneBlock& of(const TF_Tensor& tensor) { return *static_cast<LaneBlock*>(tensor.memory->argument); }
  static void end(void*, std::size_t, void* block) {
    const std::unique_ptr<LaneBlock> own(static_cast<LaneBlock*>(block));
    if (own->give_back != nullptr) own->give_back(own->piece.base.opaque, own->length, own->argument);
    else own->lane->memory_.give(own->piece.base);
  }
};

namespace {

constexpr std::size_t kMostMarks = 4096;
constexpr std::size_t kBatch = 1024;      // tensors that are held together
constexpr std::size_t kMostBatches = 4;   // that wait for the device

std::size_t rounded(std::size_t bytes) {
  return (bytes + LaneMemory::kUnit - 1) / LaneMemory::kUnit * LaneMemory::kUnit;
}

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
  execute(from.lane->device(), "sync_memcpy_dtoh", &SP_StreamExecutor::sync_memcpy_dtoh, out->memory->data,
          &from.piece.base, bytes);
  return out;
}

namespace {

std::uint8_t place_of(DS_Device& device) { return static_cast<std::uint8_t>(std::min(device.sp()->ordinal, 254) + 1); }

}  // namespace

DeviceLoan::DeviceLoan(DS_Device& device) : block_(std::make_unique<LaneBlock>()) {
  block_->lane = std::make_shared<Lane>(device);  // nothing is put on its streams
  execute(device, "synchronize_all_activity", &SP_StreamExecutor::synchronize_all_activity);
}

DeviceLoan::~DeviceLoan() = default;

void DeviceLoan::lend(TF_Tensor& tensor) noexcept {
  Memory& memory = *tensor.memory;
  block_->piece.base.struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  block_->piece.base.opaque = memory.data;
  block_->piece.base.size = memory.length;
  block_->length = memory.length;
  block_->give_back = memory.deallocator;
  block_->argument = memory.argument;
  memory.device = place_of(block_->lane->device());
  memory.deallocator = LaneBlock::end;
  memory.argument = block_.release();
  memory.shared = true;
}

std::unique_ptr<TF_Tensor> copy_there(const TF_Tensor& there) {
  const LaneBlock& from = LaneBlock::of(there);
  from.lane->block();
  const auto lane = std::make_shared<Lane>(from.lane->device());
  std::unique_ptr<TF_Tensor> out(lane->allocate(there.dtype, there.dims.data(), there.dims.rank()));
  lane->copy_on(there, *out);
  lane->wait();
  return out;
}

Lane::Batch::~Batch() {
  for (TF_Tensor* tensor : tensors) drop(tensor);
}

Lane::Lane(DS_Device& device) : device_(device), memory_(device) {
  for (DS_Stream& stream : streams_) stream.device = &device;
  reader_.device = &device;
  on(Way::kernels);
  is_busy_ = {};
}

Lane::~Lane() {
  Failure failure(TF_OK, "");
  synchronize(&failure);
  memory_.release_unused();
  forget_work();
  answered(0, [&] {
    for (const SP_Event event : idle_events_) ask(device_, "destroy_event", &SP_StreamExecutor::destroy_event, event);
    for (const SP_Timer timer : idle_timers_) ask(device_, "destroy_timer", &SP_StreamExecutor::destroy_timer, timer);
    for (const DS_Stream& stream : streams_) {
      if (stream.handle != nullptr) ask(device_, "destroy_stream", &SP_StreamExecutor::destroy_stream, stream.handle);
    }
    if (reader_.handle != nullptr) ask(device_, "destroy_stream", &SP_StreamExecutor::destroy_stream, reader_.handle);
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
  block->piece = take(rounded(bytes));
  auto memory = std::make_unique<Memory>();
  born(Kind::memory);
  memory->dtype = dtype;
  memory->data = block->piece.base.opaque;
  memory->length = bytes;
  memory->deallocator = LaneBlock::end;
  memory->argument = block.release();
  memory->device = place_of(device_);
  auto* const held = memory.release();
  try {
    return new TF_Tensor(dtype, dims, count, held);
  } catch (...) {
    release(held);
    throw;
  }
}

Piece Lane::take(std::size_t bytes) {
  Piece out;
  if (memory_.take(bytes, &out)) return out;
  Failure failure(TF_OK, "");
  bool is_done = false;
  {
    const Lock lock(calls_);
    is_done = synchronize(&failure);  // so that what is unused may go
  }
  if (is_done) memory_.release_unused();
  if (!memory_.take(bytes, &out)) {
    fail(TF_RESOURCE_EXHAUSTED,
         device_.name + " gave no memory for " + std::to_string(bytes) + " bytes" + usage_of(device_), about(device_));
  }
  return out;
}

// ---- work ------------------------------------------------------------------------------------------

SP_Stream Lane::stream() {
  const Lock lock(calls_);
  return on(Way::kernels);
}

SP_Stream Lane::on(Way way) {
  DS_Stream& stream = stream_of(way);
  if (stream.handle == nullptr) execute(device_, "create_stream", &SP_StreamExecutor::create_stream, &stream.handle);
  is_busy_[static_cast<std::size_t>(way)] = true;
  return stream.handle;
}

void Lane::after(Way later, Way earlier) {
  const SP_Stream first = stream_of(earlier).handle;
  execute(device_, "create_stream_dependency", &SP_StreamExecutor::create_stream_dependency, on(later), first);
}

// Memory that was used before may be in use still.
void Lane::copy_in(const TF_Tensor& host, TF_Tensor& here, const Work& of) {
  const Lock lock(calls_);
  LaneBlock& to = LaneBlock::of(here);
  if (to.length == 0) return;
  if (!to.piece.is_new) after(Way::in, Way::kernels);
  const bool was_apart = std::exchange(is_apart_, true);
  start_timer(Way::in);
  execute(device_, "memcpy_htod", &SP_StreamExecutor::memcpy_htod, on(Way::in), &to.piece.base,
          static_cast<const void*>(host.memory->data), static_cast<std::uint64_t>(to.length));
  const SP_Event copied = mark(Way::in, of);
  execute(device_, "wait_for_event", &SP_StreamExecutor::wait_for_event, stream(), copied);
  is_apart_ = was_apart;
}

void Lane::copy_out(const TF_Tensor& here, TF_Tensor& host, const Work& of) {
  const Lock lock(calls_);
  const LaneBlock& from = LaneBlock::of(here);
  const std::uint64_t bytes = bytes_of(here);
  if (bytes == 0) return;
  after(Way::out, Way::kernels);
  start_timer(Way::out);
  execute(device_, "memcpy_dtoh", &SP_StreamExecutor::memcpy_dtoh, on(Way::out), host.memory->data, &from.piece.base,
          bytes);
  mark(Way::out, of);
}

void Lane::copy_on(const TF_Tensor& from, TF_Tensor& to) {
  const Lock lock(calls_);
  const std::uint64_t bytes = bytes_of(from);
  on(Way::kernels);
  if (bytes == 0) return;
  copy_on_device(device_, &stream_of(Way::kernels), LaneBlock::of(to).piece.base, LaneBlock::of(from).piece.base, bytes);
}

std::unique_ptr<TF_Tensor> Lane::copy_of(const TF_Tensor& host) {
  std::unique_ptr<TF_Tensor> out(allocate(host.dtype, host.dims.data(), host.dims.rank()));
  const std::unique_ptr<TF_Tensor, void (*)(TF_Tensor*)> held(share(host), drop);
  keep(held.get());
  copy_in(host, *out, {});
  return out;
}

void Lane::follow(const TF_Tensor& theirs) {
  const std::unique_ptr<TF_Tensor, void (*)(TF_Tensor*)> held(share(theirs), drop);
  keep(held.get());
  Lane& lane = *LaneBlock::of(theirs).lane;
  const std::scoped_lock lock(calls_, lane.calls_);
  const SP_Stream other = lane.stream_of(Way::kernels).handle;
  execute(device_, "create_stream_dependency", &SP_StreamExecutor::create_stream_dependency, stream(), other);
}

void Lane::begin() {
  const Lock lock(calls_);
  start_timer(Way::kernels);
}

void Lane::end(const Work& of) {
  const Lock lock(calls_);
  mark(Way::kernels, of);
}

// One whose work failed to be put on the stream is started again.
void Lane::start_timer(Way way) {
  if (!measures_) return;
  if (started_ == nullptr && !idle_timers_.empty()) {
    started_ = idle_timers_.back();
    idle_timers_.pop_back();
  }
  if (started_ == nullptr) execute(device_, "create_timer", &SP_StreamExecutor::create_timer, &started_);
  execute(device_, "start_timer", &SP_StreamExecutor::start_timer, on(way), started_);
}

void Lane::measure(bool does) { measures_ = does && device_.has_timer; }

// An event that comes when the work is done that has just been put on a stream.
SP_Event Lane::mark(Way way, const Work& of) {
  if (marks_.size() == kMostMarks && !retire_done()) wait();  // of a long loop
  if (idle_events_.empty()) {
    execute(device_, "create_event", &SP_StreamExecutor::create_event, &idle_events_.emplace_back());
  }
  const SP_Event event = idle_events_.back();
  const SP_Stream stream = on(way);
  if (started_ != nullptr) execute(device_, "stop_timer", &SP_StreamExecutor::stop_timer, stream, started_);
  execute(device_, "record_event", &SP_StreamExecutor::record_event, stream, event);
  idle_events_.pop_back();
  marks_.push_back({event, std::exchange(started_, nullptr), of});
  return event;
}

// Its work is done.
void Lane::retire(Mark& mark) {
  idle_events_.push_back(mark.event);
  if (mark.timer == nullptr) return;
  idle_timers_.push_back(mark.timer);
  if (mark.of.node == nullptr) return;
  const std::uint64_t took = in_plugin(device_.name + " nanoseconds", device_.platform.library(),
                                       [&] { return device_.timer->nanoseconds(mark.timer); });
  times_.emplace_back(mark.of.node, took);
}

// Whether some of the first marks' work was done.
bool Lane::retire_done() {
  const auto is_done = [&](const Mark& mark) {
    return ask(device_, "get_event_status", &SP_StreamExecutor::get_event_status, mark.event) == SE_EVENT_COMPLETE;
  };
  const std::size_t before = marks_.size();
  for (; !marks_.empty() && is_done(marks_.front()); marks_.pop_front()) retire(marks_.front());
  return marks_.size() != before;
}

// ---- what work uses --------------------------------------------------------------------------------

// A long loop holds a few batches, and lets go of each when the device has come so far.
void Lane::keep(TF_Tensor* tensor) {
  if (batches_.empty()) batches_.push_back(std::make_unique<Batch>());
  if (batches_.back()->tensors.size() == kBatch) close_batch();
  batches_.back()->tensors.push_back(hold(tensor));
}

void Lane::close_batch() {
  const Lock lock(calls_);
  while (batches_.size() > 1 && batches_.front()->is_done.load(std::memory_order_acquire)) batches_.pop_front();
  if (batches_.size() == kMostBatches) {
    wait();
    batches_.push_back(std::make_unique<Batch>());
    return;
  }
  join();
  const SE_StatusCallbackFn tell = [](void* const batch, TF_Status* const) {
    static_cast<Batch*>(batch)->is_done.store(true, std::memory_order_release);
  };
  void* const batch = batches_.back().get();
  if (!ask(device_, "host_callback", &SP_StreamExecutor::host_callback, stream(), tell, batch)) {
    fail(TF_INTERNAL, device_.name + " host_callback could not enqueue the call", about(device_));
  }
  batches_.push_back(std::make_unique<Batch>());
}

// ---- waiting ---------------------------------------------------------------------------------------

// Has the kernels' stream come after all other work.
void Lane::join() {
  if (is_busy_[static_cast<std::size_t>(Way::out)]) after(Way::kernels, Way::out);
}

void Lane::wait() {
  std::deque<std::unique_ptr<Batch>> done;  // goes without the lock: whose memory it was may be anybody
  const Lock lock(calls_);
  Failure failure(TF_OK, "");
  const bool is_done = synchronize(&failure);
  if (is_done) {
    is_busy_ = {};
    is_apart_ = false;
    done.swap(batches_);
  } else {
    leave();
  }
  if (failure.code != TF_OK) blame(std::move(failure));
  for (Mark& mark : marks_) retire(mark);
  marks_.clear();
}

// The run goes on putting work on its stream meanwhile.
void Lane::block() {
  const std::lock_guard reading(reading_);
  const SP_Stream kernels = stream_of(Way::kernels).handle;
  if (reader_.handle == nullptr) execute(device_, "create_stream", &SP_StreamExecutor::create_stream, &reader_.handle);
  {
    const Lock lock(calls_);
    execute(device_, "create_stream_dependency", &SP_StreamExecutor::create_stream_dependency, reader_.handle, kernels);
  }
  block_for_stream(reader_);
  const Lock lock(calls_);
  execute(device_, "get_stream_status", &SP_StreamExecutor::get_stream_status, kernels);
}

// Whether all that is on the streams is done, be it with a failure. Waits, and asks of each stream whether all
// went well.
bool Lane::synchronize(Failure* failure) noexcept {
  const auto succeeds = [&](auto&& body) {
    try {
      body();
      return true;
    } catch (Failure& found) {
      if (failure->code == TF_OK) *failure = std::move(found);
    } catch (...) {
      if (failure->code == TF_OK) failure->code = TF_INTERNAL;
    }
    return false;
  };
  if (std::ranges::none_of(is_busy_, [](bool is_busy) { return is_busy; })) return true;
  const bool is_done = (!is_apart_ && succeeds([&] { join(); }) &&
                        succeeds([&] { block_for_stream(stream_of(Way::kernels)); })) ||
                       succeeds([&] { block_for_device(device_); });
  for (std::size_t way = 0; way < kWays; ++way) {
    if (!is_busy_[way]) continue;
    succeeds([&] {
      execute(device_, "get_stream_status", &SP_StreamExecutor::get_stream_status, streams_[way].handle);
    });
  }
  return is_done;
}

void Lane::leave() {
  const std::lock_guard lock(device_.left_mutex);
  const std::shared_ptr<Lane> self = shared_from_this();
  if (std::ranges::find(device_.left, self) == device_.left.end()) device_.left.push_back(self);
}

void wait_for_left(DS_Device& device) noexcept {
  std::vector<std::shared_ptr<Lane>> left;
  {
    const std::lock_guard lock(device.left_mutex);
    left.swap(device.left);
  }
  for (const auto& lane : left) {
    answered(0, [&] {
      lane->wait();
      return 0;
    });
  }
}

// Of a lane that is about to go.
void Lane::forget_work() noexcept {
  answered(0, [&] {
    for (const Mark& mark : marks_) {
      idle_events_.push_back(mark.event);
      if (mark.timer != nullptr) idle_timers_.push_back(mark.timer);
    }
    if (started_ != nullptr) idle_timers_.push_back(std::exchange(started_, nullptr));
    marks_.clear();
    return 0;
  });
}

// The first node whose event did not come; the devices that stop at a failure do not say which it was.
void Lane::blame(Failure failure) {
  const auto failed = [&](const Mark& mark) {
    return mark.of.node != nullptr &&
           ask(device_, "get_event_status", &SP_StreamExecutor::get_event_status, mark.event) != SE_EVENT_COMPLETE;
  };
  const auto first = std::ranges::find_if(marks_, failed);
  const Work of = first == marks_.end() ? Work{} : first->of;
  forget_work();
  if (of.node == nullptr) throw failure;
  throw failure_at({.node = *of.node, .op = *of.op, .device = device_.name}, std::move(failure));
}

}  // namespace drystone::host

#include "executable.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>

#include "arena.h"
#include "drystone/threads.h"
#include "edges.h"
#include "fuse.h"

namespace drystone::gpu {
namespace {

std::size_t at(std::int64_t value) { return static_cast<std::size_t>(value); }

constexpr std::int64_t kPart = std::int64_t{1} << 19, kSmall = std::int64_t{1} << 20;

// use(offset, bytes) for the parts of a block, by the host's threads: one copies some 10 GB/s, less
// than what the bus to a GPU takes.
template <class Use>
void in_parts(std::size_t bytes, const Use& use) {
  struct Shared {
    const Use& use;
    std::exception_ptr failure;
    std::mutex lock;
  } shared{use, nullptr, {}};
  const auto body = [](void* argument, std::int64_t begin, std::int64_t end) {
    auto& held = *static_cast<Shared*>(argument);
    try {
      held.use(at(begin), at(end - begin));
    } catch (...) {
      const std::lock_guard<std::mutex> guard(held.lock);
      held.failure = std::current_exception();
    }
  };
  DS_ParallelForGrain(static_cast<std::int64_t>(bytes), kPart, body, &shared);
  if (shared.failure) std::rethrow_exception(shared.failure);
}

}  // namespace

Executable::Executable(const DS_SubgraphRegion& region)
    : built_(build(region)), stream_(open_stream()), layers_(*stream_) {
  stream_->enter();
  narrow_edges(built_);
  fuse(built_.graph, built_.results);
  memory_.assign(built_.graph.values.size(), nullptr);
  wrong_ = static_cast<std::uint32_t*>(stream_->allocate(sizeof *wrong_));
  wrong_seen_ = static_cast<std::uint32_t*>(stream_->allocate_pinned(sizeof *wrong_seen_));
  stream_->clear(wrong_, sizeof *wrong_);
  place_inputs();
  place_invariant(region);
  const Arena plan(built_.graph, built_.results);
  auto* arena = static_cast<std::byte*>(stream_->allocate(plan.size()));
  for (const auto& [value, offset] : plan.offsets()) memory_[at(value)] = arena + offset;
  for (std::size_t v = 0; v < memory_.size(); ++v) {
    memory_[v] = memory_[at(built_.graph.root(static_cast<int>(v)))];
  }
  bind_all();
  place_results();
  prepare();
  stream_->record([this] {
    stream_->clear(wrong_, sizeof *wrong_);
    for (const Port& port : in_) {
      if (is_recorded(port)) send(port, 0, port.bytes);
    }
    for (const Work& work : running_) work();
    for (const Port& port : out_) stream_->copy_out(port.staging, port.device, port.bytes);
    stream_->copy_out(wrong_seen_, wrong_, sizeof *wrong_);
  });
}

std::size_t Executable::bytes_of(int value) const {
  const Value& of = built_.graph.at(value);
  return static_cast<std::size_t>(count_of(of.dims)) * size_of(of.type);
}

// Inputs that come with each run, if anything reads them.
void Executable::place_inputs() {
  std::vector<bool> read(memory_.size(), false);
  for (const Operation& op : built_.graph.operations) {
    for (int v : op.in) read[at(built_.graph.root(v))] = true;
  }
  for (int v : built_.inputs) {
    if (built_.graph.at(v).invariant || !read[at(v)] || is_placed(v)) continue;
    const std::size_t bytes = bytes_of(v);
    memory_[at(v)] = stream_->allocate(bytes);
    auto* staging = static_cast<std::byte*>(stream_->allocate_pinned(bytes));
    const bool narrowed = built_.graph.at(v).outside != Type::none;
    in_.push_back({built_.graph.at(v).input, staging, memory_[at(v)], bytes, narrowed});
  }
}

// Constants, weights, and what follows from them.
void Executable::place_invariant(const DS_SubgraphRegion& region) {
  std::vector<bool> wanted(memory_.size(), false);
  for (const Operation& op : built_.graph.operations) {
    for (int v : op.in) wanted[at(built_.graph.root(v))] = true;
    wanted[at(op.out)] = true;
  }
  for (std::size_t k = 0; k < memory_.size(); ++k) {
    const int v = static_cast<int>(k);
    const Value& value = built_.graph.at(v);
    if (!value.invariant || value.root >= 0 || !wanted[k]) continue;
    memory_[k] = stream_->allocate(bytes_of(v));
    if (value.known != nullptr) {
      upload(v, value.known->data());
    } else if (value.input >= 0) {
      upload(v, TF_TensorData(region.inputs[value.input]->value));
    }
  }
}

void Executable::upload(int value, const void* data) {
  stream_->copy_in(memory_[at(value)], data, bytes_of(value));
  stream_->wait();
}

void Executable::bind_all() {
  std::vector<Work> packing;  // of filters, after these have been computed
  for (const Operation& op : built_.graph.operations) {
    Work pack;
    Work work = work_of(built_.graph, op, *stream_, layers_, memory_, {wrong_, 1}, &pack);
    if (pack) packing.push_back(std::move(pack));
    (built_.graph.at(op.out).invariant ? preparing_ : running_).push_back(std::move(work));
  }
  for (Work& pack : packing) preparing_.push_back(std::move(pack));
}

void Executable::place_results() {
  for (std::size_t k = 0; k < built_.results.size(); ++k) {
    const int v = built_.results[k], root = built_.graph.root(v);
    const Value& value = built_.graph.at(root);
    if (value.known != nullptr || value.input >= 0) continue;
    const std::size_t bytes = bytes_of(v);
    auto* staging = static_cast<std::byte*>(stream_->allocate_pinned(bytes));
    const bool narrowed = built_.graph.at(v).outside != Type::none;
    out_.push_back({static_cast<int>(k), staging, memory_[at(root)], bytes, narrowed});
  }
}

void Executable::prepare() {
  for (const Work& work : preparing_) work();
  stream_->wait();
}

void Executable::run(TF_Tensor* const* inputs, TF_Tensor** outputs) {
  stream_->enter();
  for (const Port& port : in_) {
    bring(port, inputs[port.number]);
  }
  stream_->replay();
  stream_->wait();
  if (*wrong_seen_ != 0) throw Refused("an index out of range");
  for (std::size_t k = 0; k < built_.results.size(); ++k) outputs[k] = output(k, inputs);
}

void Executable::bring(const Port& port, const TF_Tensor* tensor) {
  const auto* from = static_cast<const std::byte*>(TF_TensorData(tensor));
  in_parts(port.bytes, [&](std::size_t offset, std::size_t bytes) {
    std::byte* to = port.staging + offset;
    if (port.narrowed) {
      narrow(reinterpret_cast<const float*>(from + 2 * offset), reinterpret_cast<std::uint16_t*>(to),
             bytes / 2);
    } else {
      std::memcpy(to, from + offset, bytes);
    }
    if (!is_recorded(port)) send(port, offset, bytes);
  });
}

// Large inputs are on their way while the rest of them is brought into pinned memory; small ones
// are part of the recorded work.
bool Executable::is_recorded(const Port& port) { return port.bytes <= at(kSmall); }

void Executable::send(const Port& port, std::size_t offset, std::size_t bytes) {
  stream_->enter();
  stream_->copy_in(static_cast<std::byte*>(port.device) + offset, port.staging + offset, bytes);
}

TF_Tensor* Executable::output(std::size_t k, TF_Tensor* const* inputs) const {
  const int v = built_.results[k];
  const Value &value = built_.graph.at(v), &root = built_.graph.at(built_.graph.root(v));
  const bool widens = value.outside != Type::none;
  const Type type = widens ? value.outside : value.type;
  const std::size_t bytes = bytes_of(v);
  TF_Tensor* made =
      TF_AllocateTensor(dtype_of(type), value.dims.data(), static_cast<int>(value.dims.size()),
                        static_cast<std::size_t>(count_of(value.dims)) * size_of(type));
  if (made == nullptr) throw std::bad_alloc();
  const void* from = nullptr;
  if (root.input >= 0) {
    from = TF_TensorData(inputs[root.input]);
  } else if (root.known != nullptr) {
    from = root.known->data();
  } else {
    const auto port = std::find_if(out_.begin(), out_.end(), [k](const Port& one) {
      return one.number == static_cast<int>(k);
    });
    from = port->staging;
  }
  auto* target = static_cast<std::byte*>(TF_TensorData(made));
  const auto* source = static_cast<const std::byte*>(from);
  in_parts(bytes, [&](std::size_t offset, std::size_t part) {
    if (widens) {
      widen(reinterpret_cast<const std::uint16_t*>(source + offset),
            reinterpret_cast<float*>(target + 2 * offset), part / 2);
    } else {
      std::memcpy(target + offset, source + offset, part);
    }
  });
  return made;
}

void Executable::update(TF_Tensor* const* inputs, const unsigned char* changed) {
  stream_->enter();
  for (int v : built_.inputs) {
    const Value& value = built_.graph.at(v);
    if (changed[value.input] == 0 || !value.invariant || !is_placed(v)) continue;
    upload(v, TF_TensorData(inputs[value.input]));
  }
  prepare();
}

}  // namespace drystone::gpu

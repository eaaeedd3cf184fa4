#include "node.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "arena.h"
#include "drystone/sdk/guard.hpp"
#include "fuse.h"

// Of a host that has no views.
#pragma weak DS_ViewVariable

namespace drystone::gpu {
namespace {

constexpr std::size_t kKept = 64;  // sets of shapes
constexpr std::size_t kUnit = 256;

std::size_t at(std::int64_t value) { return static_cast<std::size_t>(value); }

std::size_t bytes_of(const Value& value) {
  return at(count_of(value.dims)) * size_of(value.type);
}

Dims dims_of(const TF_Tensor* tensor) {
  Dims dims;
  for (int d = 0; d < TF_NumDims(tensor); ++d) dims.push_back(TF_Dim(tensor, d));
  return dims;
}

// A stream for one call: memory is the call's.
class CallStream final : public Stream {
 public:
  explicit CallStream(NodeCall& call) : call_(call), own_(*call.stream()->stream) {}

  bool is_host() const override { return own_.is_host(); }
  void* native() const override { return own_.native(); }
  void* allocate(std::size_t bytes) override { return call_.temporary(bytes); }
  void* allocate_pinned(std::size_t bytes) override { return own_.allocate_pinned(bytes); }
  void copy_in(void* to, const void* from, std::size_t bytes) override {
    own_.copy_in(to, from, bytes);
  }
  void copy_out(void* to, const void* from, std::size_t bytes) override {
    own_.copy_out(to, from, bytes);
  }
  void clear(void* place, std::size_t bytes) override { own_.clear(place, bytes); }
  void wait() override { own_.wait(); }
  void record(const std::function<void()>& enqueue) override { own_.record(enqueue); }
  void replay() override { own_.replay(); }
  double time(const std::function<void()>& enqueue) override { return own_.time(enqueue); }
  void enter() override { own_.enter(); }
  void copy_within(void* to, const void* from, std::size_t bytes) override {
    own_.copy_within(to, from, bytes);
  }
  void fill(void* place, std::uint8_t byte, std::size_t bytes) override {
    own_.fill(place, byte, bytes);
  }
  void fill32(void* place, std::uint32_t pattern, std::size_t bytes) override {
    own_.fill32(place, pattern, bytes);
  }
  void mark(Event& event) override { own_.mark(event); }
  void wait_for(const Event& event) override { own_.wait_for(event); }
  void call(void (*function)(void*), void* argument) override { own_.call(function, argument); }

 private:
  NodeCall& call_;
  Stream& own_;
};

}  // namespace

// ---- one call --------------------------------------------------------------------------------

NodeCall::NodeCall(TF_OpKernelContext* context) : context_(context) {
  sdk::Status status;
  stream_ = TF_GetStream(context, status.get());
  check(status);
}

void NodeCall::take(int input) {
  sdk::Status status;
  TF_Tensor* tensor = nullptr;
  TF_GetInput(context_, input, &tensor, status.get());
  sdk::Tensor owner(tensor);
  check(status);
  const bool is_on_host = TF_IsHostMemoryInput(context_, input, status.get());
  check(status);
  take(std::move(owner), is_on_host);
}

void NodeCall::take(sdk::Tensor tensor, bool is_on_host) {
  const TF_Tensor* const held = tensor.get();
  inputs_.push_back(
      {std::move(tensor), is_on_host, TF_TensorType(held), dims_of(held), TF_TensorData(held)});
}

void NodeCall::take_variable(int input) {
  DS_View view = DS_VIEW_INIT;
  if (DS_ViewVariable(context_, input, &view) == 0) throw AlreadyFailed();
  inputs_.push_back({sdk::Tensor(), false, view.dtype, Dims(view.dims, view.dims + view.rank), view.data});
}

void* NodeCall::temporary(std::size_t bytes) {
  sdk::Status status;
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(bytes, 1));
  temporaries_.emplace_back(
      TF_AllocateTemp(context_, TF_UINT8, &count, 1, nullptr, status.get()));
  check(status);
  return TF_TensorData(temporaries_.back().get());
}

void* allocate(const NodeCall& call, int output, Type type, const Dims& dims, sdk::Tensor* made) {
  sdk::Status status;
  const std::size_t bytes = at(count_of(dims)) * size_of(type);
  *made = sdk::Tensor(TF_AllocateOutput(call.get(), output, dtype_of(type), dims.data(),
                                        static_cast<int>(dims.size()), bytes, status.get()));
  check(status);
  return TF_TensorData(made->get());
}

sdk::Tensor reshaped(const TF_Tensor* from, const Dims& dims) {
  const std::int64_t none = 0;
  sdk::Status status;
  sdk::Tensor made(TF_AllocateTensor(TF_TensorType(from), &none, 1, 0));
  TF_TensorBitcastFrom(from, TF_TensorType(from), made.get(), dims.data(),
                       static_cast<int>(dims.size()), status.get());
  check(status);
  return made;
}

// ---- what is compiled ------------------------------------------------------------------------

Node::Key Node::key_of(const NodeCall& call) {
  Key key;
  for (std::size_t k = 0; k < call.count(); ++k) {
    const Dims& dims = call.dims(k);
    key.insert(key.end(), {call.dtype(k), static_cast<std::int64_t>(dims.size())});
    key.insert(key.end(), dims.begin(), dims.end());
    if (!call.is_on_host(k)) continue;
    const std::size_t bytes = TF_TensorByteSize(call.input(k)), first = key.size();
    key.resize(first + (bytes + sizeof(std::int64_t) - 1) / sizeof(std::int64_t));
    if (bytes != 0) std::memcpy(&key[first], call.data(k), bytes);
  }
  return key;
}

std::shared_ptr<const Compiled> Node::compiled(const NodeCall& call, std::size_t outputs) {
  const Key key = key_of(call);
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    const auto found = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const Entry& entry) { return entry.key == key; });
    if (found != kept_.end()) {
      kept_.splice(kept_.begin(), kept_, found);
      return kept_.front().made;
    }
  }
  std::shared_ptr<const Compiled> made = build(call, outputs);
  const std::lock_guard<std::mutex> guard(mutex_);
  kept_.push_front({key, made});
  if (kept_.size() > kKept) kept_.pop_back();
  return made;
}

std::shared_ptr<const Compiled> Node::build(const NodeCall& call, std::size_t outputs) const {
  auto made = std::make_shared<Compiled>();
  Graph& graph = made->graph;
  for (std::size_t k = 0; k < call.count(); ++k) {
    const Type type = type_of(call.dtype(k));
    if (type == Type::none) throw Refused("an input of a type that no kernel has");
    made->inputs.push_back(call.is_on_host(k) ? graph.add_constant(type, call.dims(k), call.data(k))
                                              : graph.add_value(type, call.dims(k)));
    graph.values.back().input = static_cast<int>(k);
  }
  const sdk::NodeView view(def_);
  Building building(graph, view, made->inputs, outputs);
  rule_.lower(building);
  made->results = building.out;
  for (Value& value : graph.values) value.invariant = false;  // nothing lasts from call to call
  fuse(graph, made->results);
  std::set<int> elsewhere, read;
  for (int v : made->results) elsewhere.insert(graph.root(v));
  for (const Operation& op : graph.operations) {
    for (int v : op.in) {
      if (graph.at(graph.root(v)).known != nullptr) read.insert(graph.root(v));
    }
  }
  const Arena plan(graph, made->results, elsewhere);
  made->offsets = plan.offsets();
  made->scratch = plan.size();
  for (int v : read) {
    made->constants.push_back(v);
    made->offsets[v] = made->scratch;
    made->scratch += (bytes_of(graph.at(v)) + kUnit) / kUnit * kUnit;
  }
  return made;
}

// ---- work ------------------------------------------------------------------------------------

void put(NodeCall& call, const Compiled& compiled, const std::vector<void*>& results) {
  const Graph& graph = compiled.graph;
  std::vector<void*> memory(graph.values.size(), nullptr);
  for (std::size_t k = 0; k < compiled.inputs.size(); ++k) {
    if (call.is_on_host(k)) continue;
    memory[at(compiled.inputs[k])] = call.data(k);
  }
  auto* const scratch =
      compiled.scratch == 0 ? nullptr : static_cast<std::byte*>(call.temporary(compiled.scratch));
  for (const auto& [value, offset] : compiled.offsets) memory[at(value)] = scratch + offset;
  for (std::size_t k = 0; k < results.size(); ++k) {
    const int root = graph.root(compiled.results[k]);
    if (results[k] != nullptr) memory[at(root)] = results[k];
  }
  for (std::size_t v = 0; v < memory.size(); ++v) {
    memory[v] = memory[at(graph.root(static_cast<int>(v)))];
  }
  SP_Stream stream = call.stream();
  const std::lock_guard<std::mutex> guard(stream->mutex);
  stream->stream->enter();
  CallStream own(call);
  Layers layers(own, stream->layers);
  for (int v : compiled.constants) {
    own.copy_in(memory[at(v)], graph.at(v).known->data(), bytes_of(graph.at(v)));
  }
  const Alarm alarm = stream->next_alarm();
  for (const Operation& op : graph.operations) {
    work_of(graph, op, own, layers, memory, alarm, nullptr)();
  }
}

// ---- registration ----------------------------------------------------------------------------

std::string def_of(TF_OpKernelConstruction* construction) {
  sdk::Status status;
  TF_Buffer* bytes = TF_OpKernelConstruction_GetNodeDef(construction, status.get());
  check(status);
  std::string def(static_cast<const char*>(bytes->data), bytes->length);
  TF_DeleteBuffer(bytes);
  return def;
}

void add_kernel(const Registered& kernel) {
  sdk::Status status;
  TF_KernelBuilder* builder =
      TF_NewKernelBuilder(kernel.op, "GPU", kernel.create, kernel.compute, kernel.destroy);
  sdk::Error error;
  for (const auto& [attr, type] : kernel.constraints) {
    TF_KernelBuilder_TypeConstraint(builder, attr.c_str(), type, status.get());
    if (error.ok()) error = status.take();
  }
  for (const std::string& argument : kernel.on_host) {
    TF_KernelBuilder_HostMemory(builder, argument.c_str());
  }
  if (error.ok()) {
    TF_RegisterKernelBuilder(kernel.op, builder, status.get());
    error = status.take();
  } else {
    TF_DeleteKernelBuilder(builder);
  }
  if (!error.ok()) TF_Log(TF_ERROR, "%s: %s", kernel.op, error.message().c_str());
}

}  // namespace drystone::gpu

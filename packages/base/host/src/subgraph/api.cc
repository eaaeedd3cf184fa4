// The embedder's side of operators: see drystone_host/subgraph.h.
#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "core/failure.h"
#include "subgraph/operator.h"

namespace drystone::host::subgraph {
namespace {

struct Operators {
  std::mutex mutex;
  std::int64_t last = 0;
  std::map<std::int64_t, OperatorPtr> all;
};

Operators& operators() {
  static auto* only = new Operators();
  return *only;
}

OperatorPtr required(std::int64_t number) {
  OperatorPtr found = find_operator(number);
  if (found == nullptr) fail(TF_NOT_FOUND, "there is no operator " + std::to_string(number));
  return found;
}

// Ranks, each followed by its dimensions.
Shapes parse(const std::int64_t* shapes, std::size_t count, std::int32_t inputs) {
  Shapes out;
  std::size_t k = 0;
  while (k < count) {
    const std::int64_t rank = shapes[k++];
    if (rank < 0 || static_cast<std::size_t>(rank) > count - k) break;
    out.emplace_back(shapes + k, shapes + k + rank);
    k += static_cast<std::size_t>(rank);
  }
  if (k != count || out.size() != static_cast<std::size_t>(inputs)) {
    fail(TF_INVALID_ARGUMENT, "there must be one shape for each input");
  }
  return out;
}

// The same of outputs, of which not all is known.
std::vector<Expected> parse_expected(const std::int64_t* shapes, std::size_t count, std::size_t outputs) {
  std::vector<Expected> out;
  std::size_t k = 0;
  while (k < count) {
    const std::int64_t rank = shapes[k++];
    const std::size_t dims = rank < 0 ? 0 : static_cast<std::size_t>(rank);
    if (dims > count - k) break;
    out.push_back({rank, {shapes + k, shapes + k + dims}});
    k += dims;
  }
  if (k != count || out.size() != outputs) {
    fail(TF_INVALID_ARGUMENT, "there must be one shape for each output");
  }
  return out;
}

// Destroys an executable that could not be added.
struct Taken {
  const Operator& owner;
  void* handle;
  ~Taken() { owner.backend().destroy(handle); }
};

}  // namespace

OperatorPtr find_operator(std::int64_t number) {
  Operators& known = operators();
  const std::lock_guard lock(known.mutex);
  const auto found = known.all.find(number);
  return found == known.all.end() ? nullptr : found->second;
}

}  // namespace drystone::host::subgraph

using namespace drystone::host;
using namespace drystone::host::subgraph;

extern "C" {

int64_t DS_NewOperator(const DS_SubgraphBackend* backend, const DS_SubgraphFns* fns,
                       int32_t num_inputs, const int32_t* weights, int32_t num_weights,
                       const TF_DataType* output_types, int32_t num_outputs, TF_Status* status) {
  int64_t out = -1;
  guarded(status, __func__, [&] {
    require(backend, "backend");
    require(fns, "fns");
    if (num_weights > 0) require(weights, "weights");
    if (num_outputs > 0) require(output_types, "output_types");
    std::vector<std::int32_t> places(weights, weights + std::max(num_weights, 0));
    for (const std::int32_t place : places) {
      if (place < 0 || place >= num_inputs) fail(TF_INVALID_ARGUMENT, "a weight is no input");
    }
    auto made = std::make_shared<Operator>(
        Backend{backend, fns}, num_inputs, std::move(places),
        std::vector<TF_DataType>(output_types, output_types + std::max(num_outputs, 0)));
    Operators& known = operators();
    const std::lock_guard lock(known.mutex);
    known.all.emplace(++known.last, std::move(made));
    out = known.last;
  });
  return out;
}

void DS_DeleteOperator(int64_t number) {
  Operators& known = operators();
  OperatorPtr gone;  // outlives the lock: destructors are the plugin's
  {
    const std::lock_guard lock(known.mutex);
    const auto found = known.all.find(number);
    if (found == known.all.end()) return;
    gone = std::move(found->second);
    known.all.erase(found);
  }
  gone->clear();
}

int64_t DS_AddExecutable(int64_t number, void* executable, const int64_t* shapes, size_t num_shapes,
                         const int64_t* versions, TF_Status* status) {
  int64_t out = -1;
  guarded(status, __func__, [&] {
    require(executable, "executable");
    const OperatorPtr owner = required(number);
    Taken taken{*owner, executable};
    if (num_shapes != 0) require(shapes, "shapes");
    if (owner->num_weights() != 0) require(versions, "versions");
    Shapes known = parse(shapes, num_shapes, owner->num_inputs());
    std::vector<std::int64_t> packed(versions, versions + owner->num_weights());
    taken.handle = nullptr;
    out = owner->add(executable, std::move(known), std::move(packed));
  });
  return out;
}

void DS_ExpectShapes(int64_t number, int64_t executable, const int64_t* shapes, size_t num_shapes,
                     TF_Status* status) {
  guarded(status, __func__, [&] {
    if (num_shapes != 0) require(shapes, "shapes");
    const OperatorPtr owner = required(number);
    const std::shared_ptr<Executable> found = owner->find(executable);
    if (found == nullptr) fail(TF_NOT_FOUND, "there is no executable " + std::to_string(executable));
    found->expect(parse_expected(shapes, num_shapes, owner->num_outputs()));
  });
}

void DS_RemoveExecutable(int64_t number, int64_t executable) {
  if (const OperatorPtr owner = find_operator(number)) owner->remove(executable);
}

TF_Bool DS_RunOperator(int64_t number, TF_Tensor* const* inputs, int32_t num_inputs,
                       TF_Tensor** outputs, int32_t num_outputs) {
  return answered<TF_Bool>(0, [&]() -> TF_Bool {
    const OperatorPtr owner = find_operator(number);
    return owner != nullptr && owner->compute(inputs, num_inputs, outputs, num_outputs) ? 1 : 0;
  });
}

void DS_DescribeExecutable(int64_t number, int64_t executable, DS_ExecutableState* state,
                           TF_Status* status) {
  std::shared_ptr<Executable> found;
  DS_ExecutableState known{};
  guarded(status, __func__, [&] {
    require(state, "state");
    found = required(number)->find(executable);
    if (found == nullptr) fail(TF_NOT_FOUND, "there is no executable " + std::to_string(executable));
  });
  if (found != nullptr) found->describe(&known, status);
  if (state == nullptr || state->struct_size < sizeof(std::size_t)) return;
  known.struct_size = std::min(state->struct_size, sizeof known);
  std::memcpy(state, &known, known.struct_size);
}

}  // extern "C"

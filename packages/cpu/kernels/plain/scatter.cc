// Elements written or accumulated by index, into tensors and variables. Where an index repeats,
// accumulation sees every update; of replacements the last one stays.
#include <algorithm>
#include <cstring>

#include "core/family.h"
#include "drystone/kernels_experimental.h"
#include "plain/combine.h"

namespace drystone::cpu {
namespace {

using enum Operation;

// Applies row k of the updates to the row of each number; -1 is passed over.
template <class Number>
void apply(Combine combine, char* out, const Number* rows, std::int64_t count, const char* updates,
           std::int64_t inner, std::int64_t size, bool is_scalar) {
  for (std::int64_t k = 0; k < count; ++k) {
    if (rows[k] < 0) continue;
    const std::int64_t at = static_cast<std::int64_t>(rows[k]) * inner * size;
    combine(out + at, is_scalar ? updates : updates + k * inner * size, inner, is_scalar ? 0 : 1);
  }
}

// Rows of a variable.
void scatter_rows(Call& call, Operation operation, bool is_reference) {
  const Tensor indices = call.input(1);
  const Tensor updates = call.input(2);
  const Tensor held = call.variable(0);
  require(held.rank() >= 1, "the variable must not be a scalar");
  Dims wanted(indices.dims().begin(), indices.dims().end());
  wanted.insert(wanted.end(), held.dims().begin() + 1, held.dims().end());
  if (updates.rank() != 0 &&
      !std::equal(wanted.begin(), wanted.end(), updates.dims().begin(), updates.dims().end())) {
    fail(TF_INVALID_ARGUMENT,
         "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got " +
             text(updates.dims()) + ", needed " + text(wanted));
  }
  require(updates.dtype() == held.dtype(), "the updates must have the dtype of the variable");
  check_below(indices, held.dim(0));
  require(!divides_by_zero(operation, updates, !is_reference), "updates must not contain 0");
  const Combine combine = combine_of(operation, held.dtype());
  require(combine != nullptr, "the dtype cannot be accumulated");
  if (indices.count() == 0 || held.count() == 0) return;
  const Tensor out = call.change_variable(0);
  const std::int64_t inner = out.count() / out.dim(0);
  with_index(indices.dtype(), [&](auto type) {
    apply(combine, out.write<char>(), indices.as<decltype(type)>(), indices.count(),
          updates.as<char>(), inner, static_cast<std::int64_t>(element_size(out.dtype())),
          updates.rank() == 0);
  });
}

template <Operation kOperation, bool kIsReference>
void scatter(Call& call) {
  scatter_rows(call, kOperation, kIsReference);
  if constexpr (kIsReference) TF_OpKernelContext_ForwardRefInputToRefOutput(call.context(), 0, 0);
}

// Where updates at index vectors go.
struct Places {
  const std::int64_t* rows;
  std::int64_t count;
  std::int64_t inner;
};

Places places_of(const Call& call, DimsView dims, const Tensor& indices, const Tensor& updates,
                 bool ignores) {
  require(indices.rank() >= 2 && (indices.count() > 0 || updates.count() == 0),
          "indices must hold at least one index vector, in rank 2 or more");
  const std::int64_t depth = indices.dim(indices.rank() - 1);
  require(product(dims) > 0 || (indices.count() == 0 && updates.count() == 0),
          "Indices and updates specified for empty output shape");
  require(depth <= static_cast<std::int64_t>(dims.size()),
          "an index must not be longer than the rank of the tensor");
  const auto cut = static_cast<std::size_t>(depth);
  Dims wanted(indices.dims().begin(), indices.dims().end() - 1);
  wanted.insert(wanted.end(), dims.begin() + static_cast<std::ptrdiff_t>(cut), dims.end());
  if (!std::equal(wanted.begin(), wanted.end(), updates.dims().begin(), updates.dims().end())) {
    fail(TF_INVALID_ARGUMENT,
         "Must have updates.shape = indices.shape[:-1] + shape[index_depth:], got updates of " +
             text(updates.dims()) + ", needed " + text(wanted));
  }
  const std::int64_t* rows = row_numbers(call, indices, dims.subspan(0, cut), ignores);
  return {rows, span_of(indices.dims(), 0, indices.rank() - 1), product(dims.subspan(cut))};
}

void apply(Operation operation, const Tensor& out, const Places& places, const Tensor& updates) {
  const Combine combine = combine_of(operation, out.dtype());
  require(combine != nullptr && updates.dtype() == out.dtype(), "the dtype cannot be accumulated");
  if (out.count() == 0) return;
  apply(combine, out.write<char>(), places.rows, places.count, updates.as<char>(), places.inner,
        static_cast<std::int64_t>(element_size(out.dtype())), false);
}

bool ignores_bad_indices(const Node& node) {
  return node.has("bad_indices_policy") && node.string("bad_indices_policy") == "IGNORE";
}

class ScatterNd {
 public:
  explicit ScatterNd(const Node& node) : ignores_(ignores_bad_indices(node)) {}
  void compute(Call& call) const {
    const Tensor updates = call.input(1);
    const Dims dims = int_vector(call.input(2), "shape");
    check_dims(dims);
    const Tensor y = call.output(0, dims);
    const Places places = places_of(call, dims, call.input(0), updates, ignores_);
    std::memset(y.write<char>(), 0, static_cast<std::size_t>(y.count()) * element_size(y.dtype()));
    apply(kAdd, y, places, updates);
  }

 private:
  bool ignores_;
};

template <Operation kOperation>
class TensorScatter {
 public:
  explicit TensorScatter(const Node& node) : ignores_(ignores_bad_indices(node)) {}
  void compute(Call& call) const {
    const Tensor x = call.input(0);
    const Tensor updates = call.input(2);
    const Places places = places_of(call, x.dims(), call.input(1), updates, ignores_);
    const Tensor y = call.output(0, x.dims(), 0);
    if (y.data() != x.data()) {
      copy_bytes(y.write<char>(), x.data(),
                 x.count() * static_cast<std::int64_t>(element_size(x.dtype())));
    }
    apply(kOperation, y, places, updates);
  }

 private:
  bool ignores_;
};

template <Operation kOperation, bool kIsReference>
class VariableScatterNd {
 public:
  explicit VariableScatterNd(const Node& node) : ignores_(ignores_bad_indices(node)) {}
  void compute(Call& call) const {
    const Tensor updates = call.input(2);
    const Tensor held = call.variable(0);
    const Places places = places_of(call, held.dims(), call.input(1), updates, ignores_);
    apply(kOperation, call.change_variable(0), places, updates);
    if constexpr (kIsReference) TF_OpKernelContext_ForwardRefInputToRefOutput(call.context(), 0, 0);
  }

 private:
  bool ignores_;
};

template <Operation kOperation>
void add_rows(const std::string& name) {
  const std::vector<TF_DataType> types = types_of(kOperation);
  add<scatter<kOperation, true>>(("Scatter" + name).c_str(), {{"T", types}});
  add<scatter<kOperation, false>>(("ResourceScatter" + name).c_str(), {{"dtype", types}});
}

template <Operation kOperation>
void add_places(const std::string& name) {
  const std::vector<TF_DataType> types = types_of(kOperation);
  add<TensorScatter<kOperation>>(("TensorScatter" + name).c_str(), {{"T", types}});
  add<VariableScatterNd<kOperation, true>>(("ScatterNd" + name).c_str(), {{"T", types}});
  add<VariableScatterNd<kOperation, false>>(("ResourceScatterNd" + name).c_str(), {{"T", types}});
}

}  // namespace

const Family registered([] {
  add_rows<kUpdate>("Update");
  add_rows<kAdd>("Add");
  add_rows<kSub>("Sub");
  add_rows<kMul>("Mul");
  add_rows<kDiv>("Div");
  add_rows<kLesser>("Min");
  add_rows<kGreater>("Max");
  add_places<kUpdate>("Update");
  add_places<kAdd>("Add");
  add_places<kSub>("Sub");
  add_places<kLesser>("Min");
  add_places<kGreater>("Max");
  const std::vector<TF_DataType> numbers = types_of(kAdd);
  add<ScatterNd>("ScatterNd", {{"T", numbers}});
  add<TensorScatter<kAdd>>("ScatterNdNonAliasingAdd", {{"T", numbers}});
});

}  // namespace drystone::cpu

// Elements read by index.
#include <cstring>

#include "core/family.h"
#include "core/moving_text.h"
#include "core/stored.h"
#include "plain/combine.h"

namespace drystone::cpu {
namespace {

// How slices are picked: out[batch][outer][place] = params[batch][outer][index[batch][place]].
struct Picking {
  std::int64_t batch;
  std::int64_t outer;
  std::int64_t size;    // of the indexed dim
  std::int64_t places;  // indices of a batch entry
  std::int64_t bytes;   // of a slice
};

template <class Index, class Copy>
void pick_rows(const Picking& p, const Index* at, Copy&& copy) {
  parallel(p.batch * p.outer * p.places, 4 + p.bytes / 8,
           [&](std::int64_t begin, std::int64_t end) {
             std::int64_t block = begin / p.places;
             std::int64_t place = begin % p.places;
             while (begin < end) {
               const Index* row = at + block / p.outer * p.places;
               const std::int64_t last = std::min(p.places, place + end - begin);
               for (std::int64_t k = place; k < last; ++k, ++begin) {
                 copy(begin, block * p.size + static_cast<std::int64_t>(row[k]));
               }
               place = 0;
               ++block;
             }
           });
}

void pick(const Picking& p, const Tensor& indices, char* out, const char* in) {
  with_index(indices.dtype(), [&](auto type) {
    const auto* at = indices.as<decltype(type)>();
    if (p.bytes == 1 || p.bytes == 2 || p.bytes == 4 || p.bytes == 8 || p.bytes == 16) {
      return with_bits(static_cast<std::size_t>(p.bytes), [&](auto bits) {
        using E = decltype(bits);
        auto* to = reinterpret_cast<E*>(out);
        const auto* from = reinterpret_cast<const E*>(in);
        pick_rows(p, at, [=](std::int64_t k, std::int64_t row) { to[k] = from[row]; });
      });
    }
    pick_rows(p, at, [=, bytes = p.bytes](std::int64_t k, std::int64_t row) {
      std::memcpy(out + k * bytes, in + row * bytes, static_cast<std::size_t>(bytes));
    });
  });
}

// Slices of a table that is in a file, which are copied from there: the others take no memory. Small
// ones would cost more to ask the system for than to keep.
constexpr std::int64_t kWorthReading = 1024;  // bytes

void pick_stored(const Call& call, const Picking& p, const Tensor& indices, char* out) {
  with_index(indices.dtype(), [&](auto type) {
    pick_rows(p, indices.as<decltype(type)>(), [&](std::int64_t k, std::int64_t row) {
      read_input(call, 0, row * p.bytes, p.bytes, out + k * p.bytes);
    });
  });
}

void gather(const Call& call, const Tensor& params, const Tensor& indices, std::int64_t given_axis,
            std::int64_t batch_dims) {
  const int rank = indices.rank();
  require(-rank <= batch_dims && batch_dims <= rank,
          "batch_dims must not exceed the rank of indices");
  const int axis = wrap_axis(given_axis, params.rank());
  const int batch = static_cast<int>(batch_dims < 0 ? batch_dims + rank : batch_dims);
  bool fits = batch <= axis;
  for (int k = 0; fits && k < batch; ++k) fits = params.dim(k) == indices.dim(k);
  require(fits, "the batch dimensions of params and indices must be equal and lie before axis");
  check_below(indices, params.dim(axis));
  Dims dims(params.dims().begin(), params.dims().begin() + axis);
  dims.insert(dims.end(), indices.dims().begin() + batch, indices.dims().end());
  dims.insert(dims.end(), params.dims().begin() + axis + 1, params.dims().end());
  check_dims(dims);
  const Tensor y = call.output(0, dims);
  if (y.count() == 0) return;
  const Picking picking = {span_of(params.dims(), 0, batch), span_of(params.dims(), batch, axis),
                           params.dim(axis), span_of(indices.dims(), batch, rank),
                           static_cast<std::int64_t>(element_size(y.dtype())) *
                               span_of(params.dims(), axis + 1, params.rank())};
  if (params.data() == nullptr && picking.bytes >= kWorthReading) {
    return pick_stored(call, picking, indices, y.write<char>());
  }
  pick(picking, indices, y.write<char>(), static_cast<const char*>(loaded(call, 0, params)));
}

void gather_first(Call& call) { gather(call, call.input(0), call.input(1), 0, 0); }

class GatherV2 {
 public:
  explicit GatherV2(const Node& node) : batch_dims_(node.integer("batch_dims")) {
    take_stored(node, 0);
  }
  void compute(Call& call) const {
    const Tensor axis = call.input(2);
    require(axis.rank() == 0, "axis must be scalar");
    gather(call, call.input(0), call.input(1), scalar_int(axis, "axis"), batch_dims_);
  }

 private:
  std::int64_t batch_dims_;
};

class ResourceGather {
 public:
  explicit ResourceGather(const Node& node)
      : batch_dims_(node.integer("batch_dims")), dtype_(node.type("dtype")) {}
  void compute(Call& call) const {
    const Tensor params = call.variable(0);
    require(params.dtype() == dtype_, "the variable must have the dtype of the node");
    gather(call, params, call.input(1), batch_dims_, batch_dims_);
  }

 private:
  std::int64_t batch_dims_;
  TF_DataType dtype_;
};

void gather_nd(const Call& call, const Tensor& params, const Tensor& indices, bool ignores) {
  require(params.rank() > 0 && indices.rank() > 0, "params and indices must be at least vectors");
  const std::int64_t depth = indices.dim(indices.rank() - 1);
  if (depth > params.rank()) {
    fail(TF_INVALID_ARGUMENT, "index innermost dimension length must be <= params rank; saw: " +
                                  std::to_string(depth) + " vs. " + std::to_string(params.rank()));
  }
  const auto cut = static_cast<std::size_t>(depth);
  Dims dims(indices.dims().begin(), indices.dims().end() - 1);
  const std::int64_t rows = product(dims);
  dims.insert(dims.end(), params.dims().begin() + static_cast<std::ptrdiff_t>(cut),
              params.dims().end());
  check_dims(dims);
  require(params.count() > 0 || rows == 0, "Requested more than 0 entries, but params is empty.");
  const std::int64_t* numbers = row_numbers(call, indices, params.dims().subspan(0, cut), ignores);
  const Tensor y = call.output(0, dims);
  if (y.count() == 0) return;
  const auto bytes = static_cast<std::int64_t>(element_size(y.dtype())) * (y.count() / rows);
  char* out = y.write<char>();
  const char* in = params.as<char>();
  parallel(rows, 4 + bytes / 8, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      if (numbers[k] >= 0)
        std::memcpy(out + k * bytes, in + numbers[k] * bytes, static_cast<std::size_t>(bytes));
      else std::memset(out + k * bytes, 0, static_cast<std::size_t>(bytes));
    }
  });
}

bool ignores_bad_indices(const Node& node) {
  return node.has("bad_indices_policy") && node.string("bad_indices_policy") == "IGNORE";
}

class GatherNd {
 public:
  explicit GatherNd(const Node& node) : ignores_(ignores_bad_indices(node)) {}
  void compute(Call& call) const { gather_nd(call, call.input(0), call.input(1), ignores_); }

 private:
  bool ignores_;
};

class ResourceGatherNd {
 public:
  explicit ResourceGatherNd(const Node& node) : dtype_(node.type("dtype")) {}
  void compute(Call& call) const {
    const Tensor params = call.variable(0);
    require(params.dtype() == dtype_, "the variable must have the dtype of the node");
    gather_nd(call, params, call.input(1), false);
  }

 private:
  TF_DataType dtype_;
};

class OneHot {
 public:
  explicit OneHot(const Node& node) : axis_(node.integer("axis")) {}
  void compute(Call& call) const {
    const Tensor indices = call.input(0);
    const Tensor given = call.input(1);
    const Tensor on = call.input(2);
    const Tensor off = call.input(3);
    require(axis_ >= -1 && axis_ <= indices.rank(),
            "Expected axis to be -1 or a place in the result");
    require(given.rank() == 0 && on.rank() == 0 && off.rank() == 0,
            "depth, on_value and off_value must be scalars");
    const int axis = axis_ == -1 ? indices.rank() : static_cast<int>(axis_);
    const std::int64_t depth = scalar_int(given, "depth");
    Dims dims(indices.dims().begin(), indices.dims().end());
    dims.insert(dims.begin() + axis, depth);
    check_dims(dims);
    const Tensor y = call.output(0, dims);
    if (y.count() == 0) return;
    const std::size_t size = element_size(y.dtype());
    fill(size, y.write<char>(), y.count(), off.data());
    const std::int64_t inner = span_of(indices.dims(), axis, indices.rank());
    with_bits(size, [&](auto bits) {
      using E = decltype(bits);
      with_index(indices.dtype(), [&](auto type) {
        mark(y.write<E>(), *on.as<E>(), indices.as<decltype(type)>(), indices.count(), depth,
             inner);
      });
    });
  }

 private:
  template <class E, class Index>
  static void mark(E* out, E on, const Index* at, std::int64_t count, std::int64_t depth,
                   std::int64_t inner) {
    for (std::int64_t k = 0; k < count; ++k) {
      const auto hot = static_cast<std::int64_t>(at[k]);  // NOLINT(bugprone-signed-char-misuse)
      if (hot < 0 || hot >= depth) continue;
      out[(k / inner * depth + hot) * inner + k % inner] = on;
    }
  }
  std::int64_t axis_;
};

}  // namespace

const Family registered([] {
  add_moving<gather_first>("Gather", "Tparams");
  add_moving<GatherV2>("GatherV2", "Tparams");
  add_moving<GatherNd>("GatherNd", "Tparams");
  add<ResourceGather>("ResourceGather", {{"dtype", plain_types()}});
  add<ResourceGatherNd>("ResourceGatherNd", {{"dtype", plain_types()}});
  add_moving<OneHot>("OneHot");
});

}  // namespace drystone::cpu

// Ops that join elements: reductions, softmax, the largest's place.
#include "joining.h"
#include "moving.h"

namespace drystone::gpu {
namespace {

Join join_of(std::string_view op) {
  if (op == "Sum") return Join::sum;
  if (op == "Mean") return Join::mean;
  if (op == "Max") return Join::max;
  if (op == "Min") return Join::min;
  if (op == "Prod") return Join::prod;
  return op == "All" ? Join::all : Join::any;
}

// Adds a dimension, joined with the last one where they lie in one row.
void extend(int* rank, std::uint32_t* dims, std::uint32_t* strides, std::uint32_t* count,
            std::int64_t size, std::int64_t stride) {
  const auto length = static_cast<std::uint32_t>(size), step = static_cast<std::uint32_t>(stride);
  *count *= length;
  if (size == 1) return;
  if (*rank > 0 && strides[*rank - 1] == step * length) {
    dims[*rank - 1] *= length;
    strides[*rank - 1] = step;
    return;
  }
  if (*rank == kReduceRank) throw Refused("a reduction of too many dimensions");
  dims[*rank] = length;
  strides[(*rank)++] = step;
}

}  // namespace

int joined(Building& b, int value, const std::vector<bool>& gone, bool keeps, Join join) {
  const Dims from = b.graph.at(value).dims;
  const std::vector<std::int64_t> strides = strides_of(from);
  Reducing detail = {};
  Reduction& r = detail.reduction;
  r.join = join;
  r.type = b.graph.at(value).type;
  Dims dims;
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (gone[k]) {
      extend(&r.inner_rank, r.inner_dims, r.inner_strides, &r.inner, from[k], strides[k]);
      if (keeps) dims.push_back(1);
    } else {
      extend(&r.outer_rank, r.outer_dims, r.outer_strides, &r.outer, from[k], strides[k]);
      dims.push_back(from[k]);
    }
  }
  if (!is_float(r.type) && r.join == Join::mean) throw Refused("a mean of whole numbers");
  return b.graph.add(detail, {value}, r.type, dims);
}

int softmax_of(Building& b, int value, bool logarithm) {
  const Dims from = b.graph.at(value).dims;
  if (from.empty()) throw Refused("a softmax of one number");
  Softmaxing detail = {};
  detail.length = static_cast<std::uint32_t>(from.back());
  if (from.back() == 0) return value;
  detail.count = static_cast<std::uint32_t>(count_of(from) / from.back());
  detail.logarithm = logarithm;
  return b.graph.add(detail, {value}, b.graph.at(value).type, from);
}

namespace {

void reduce(Building& b) {
  std::vector<bool> gone(b.dims(0).size(), false);
  for (std::int64_t axis : b.graph.whole(b.in[1])) {
    const auto k = static_cast<std::size_t>(axis_of(axis, gone.size()));
    if (gone[k]) throw Refused("an axis that comes twice");
    gone[k] = true;
  }
  b.out[0] = joined(b, b.in[0], gone, b.flag("keep_dims"), join_of(b.op()));
}

void softmax(Building& b) { b.out[0] = softmax_of(b, b.in[0], b.op() == "LogSoftmax"); }

void extreme(Building& b) {
  const Dims& from = b.dims(0);
  const auto axis = static_cast<std::size_t>(axis_of(b.one_number(1), from.size()));
  Extremes detail = {};
  detail.extreme.type = b.type(0);
  detail.extreme.smallest = b.op() == "ArgMin";
  detail.extreme.length = static_cast<std::uint32_t>(from[axis]);
  detail.extreme.inner = 1;
  if (from[axis] == 0) throw Refused("the largest of nothing");
  Dims dims = from;
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  for (std::size_t k = axis; k < dims.size(); ++k) {
    detail.extreme.inner *= static_cast<std::uint32_t>(dims[k]);
  }
  const Type type = b.named_type("output_type", Type::i64);
  detail.extreme.wide = type == Type::i64;
  b.out[0] = b.graph.add(detail, {b.in[0]}, type, dims);
}

std::string whole_places(const sdk::NodeView& node) {
  const auto type = node.attr("output_type").type();
  const bool known = !type.has_value() || *type == TF_INT64 || *type == TF_INT32;
  return known ? "" : "places in short numbers";
}

}  // namespace

std::vector<Rule> joining_rules() {
  return {
      {"Sum", reduce, kNumbers, 2},
      {"Mean", reduce, kFloats, 2},
      {"Max", reduce, kNumbers, 2},
      {"Min", reduce, kNumbers, 2},
      {"Prod", reduce, kNumbers, 2},
      {"All", reduce, kBool, 2},
      {"Any", reduce, kBool, 2},
      {"Softmax", softmax, kFloats},
      {"LogSoftmax", softmax, kFloats},
      {"ArgMax", extreme, kNumbers, 2, whole_places},
      {"ArgMin", extreme, kNumbers, 2, whole_places},
  };
}

}  // namespace drystone::gpu

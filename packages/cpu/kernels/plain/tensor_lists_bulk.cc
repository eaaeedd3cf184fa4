// Tensor lists in bulk: gather, scatter, concat, split.
#include <algorithm>

#include "core/family.h"
#include "core/lists.h"

namespace drystone::cpu {
namespace {

void concat_dims(Dims* out, std::int64_t first, DimsView rest) {
  out->assign(1, first);
  out->insert(out->end(), rest.begin(), rest.end());
  check_dims(*out);
}

class Gather {
 public:
  explicit Gather(const Node& node) : dtype_(node.type("element_dtype")) {}
  void compute(Call& call) const {
    const List list = List::input(call, 0);
    list.check_dtype(dtype_);
    const Dims indices = integers(call.input(1));
    const Shape stated = shape_of(call.input(2));
    Dims dims;
    if (stated && is_known(stated) && product(*stated) == 0) {  // TensorFlow looks at no index then
      concat_dims(&dims, static_cast<std::int64_t>(indices.size()), *stated);
      call.output(0, dims);
      return;
    }
    for (const std::int64_t index : indices) list.check_index(index);
    const Dims one = shape_of_items(list, indices, stated);
    concat_dims(&dims, static_cast<std::int64_t>(indices.size()), one);
    const Tensor out = call.output(0, dims);
    const std::int64_t size = product(one);
    for (std::size_t k = 0; k < indices.size(); ++k) {
      const auto at = static_cast<std::int64_t>(k) * size;
      Item item;
      if (!list.view(indices[k], &item)) blank_elements(dtype_, out.write<char>(), at, size);
      else copy(item, one, out, at);
    }
  }

 private:
  // Of all elements; unset ones take the shape of the wanted ones that are set.
  static Dims shape_of_items(const List& list, const Dims& indices, const Shape& stated) {
    Shape out = merged(list.shape(), stated);
    for (std::size_t k = 0; k < indices.size() && !is_known(out); ++k) {
      Item item;
      if (list.view(indices[k], &item)) out = merged(out, Dims(item.dims().begin(), item.dims().end()));
    }
    return known_dims(out);
  }

  void copy(const Item& item, const Dims& one, const Tensor& out, std::int64_t at) const {
    if (!std::ranges::equal(item.dims(), one)) {
      fail(TF_INVALID_ARGUMENT, "elements to be stacked must have equal shapes, got " +
                                    text(item.dims()) + " and " + text(DimsView(one)));
    }
    copy_elements(dtype_, out.write<char>(), at, item.data(), 0, product(one));
  }

  TF_DataType dtype_;
};

// Row k of the tensor becomes element indices[k]; `size`: of the list, or -1: as large as needed.
void scatter(List* into, const Tensor& tensor, const Tensor& indices, std::int64_t size) {
  require(indices.rank() == 1 && tensor.rank() > 0 && tensor.dim(0) == indices.dim(0),
          "there must be as many rows as indices");
  const Dims places = integers(indices);
  std::int64_t length = size < 0 ? into->length() : size;
  for (const std::int64_t place : places) {
    require(place >= 0, "indices must not be negative");
    if (size < 0) length = std::max(length, place + 1);
    else require(place < size, "indices must lie in the list");
  }
  const DimsView dims = tensor.dims().subspan(1);
  into->check_item(dims);
  into->resize(length);
  const std::int64_t count = product(dims);
  for (std::size_t k = 0; k < places.size(); ++k) {
    const Item item = into->make_item(places[k], dims);
    copy_elements(tensor.dtype(), item.write(), 0, tensor.data(),
                  static_cast<std::int64_t>(k) * count, count);
  }
}

class Scatter {
 public:
  explicit Scatter(const Node& node) : dtype_(node.type("element_dtype")) {}
  void compute(Call& call) const {
    const std::int64_t size = call.inputs() < 4 ? -1 : scalar_int(call.input(3), "num_elements");
    require(size >= -1, "a list's size must not be negative");
    List list = List::make(call, 0, dtype_, shape_of(call.input(2)), 0);
    scatter(&list, call.input(0), call.input(1), size);
  }

 private:
  TF_DataType dtype_;
};

class ScatterInto {
 public:
  explicit ScatterInto(const Node& node) : dtype_(node.type("element_dtype")) {}
  void compute(Call& call) const {
    List::input(call, 0).check_dtype(dtype_);
    List list = List::change(call, 0, 0);
    scatter(&list, call.input(1), call.input(2), -1);
  }

 private:
  TF_DataType dtype_;
};

// All elements joined along their first axis, and the length of each.
class Concat {
 public:
  explicit Concat(const Node& node)
      : dtype_(node.type("element_dtype")),
        shape_(node.has("element_shape") ? shape_attr(node, "element_shape") : std::nullopt) {}
  void compute(Call& call) const {
    const List list = List::input(call, 0);
    list.check_dtype(dtype_);
    const bool stated = call.inputs() > 1;
    const Shape wanted = merged(list.shape(), stated ? shape_of(call.input(1)) : shape_);
    require(!wanted || !wanted->empty(), "elements to be joined must not be scalars");
    const Dims tail = tail_of(list, wanted);
    const Dims leading = stated ? integers(call.input(2)) : Dims();
    const Dims rows = rows_of(list, leading);
    Dims dims;
    std::int64_t total = 0;
    for (const std::int64_t row : rows) total += row;
    concat_dims(&dims, total, tail);
    join(call, list, rows, product(tail), dims);
  }

 private:
  // The dims after the first, of all elements.
  static Dims tail_of(const List& list, const Shape& wanted) {
    Shape tail;
    if (wanted) tail = Dims(wanted->begin() + 1, wanted->end());
    for (std::int64_t k = 0; k < list.length(); ++k) {
      Item item;
      if (!list.view(k, &item)) continue;
      require(item.rank() > 0, "elements to be joined must not be scalars");
      const DimsView rest = item.dims().subspan(1);
      tail = merged(tail, Dims(rest.begin(), rest.end()));
    }
    return known_dims(tail);
  }

  static Dims rows_of(const List& list, const Dims& leading) {
    const Shape declared = list.shape();
    Dims out(static_cast<std::size_t>(list.length()));
    for (std::size_t k = 0; k < out.size(); ++k) {
      Item item;
      if (list.view(static_cast<std::int64_t>(k), &item)) out[k] = item.dim(0);
      else if (declared && !declared->empty() && (*declared)[0] >= 0) out[k] = (*declared)[0];
      else if (k < leading.size()) out[k] = leading[k];
      else out[k] = list.known_shape(std::nullopt).at(0);
    }
    require(std::ranges::all_of(out, [](std::int64_t rows) { return rows >= 0; }),
            "leading_dims must not be negative");
    return out;
  }

  void join(const Call& call, const List& list, const Dims& rows, std::int64_t size,
            const Dims& dims) const {
    const Tensor out = call.output(0, dims);
    const Tensor lengths = call.output(1, {{static_cast<std::int64_t>(rows.size())}});
    std::int64_t at = 0;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const std::int64_t count = rows[k] * size;
      Item item;
      if (list.view(static_cast<std::int64_t>(k), &item)) {
        copy_elements(dtype_, out.write<char>(), at, item.data(), 0, count);
      } else {
        blank_elements(dtype_, out.write<char>(), at, count);
      }
      lengths.write<std::int64_t>()[k] = rows[k];
      at += count;
    }
  }

  TF_DataType dtype_;
  Shape shape_;
};

class Split {
 public:
  explicit Split(const Node& node) : dtype_(node.type("element_dtype")) {}
  void compute(Call& call) const {
    const Tensor tensor = call.input(0);
    const Tensor given = call.input(2);
    require(given.rank() == 1 && tensor.rank() > 0, "lengths must be a vector, and there must be rows");
    const Dims lengths = integers(given);
    std::int64_t total = 0;
    for (const std::int64_t rows : lengths) {
      require(rows >= 0 && !__builtin_add_overflow(total, rows, &total),
              "lengths must not be negative");
    }
    if (total != tensor.dim(0)) {
      fail(TF_INVALID_ARGUMENT, "lengths must add up to the tensor's first dimension, got " +
                                    std::to_string(total) + ", needed " + std::to_string(tensor.dim(0)));
    }
    List list = List::make(call, 0, dtype_, shape_of(call.input(1)), given.count());
    Dims dims(tensor.dims().begin(), tensor.dims().end());
    const std::int64_t size = product(tensor.dims().subspan(1));
    std::int64_t at = 0;
    for (std::size_t k = 0; k < lengths.size(); ++k) {
      dims[0] = lengths[k];
      list.check_item(dims);
      const Item item = list.make_item(static_cast<std::int64_t>(k), dims);
      copy_elements(dtype_, item.write(), 0, tensor.data(), at * size, dims[0] * size);
      at += dims[0];
    }
  }

 private:
  TF_DataType dtype_;
};

}  // namespace

const Family registered([] {
  const std::vector<Constraint> packed = {{"element_dtype", packed_types()}};
  add<Gather>("TensorListGather", packed);
  add<Scatter>("TensorListScatter", packed);
  add<Scatter>("TensorListScatterV2", packed);
  add<ScatterInto>("TensorListScatterIntoExistingList", packed);
  add<Concat>("TensorListConcat", packed);
  add<Concat>("TensorListConcatV2", packed);
  add<Split>("TensorListSplit", packed);
});

}  // namespace drystone::cpu

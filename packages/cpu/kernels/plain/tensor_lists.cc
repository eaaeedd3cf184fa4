// Tensor lists: made, pushed to and popped, read and written by index, stacked.
#include <algorithm>

#include "core/family.h"
#include "core/lists.h"

namespace drystone::cpu {
namespace {

std::int64_t count_of(const Tensor& value, const char* what) {
  const std::int64_t count = scalar_int(value, what);
  if (count < 0) {
    fail(TF_INVALID_ARGUMENT, std::string(what) + " must not be negative, got " + std::to_string(count));
  }
  return count;
}

// What most nodes are made for.
class OfElements {
 public:
  explicit OfElements(const Node& node) : dtype_(node.type("element_dtype")) {}

 protected:
  List input(const Call& call, int i) const {
    List out = List::input(call, i);
    out.check_dtype(dtype_);
    return out;
  }
  TF_DataType dtype_;
};

class Empty : OfElements {
 public:
  using OfElements::OfElements;
  void compute(Call& call) const {
    const std::int64_t limit = scalar_int(call.input(1), "max_num_elements");
    List::make(call, 0, dtype_, shape_of(call.input(0)), 0, limit);
  }
};

class Reserve : OfElements {
 public:
  using OfElements::OfElements;
  void compute(Call& call) const {
    const std::int64_t count = count_of(call.input(1), "num_elements");
    List::make(call, 0, dtype_, shape_of(call.input(0)), count);
  }
};

class FromTensor : OfElements {
 public:
  using OfElements::OfElements;
  void compute(Call& call) const {
    const Tensor rows = call.input(0);
    require(rows.rank() > 0, "a tensor must have rows to become a list");
    const DimsView dims = rows.dims().subspan(1);
    const std::int64_t size = product(dims);
    List list = List::make(call, 0, dtype_, shape_of(call.input(1)), rows.dim(0));
    list.check_item(dims);
    for (std::int64_t k = 0; k < rows.dim(0); ++k) {
      const Item item = list.make_item(k, dims);
      copy_elements(dtype_, item.write(), 0, rows.data(), k * size, size);
    }
  }
};

class PushBack : OfElements {
 public:
  using OfElements::OfElements;
  void compute(Call& call) const {
    List list = input(call, 0);
    list.check_item(call.input(1).dims());
    if (list.limit() != -1 && list.length() >= list.limit()) {
      fail(TF_INVALID_ARGUMENT, "the list must not outgrow its limit of " +
                                    std::to_string(list.limit()) + " elements");
    }
    list = List::change(call, 0, 0);
    const std::int64_t at = list.length();
    list.resize(at + 1);
    list.set(at, 1);
  }
};

// Element k as output i, or what stands for an unset one.
void output_item(const Call& call, const List& list, int i, std::int64_t k, const Tensor& shape) {
  Item item;
  if (list.view(k, &item)) list.output(i, k);
  else blank(call.output(i, list.known_shape(shape_of(shape))));
}

class PopBack : OfElements {
 public:
  using OfElements::OfElements;
  void compute(Call& call) const {
    List list = input(call, 0);
    require(list.length() > 0, "a list must not be empty to pop");
    const std::int64_t last = list.length() - 1;
    output_item(call, list, 1, last, call.input(1));
    list = List::change(call, 0, 0);
    list.resize(last);
  }
};

class GetItem : OfElements {
 public:
  using OfElements::OfElements;
  void compute(Call& call) const {
    const List list = input(call, 0);
    const std::int64_t index = scalar_int(call.input(1), "index");
    list.check_index(index);
    output_item(call, list, 0, index, call.input(2));
  }
};

class SetItem : OfElements {
 public:
  explicit SetItem(const Node& node)
      : OfElements(node),
        grows_(node.has("resize_if_index_out_of_bounds") &&
               node.boolean("resize_if_index_out_of_bounds")) {}
  void compute(Call& call) const {
    List list = input(call, 0);
    const std::int64_t index = scalar_int(call.input(1), "index");
    list.check_item(call.input(2).dims());
    const bool grows = grows_ && index >= list.length();
    if (!grows) list.check_index(index);
    list = List::change(call, 0, 0);
    if (grows) list.resize(index + 1);
    list.set(index, 2);
  }

 private:
  bool grows_;
};

class Stack : OfElements {
 public:
  explicit Stack(const Node& node) : OfElements(node), wanted_(node.integer("num_elements")) {}
  void compute(Call& call) const {
    const List list = input(call, 0);
    if (wanted_ != -1 && wanted_ != list.length()) {
      fail(TF_INVALID_ARGUMENT, "the list must have " + std::to_string(wanted_) +
                                    " elements as declared, it has " + std::to_string(list.length()));
    }
    const Dims one = list.known_shape(shape_of(call.input(1)));
    Dims dims = {list.length()};
    dims.insert(dims.end(), one.begin(), one.end());
    check_dims(dims);
    const Tensor out = call.output(0, dims);
    const std::int64_t size = product(one);
    for (std::int64_t k = 0; k < list.length(); ++k) {
      Item item;
      if (!list.view(k, &item)) {
        blank_elements(dtype_, out.write<char>(), k * size, size);
        continue;
      }
      if (!std::ranges::equal(item.dims(), one)) {
        fail(TF_INVALID_ARGUMENT, "elements to be stacked must have equal shapes, got " +
                                      text(item.dims()) + " and " + text(DimsView(one)));
      }
      copy_elements(dtype_, out.write<char>(), k * size, item.data(), 0, size);
    }
  }

 private:
  std::int64_t wanted_;
};

void length(Call& call) {
  const auto out = static_cast<std::int32_t>(List::input(call, 0).length());
  *call.output(0, {}).write<std::int32_t>() = out;
}

template <class T>
void element_shape(Call& call) {
  const Shape shape = List::input(call, 0).shape();
  if (!shape) {
    *call.output(0, {}).write<T>() = -1;
    return;
  }
  const Tensor out = call.output(0, {{static_cast<std::int64_t>(shape->size())}});
  std::transform(shape->begin(), shape->end(), out.write<T>(),
                 [](std::int64_t dim) { return static_cast<T>(dim); });
}

void resize(Call& call) {
  const std::int64_t count = count_of(call.input(1), "size");
  List::change(call, 0, 0).resize(count);
}

}  // namespace

const Family registered([] {
  const std::vector<Constraint> any = {{"element_dtype", element_types()}};
  const std::vector<Constraint> packed = {{"element_dtype", packed_types()}};
  add<Empty>("EmptyTensorList", any);
  add<Reserve>("TensorListReserve", any);
  add<FromTensor>("TensorListFromTensor", packed);
  add<PushBack>("TensorListPushBack", any);
  add<PopBack>("TensorListPopBack", any);
  add<GetItem>("TensorListGetItem", any);
  add<SetItem>("TensorListSetItem", any);
  add<Stack>("TensorListStack", packed);
  add<length>("TensorListLength");
  add<element_shape<std::int32_t>>("TensorListElementShape", {{"shape_type", {TF_INT32}}});
  add<element_shape<std::int64_t>>("TensorListElementShape", {{"shape_type", {TF_INT64}}});
  add<resize>("TensorListResize");
});

}  // namespace drystone::cpu

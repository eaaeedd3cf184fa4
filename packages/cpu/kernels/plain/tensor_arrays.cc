// Tensor arrays of the third generation. They live as long as their handles; `flow` says only in which
// order ops run.
#include <algorithm>

#include "core/family.h"
#include "core/tensor_array.h"

namespace drystone::cpu {
namespace {

struct Handle {
  std::shared_ptr<TensorArray> array;
};

const DS_ObjectKind kKind = kind_of<Handle>("TensorArray");

// The array at input 0, locked.
struct Locked {
  explicit Locked(const Call& call)
      : array(resource<Handle>(call, 0, kKind).array), lock(array->mutex) {}
  Locked(const Call& call, TF_DataType dtype) : Locked(call) { array->check(dtype); }
  std::shared_ptr<TensorArray> array;
  std::unique_lock<std::mutex> lock;
};

void output_array(const Call& call, std::shared_ptr<TensorArray> array) {
  make_resource(call, 0, kKind, std::make_unique<Handle>(Handle{std::move(array)}));
  *call.output(1, {}).write<float>() = 0;
}

// Writes an element. An index far behind the last one is the size of what is made.
void write(const Call& call, TensorArray& array, std::int64_t index, Held value) {
  if (array.dynamic && index / 2 > array.size()) call.check_room(index, sizeof(TensorArray::Element));
  array.write(index, std::move(value));
}

void forward_flow(const Call& call, int flow) { call.share(0, flow, call.input(flow).dims()); }

class Make {
 public:
  explicit Make(const Node& node)
      : dtype_(node.type("dtype")),
        shape_(shape_attr(node, "element_shape")),
        name_(node.string("tensor_array_name")),
        dynamic_(node.boolean("dynamic_size")),
        clears_(node.boolean("clear_after_read")),
        identical_(node.boolean("identical_element_shapes")) {
    if (name_.empty()) name_ = node.name();
  }
  void compute(Call& call) const {
    const Tensor size = call.input(0);
    require(size.rank() == 0, "the size must be a scalar");
    call.check_room(std::max<std::int64_t>(integer_at(size, 0), 0), sizeof(TensorArray::Element));
    auto made = std::make_shared<TensorArray>(name_, dtype_, integer_at(size, 0), shape_);
    made->dynamic = dynamic_;
    made->clear_after_read = clears_;
    made->identical = identical_;
    output_array(call, std::move(made));
  }

 private:
  TF_DataType dtype_;
  Shape shape_;
  std::string name_;
  bool dynamic_;
  bool clears_;
  bool identical_;
};

class Gradient {
 public:
  explicit Gradient(const Node& node) : source_(node.string("source")) {}
  void compute(Call& call) const {
    std::shared_ptr<TensorArray> made;
    {
      const Locked forward(call);
      forward.array->check_open();
      made = forward.array->gradient(source_, call.inputs() > 2 ? integers(call.input(2)) : Dims());
    }
    output_array(call, std::move(made));
  }

 private:
  std::string source_;
};

class Write {
 public:
  explicit Write(const Node& node) : dtype_(node.type("T")) {}
  void compute(Call& call) const {
    const std::int64_t index = scalar_int(call.input(1), "index");
    Held value = hold_input(call, 2);
    {
      const Locked into(call, dtype_);
      write(call, *into.array, index, std::move(value));
    }
    forward_flow(call, 3);
  }

 private:
  TF_DataType dtype_;
};

class Read {
 public:
  explicit Read(const Node& node) : dtype_(node.type("dtype")) {}
  void compute(Call& call) const {
    const std::int64_t index = scalar_int(call.input(1), "index");
    Held value;
    {
      const Locked from(call, dtype_);
      value = from.array->read(index);
    }
    set_output(call, 0, value.get());
  }

 private:
  TF_DataType dtype_;
};

// Joins elements [first, last) of a list of held tensors along axis 0 of the output.
void join(TF_DataType dtype, const std::vector<Held>& rows, const Tensor& out) {
  std::int64_t at = 0;
  for (const Held& row : rows) {
    const std::int64_t count = TF_TensorElementCount(row.get());
    copy_elements(dtype, out.write<char>(), at, TF_TensorData(row.get()), 0, count);
    at += count;
  }
}

void check_equal(const Dims& a, const Dims& b) {
  if (a == b) return;
  fail(TF_INVALID_ARGUMENT, "elements must have equal shapes, got " + text(DimsView(a)) + " and " +
                                text(DimsView(b)));
}

class Gather {
 public:
  explicit Gather(const Node& node)
      : dtype_(node.type("dtype")), shape_(shape_attr(node, "element_shape")) {}
  void compute(Call& call) const {
    const Tensor indices = call.input(1);
    require(indices.rank() == 1, "indices must be a vector");
    std::vector<Held> rows;
    Dims dims;
    {
      const Locked from(call, dtype_);
      for (const std::int64_t index : integers(indices)) rows.push_back(from.array->read(index));
      dims = dims_of(rows.empty() ? from.array->zeros(from.array->shape ? from.array->shape : shape_,
                                                      TF_UNIMPLEMENTED).get()
                                  : rows[0].get());
    }
    for (const Held& row : rows) check_equal(dims, dims_of(row.get()));
    dims.insert(dims.begin(), static_cast<std::int64_t>(rows.size()));
    check_dims(dims);
    join(dtype_, rows, call.output(0, dims));
  }

 private:
  TF_DataType dtype_;
  Shape shape_;
};

// Elements of `count` rows of `value` from row `first` on, as a tensor of its own.
Held rows_of(const Tensor& value, std::int64_t first, std::int64_t count, bool keeps_axis) {
  Dims dims(value.dims().begin() + (keeps_axis ? 0 : 1), value.dims().end());
  if (keeps_axis) dims[0] = count;
  const std::int64_t size = product(value.dims().subspan(1));
  Held out = new_tensor(value.dtype(), dims);
  copy_elements(value.dtype(), TF_TensorData(out.get()), 0, value.data(), first * size, count * size);
  return out;
}

class Scatter {
 public:
  explicit Scatter(const Node& node) : dtype_(node.type("T")) {}
  void compute(Call& call) const {
    const Tensor indices = call.input(1);
    const Tensor value = call.input(2);
    require(indices.rank() == 1 && value.rank() >= 1 && value.dim(0) == indices.dim(0),
            "there must be as many rows as indices");
    const Dims places = integers(indices);
    {
      const Locked into(call, dtype_);
      for (std::size_t k = 0; k < places.size(); ++k) {
        write(call, *into.array, places[k], rows_of(value, static_cast<std::int64_t>(k), 1, false));
      }
    }
    forward_flow(call, 3);
  }

 private:
  TF_DataType dtype_;
};

// All elements joined along their first axis, and the length of each.
class Concat {
 public:
  explicit Concat(const Node& node)
      : dtype_(node.type("dtype")), rest_(shape_attr(node, "element_shape_except0")) {
    if (rest_) rest_->insert(rest_->begin(), 0);
  }
  void compute(Call& call) const {
    std::vector<Held> rows;
    Dims dims;
    {
      const Locked from(call, dtype_);
      for (std::int64_t k = 0; k < from.array->size(); ++k) rows.push_back(from.array->read(k));
      dims = dims_of(rows.empty() ? from.array->zeros(rest_, TF_UNIMPLEMENTED).get() : rows[0].get());
    }
    require(!dims.empty(), "elements to be joined must not be scalars");
    dims[0] = 0;
    const Tensor lengths = call.output(1, {{static_cast<std::int64_t>(rows.size())}});
    for (std::size_t k = 0; k < rows.size(); ++k) {
      Dims row = dims_of(rows[k].get());
      require(!row.empty(), "elements to be joined must not be scalars");
      lengths.write<std::int64_t>()[k] = row[0];
      dims[0] += std::exchange(row[0], dims[0]);
      check_tail(row, dims);
    }
    check_dims(dims);
    join(dtype_, rows, call.output(0, dims));
  }

 private:
  static void check_tail(const Dims& a, const Dims& b) {
    check_equal(Dims(a.begin() + 1, a.end()), Dims(b.begin() + 1, b.end()));
  }
  TF_DataType dtype_;
  Shape rest_;
};

class Split {
 public:
  explicit Split(const Node& node) : dtype_(node.type("T")) {}
  void compute(Call& call) const {
    const Tensor value = call.input(1);
    const Tensor given = call.input(2);
    require(given.rank() == 1 && value.rank() >= 1, "lengths must be a vector, and there must be rows");
    const Dims lengths = integers(given);
    std::int64_t total = 0;
    for (const std::int64_t rows : lengths) {
      require(rows >= 0 && !__builtin_add_overflow(total, rows, &total), "lengths must not be negative");
    }
    require(total == value.dim(0), "lengths must add up to the value's first dimension");
    {
      const Locked into(call, dtype_);
      require(into.array->dynamic || into.array->size() == given.count(),
              "there must be one length for each element");
      std::int64_t at = 0;
      for (std::size_t k = 0; k < lengths.size(); ++k) {
        into.array->write(static_cast<std::int64_t>(k), rows_of(value, at, lengths[k], true));
        at += lengths[k];
      }
    }
    forward_flow(call, 3);
  }

 private:
  TF_DataType dtype_;
};

void size(Call& call) {
  const Locked array(call);
  array.array->check_open();
  *call.output(0, {}).write<std::int32_t>() = static_cast<std::int32_t>(array.array->size());
}

void close(Call& call) { Locked(call).array->close(); }

}  // namespace

const Family registered([] {
  const std::vector<TF_DataType>& any = element_types();
  add<Make>("TensorArrayV3", {{"dtype", any}});
  add<Gradient>("TensorArrayGradV3");
  add<Gradient>("TensorArrayGradWithShape");
  add<Write>("TensorArrayWriteV3", {{"T", any}});
  add<Read>("TensorArrayReadV3", {{"dtype", any}});
  add<Gather>("TensorArrayGatherV3", {{"dtype", any}});
  add<Scatter>("TensorArrayScatterV3", {{"T", any}});
  add<Concat>("TensorArrayConcatV3", {{"dtype", any}});
  add<Split>("TensorArraySplitV3", {{"T", any}});
  add<size>("TensorArraySizeV3");
  add<close>("TensorArrayCloseV3");
});

}  // namespace drystone::cpu

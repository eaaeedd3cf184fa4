// The state of tensor arrays: see core/tensor_array.h.
#include "core/tensor_array.h"

#include <cstring>
#include <utility>

#include "drystone/sdk/dtype.hpp"
#include "plain/combine.h"

namespace drystone::cpu {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 31;  // elements of an array

}  // namespace

TensorArray::TensorArray(std::string name_, TF_DataType dtype_, std::int64_t size, Shape shape_)
    : name(std::move(name_)), dtype(dtype_), shape(std::move(shape_)) {
  require(size >= 0 && size < kMost, "the size of a TensorArray must be from 0 to 2147483647");
  elements_.resize(static_cast<std::size_t>(size));
}

void TensorArray::check_open() const {
  if (closed_) fail(TF_INVALID_ARGUMENT, "TensorArray '" + name + "' must not be closed");
}

void TensorArray::check(TF_DataType wanted) const {
  check_open();
  if (wanted == dtype) return;
  fail(TF_INVALID_ARGUMENT, "TensorArray '" + name + "' has dtype " +
                                sdk::dtype_name(dtype) + ", the node is for " +
                                sdk::dtype_name(wanted));
}

TensorArray::Element& TensorArray::element(std::int64_t index, bool grow) {
  const bool grows = grow && dynamic;
  if (index < 0 || index >= (grows ? kMost : size())) {
    fail(TF_INVALID_ARGUMENT, "index " + std::to_string(index) + " must lie in TensorArray '" + name +
                                  "' of " + std::to_string(size()) + " elements");
  }
  if (index >= size()) elements_.resize(static_cast<std::size_t>(index) + 1);
  return elements_[static_cast<std::size_t>(index)];
}

void TensorArray::write(std::int64_t index, Held value) {
  Element& into = element(index, true);
  const std::string which = "element " + std::to_string(index) + " of TensorArray '" + name + "'";
  Dims dims = dims_of(value.get());
  if (!fits(shape, dims)) {
    fail(TF_INVALID_ARGUMENT, which + " must have shape " + text(shape) + ", got " + text(DimsView(dims)));
  }
  if (into.read) fail(TF_INVALID_ARGUMENT, which + " was read already and must not be written");
  if (into.written) {
    if (!aggregate_) fail(TF_INVALID_ARGUMENT, which + " was written already; it must be written once");
    const Dims before = dims_of(into.value.get());
    if (before != dims) {
      fail(TF_INVALID_ARGUMENT, "gradients of " + which + " must have equal shapes, got " +
                                    text(DimsView(before)) + " and " + text(DimsView(dims)));
    }
    value = sum(into.value.get(), value.get());
  }
  if (identical) shape = dims;
  into.value = std::move(value);
  into.shape = std::move(dims);
  into.written = true;
}

Held TensorArray::sum(const TF_Tensor* a, const TF_Tensor* b) const {
  const Combine add = combine_of(Operation::kAdd, dtype);
  require(add != nullptr, "elements of this dtype cannot be added up");
  Held out = new_tensor(dtype, dims_of(a));
  std::memcpy(TF_TensorData(out.get()), TF_TensorData(a), TF_TensorByteSize(a));
  add(TF_TensorData(out.get()), TF_TensorData(b), TF_TensorElementCount(b), 1);
  return out;
}

Held TensorArray::zeros(const Shape& wanted, TF_Code code) const {
  if (!wanted || !is_known(wanted)) {
    fail(code, "an element of TensorArray '" + name +
                   "' must be written before it is read, or have a known shape; got " + text(wanted));
  }
  Held out = new_tensor(dtype, *wanted);
  blank_elements(dtype, TF_TensorData(out.get()), 0, TF_TensorElementCount(out.get()));
  return out;
}

Held TensorArray::read(std::int64_t index) {
  Element& from = element(index, false);
  if (from.value == nullptr && from.written) {
    fail(TF_INVALID_ARGUMENT, "element " + std::to_string(index) + " of TensorArray '" + name +
                                  "' was read and cleared; reading it twice needs "
                                  "clear_after_read=False");
  }
  if (from.value == nullptr) from.value = zeros(from.shape ? from.shape : shape);
  from.read = true;
  if (clear_after_read) {
    from.written = true;
    from.shape = dims_of(from.value.get());
    return std::exchange(from.value, nullptr);
  }
  return from.value;
}

void TensorArray::close() {
  closed_ = true;
  elements_.clear();
}

std::shared_ptr<TensorArray> TensorArray::gradient(const std::string& source, const Dims& lead) {
  std::shared_ptr<TensorArray>& place = gradients_[source];
  if (place != nullptr) return place;
  dynamic = false;
  const auto prepended = [&](const Shape& to) -> Shape {
    if (!to) return std::nullopt;
    Dims out = lead;
    out.insert(out.end(), to->begin(), to->end());
    return out;
  };
  place = std::make_shared<TensorArray>(name + "@" + source, dtype, size(), prepended(shape));
  place->aggregate_ = true;
  place->clear_after_read = clear_after_read;
  place->identical = identical && is_known(place->shape);
  for (std::size_t k = 0; k < elements_.size(); ++k) {
    place->elements_[k].shape = prepended(elements_[k].shape);
  }
  return place;
}

}  // namespace drystone::cpu

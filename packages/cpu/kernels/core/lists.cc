// Tensor lists, declared shapes, elements of any dtype: see core/lists.h.
#include "core/lists.h"

#include <algorithm>
#include <cstring>

#include "core/text.h"
#include "drystone/kernels_experimental.h"
#include "drystone/sdk/dtype.hpp"

namespace drystone::cpu {

const std::vector<TF_DataType>& packed_types() {
  static const std::vector<TF_DataType> types = [] {
    std::vector<TF_DataType> out = plain_types();
    out.push_back(TF_STRING);
    return out;
  }();
  return types;
}

const std::vector<TF_DataType>& element_types() {
  static const std::vector<TF_DataType> types = [] {
    std::vector<TF_DataType> out = packed_types();
    out.push_back(TF_VARIANT);
    return out;
  }();
  return types;
}

std::string text(const Shape& shape) { return shape ? text(DimsView(*shape)) : "of unknown rank"; }

bool fits(const Shape& declared, DimsView dims) {
  return !declared || std::ranges::equal(*declared, dims, [](std::int64_t want, std::int64_t got) {
    return want < 0 || want == got;
  });
}

bool is_known(const Shape& shape) {
  return shape && std::ranges::none_of(*shape, [](std::int64_t dim) { return dim < 0; });
}

const Dims& known_dims(const Shape& shape) {
  if (!shape || !is_known(shape)) {
    fail(TF_INVALID_ARGUMENT,
         "unset elements need a fully known element shape, got " + text(shape));
  }
  return *shape;
}

Shape merged(const Shape& a, const Shape& b) {
  if (!a || !b) return a ? a : b;
  const bool agree = std::ranges::equal(*a, *b, [](std::int64_t x, std::int64_t y) {
    return x == y || x < 0 || y < 0;
  });
  if (!agree) {
    fail(TF_INVALID_ARGUMENT, "the element shapes of list and node must agree, got " + text(a) +
                                  " and " + text(b));
  }
  Dims out = *a;
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = std::max(out[k], (*b)[k]);
  return out;
}

Shape shape_of(const Tensor& dims) {
  if (dims.rank() == 0 && integer_at(dims, 0) == -1) return std::nullopt;
  require(dims.rank() == 1, "an element shape must be a vector of dims or the scalar -1");
  return integers(dims);
}

Shape shape_attr(const Node& node, const char* attr) {
  TF_Status* status = TF_NewStatus();
  std::int32_t items = -1;  // of lists
  std::int32_t rank = -1;
  TF_OpKernelConstruction_GetAttrSize(node.construction(), attr, &items, &rank, status);
  Shape out;
  if (TF_GetCode(status) == TF_OK && rank >= 0) {
    out.emplace(static_cast<std::size_t>(rank));
    TF_OpKernelConstruction_GetAttrTensorShape(node.construction(), attr, out->data(),
                                               out->size(), status);
  }
  const TF_Code code = TF_GetCode(status);
  const std::string message = TF_Message(status);
  TF_DeleteStatus(status);
  if (code != TF_OK) fail(code, message);
  return out;
}

void copy_elements(TF_DataType dtype, void* out, std::int64_t at, const void* in,
                   std::int64_t from, std::int64_t count) {
  if (dtype == TF_STRING) {
    auto* to = static_cast<TF_TString*>(out) + at;
    const auto* source = static_cast<const TF_TString*>(in) + from;
    for (std::int64_t k = 0; k < count; ++k) set_text(&to[k], text_of(source[k]));
    return;
  }
  require(dtype != TF_VARIANT && dtype != TF_RESOURCE, "handles are not copied");
  const auto size = static_cast<std::int64_t>(element_size(dtype));
  if (count > 0) {
    std::memcpy(static_cast<char*>(out) + at * size, static_cast<const char*>(in) + from * size,
                static_cast<std::size_t>(count * size));
  }
}

void blank_elements(TF_DataType dtype, void* out, std::int64_t at, std::int64_t count) {
  if (dtype == TF_STRING || dtype == TF_VARIANT) return;  // new ones are empty
  const auto size = static_cast<std::int64_t>(element_size(dtype));
  if (count > 0) {
    std::memset(static_cast<char*>(out) + at * size, 0, static_cast<std::size_t>(count * size));
  }
}

void blank(const Tensor& out) {
  blank_elements(out.dtype(), out.write<char>(), 0, out.count());
}

List List::make(const Call& call, int i, TF_DataType dtype, const Shape& shape,
                std::int64_t length, std::int64_t limit) {
  List out(call.context());
  DS_ListFacts facts = DS_LIST_FACTS_INIT;
  facts.dtype = dtype;
  facts.rank = shape ? static_cast<std::int32_t>(shape->size()) : -1;
  out.dims_ = std::make_shared<const Dims>(shape && !shape->empty() ? *shape : Dims(1));
  facts.dims = out.dims_->data();
  facts.length = length;
  facts.limit = limit;
  out.list_ = DS_NewOutputList(call.context(), i, &facts);
  out.facts_ = facts;
  return out.checked();
}

Item List::make_item(std::int64_t k, DimsView dims) {
  Item out;
  check(DS_NewListItem(context_, list_, k, dims.data(), static_cast<int>(dims.size()), &out.view_) != 0);
  return out;
}

void List::check_dtype(TF_DataType wanted) const {
  if (facts_.dtype == wanted) return;
  fail(TF_INVALID_ARGUMENT, "the list has elements of dtype " +
                                sdk::dtype_name(facts_.dtype) + ", the node is for " +
                                sdk::dtype_name(wanted));
}

void List::check_index(std::int64_t index) const {
  if (index >= 0 && index < facts_.length) return;
  fail(TF_INVALID_ARGUMENT, "index " + std::to_string(index) + " does not lie in the list of " +
                                std::to_string(facts_.length) + " elements");
}

bool List::takes(DimsView dims) const {
  if (facts_.rank < 0) return true;
  if (static_cast<std::size_t>(facts_.rank) != dims.size()) return false;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (facts_.dims[k] >= 0 && facts_.dims[k] != dims[k]) return false;
  }
  return true;
}

void List::check_item(DimsView dims) const {
  if (takes(dims)) return;
  fail(TF_INVALID_ARGUMENT, "an element of shape " + text(dims) +
                                " does not fit a list of elements " + text(shape()));
}

Dims List::known_shape(const Shape& wanted) const {
  Shape out = merged(shape(), wanted);
  for (std::int64_t k = 0; k < facts_.length && !is_known(out); ++k) {
    Item item;
    if (view(k, &item)) out = merged(out, Dims(item.dims().begin(), item.dims().end()));
  }
  const Dims& dims = known_dims(out);
  check_dims(dims);
  return dims;
}

}  // namespace drystone::cpu

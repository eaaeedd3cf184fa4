// Tensor lists for kernels: what drystone/tensor_list.h offers, with failures thrown.
#ifndef DRYSTONE_CPU_CORE_LISTS_H_
#define DRYSTONE_CPU_CORE_LISTS_H_

#include <memory>
#include <optional>

#include "core/moving.h"
#include "drystone/tensor_list.h"

namespace drystone::cpu {

// A declared shape: nothing for an unknown rank, -1 for an unknown dimension.
using Shape = std::optional<Dims>;

// Dtypes whose tensors may be elements of containers of tensors: all but handles of resources.
const std::vector<TF_DataType>& element_types();
// The same without variants, whose tensors only scalars and whole lists hold.
const std::vector<TF_DataType>& packed_types();

std::string text(const Shape& shape);
bool fits(const Shape& declared, DimsView dims);
bool is_known(const Shape& shape);
// Its dims, where it is; fails for elements that were not set where it is not.
const Dims& known_dims(const Shape& shape);
// The shape that both say; fails when they contradict each other.
Shape merged(const Shape& a, const Shape& b);
// The shape that a tensor of dims names; a scalar -1 is an unknown rank.
Shape shape_of(const Tensor& dims);
// A shape attribute.
Shape shape_attr(const Node& node, const char* attr);

// Copies elements of any dtype but handles; the room has strings that are valid.
void copy_elements(TF_DataType dtype, void* out, std::int64_t at, const void* in,
                   std::int64_t from, std::int64_t count);
// Zeros, empty strings or no variants.
void blank(const Tensor& out);
void blank_elements(TF_DataType dtype, void* out, std::int64_t at, std::int64_t count);

// An element of a list.
class Item {
 public:
  DimsView dims() const { return {view_.dims, static_cast<std::size_t>(view_.rank)}; }
  int rank() const { return view_.rank; }
  std::int64_t dim(int k) const { return view_.dims[k]; }
  std::int64_t count() const { return view_.count; }
  const void* data() const { return view_.data; }
  // Of a new one.
  void* write() const { return view_.data; }

 private:
  friend class List;
  DS_View view_ = DS_VIEW_INIT;
};

// A list of a call. Reading one that is an input; changing one that is an output.
class List {
 public:
  static List input(const Call& call, int i) {
    List out(call.context());
    out.list_ = const_cast<DS_TensorList*>(DS_ViewList(call.context(), i, &out.facts_));
    return out.checked();
  }
  // Output `i`: the list of input `input`, for changing.
  static List change(const Call& call, int i, int input) {
    List out = List::input(call, input);
    out.list_ = DS_ChangeList(call.context(), i, input);
    return out.checked();
  }
  // Output `i`: a new list of unset elements.
  static List make(const Call& call, int i, TF_DataType dtype, const Shape& shape,
                   std::int64_t length, std::int64_t limit = -1);

  std::int64_t length() const { return facts_.length; }
  std::int64_t limit() const { return facts_.limit; }
  TF_DataType dtype() const { return facts_.dtype; }
  Shape shape() const {
    if (facts_.rank < 0) return std::nullopt;
    return Dims(facts_.dims, facts_.dims + facts_.rank);
  }
  // Whether the element is set; then `item` shows it.
  bool view(std::int64_t k, Item* item) const {
    return DS_ViewListItem(list_, k, &item->view_) != 0;
  }
  void resize(std::int64_t length) {
    check(DS_ResizeList(context_, list_, length) != 0);
    facts_.length = length;
  }
  void set(std::int64_t k, int input) { check(DS_SetListItem(context_, list_, k, input) != 0); }
  Item make_item(std::int64_t k, DimsView dims);
  // Element k becomes that of another list of the dtype.
  void share(std::int64_t k, const List& from, std::int64_t from_k) {
    check(DS_ShareListItem(context_, list_, k, from.list_, from_k) != 0);
  }
  void output(int i, std::int64_t k) const { check(DS_OutputListItem(context_, i, list_, k) != 0); }

  // Fails unless the node is for such elements; `index` unless it is one of the list's.
  void check_dtype(TF_DataType wanted) const;
  void check_index(std::int64_t index) const;
  void check_item(DimsView dims) const;
  // Whether an element of these dims is of the declared shape.
  bool takes(DimsView dims) const;
  // The shape of unset elements: declared, or else that of elements that are set.
  Dims known_shape(const Shape& wanted) const;

 private:
  explicit List(TF_OpKernelContext* context) : context_(context) {}
  static void check(bool holds) {
    if (!holds) throw AlreadyFailed();
  }
  List checked() const {
    check(list_ != nullptr);
    return *this;
  }

  TF_OpKernelContext* context_;
  DS_TensorList* list_ = nullptr;
  DS_ListFacts facts_ = DS_LIST_FACTS_INIT;
  std::shared_ptr<const Dims> dims_;  // of a new list: what facts_ shows
};

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_CORE_LISTS_H_

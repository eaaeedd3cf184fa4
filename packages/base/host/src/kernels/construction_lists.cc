// Reading attributes that are lists: see drystone/kernels.h.
#include <algorithm>
#include <cstring>
#include <memory>
#include <type_traits>

#include "kernels/construction.h"
#include "kernels/tensor_proto.h"

using namespace drystone::host;
using namespace drystone::host::kernels;
using drystone::sdk::AttrKind;
using drystone::sdk::AttrView;

namespace {

// Without the attribute these fail with INVALID_ARGUMENT, as in TensorFlow; lists of strings and
// tensors do not, there either.
AttrView numbers_attr(TF_OpKernelConstruction* ctx, const char* name) {
  try {
    return find_attr(ctx, name);
  } catch (const Failure& failure) {
    fail(TF_INVALID_ARGUMENT, failure.message);
  }
}

// The list. One with elements must have elements of the kind that was asked for.
template <class Element>
std::vector<Element> list_of(TF_OpKernelConstruction* ctx, const char* name, const char* kind,
                             std::vector<Element> (AttrView::*get)() const) {
  constexpr bool kNumbers = std::is_arithmetic_v<Element> || std::is_enum_v<Element>;
  const AttrView attr = kNumbers ? numbers_attr(ctx, name) : find_attr(ctx, name);
  if (attr.kind() != AttrKind::list) wrong_kind(ctx, name, kind);
  std::vector<Element> out = (attr.*get)();
  bool has_elements = false;
  drystone::wire::Reader outer(attr.bytes());
  while (outer.next()) has_elements = has_elements || !outer.bytes().empty();
  if (out.empty() && has_elements) wrong_kind(ctx, name, kind);
  return out;
}

template <class T>
std::size_t room(std::size_t count, int max, T* values) {
  if (max < 0) fail(TF_INVALID_ARGUMENT, "max_vals must not be negative");
  const std::size_t fits = std::min(count, static_cast<std::size_t>(max));
  if (fits != 0) require(values, "vals");
  return fits;
}

template <class Element, class T>
void copy(const std::vector<Element>& list, T* values, int max) {
  const std::size_t count = room(list.size(), max, values);
  for (std::size_t k = 0; k < count; ++k) values[k] = static_cast<T>(list[k]);
}

}  // namespace

extern "C" {

void TF_OpKernelConstruction_GetAttrTypeList(TF_OpKernelConstruction* ctx, const char* attr_name,
                                             TF_DataType* vals, int max_vals, TF_Status* status) {
  guarded(status, __func__, [&] {
    copy(list_of(ctx, attr_name, "a list of types", &AttrView::types), vals, max_vals);
  });
}

void TF_OpKernelConstruction_GetAttrInt32List(TF_OpKernelConstruction* ctx, const char* attr_name,
                                              int32_t* vals, int max_vals, TF_Status* status) {
  guarded(status, __func__, [&] {
    const auto list = list_of(ctx, attr_name, "a list of ints", &AttrView::integers);
    for (const std::int64_t value : list) {
      if (value != static_cast<int32_t>(value)) {
        wrong_kind(ctx, attr_name, "a list of ints that fit 32 bits");
      }
    }
    copy(list, vals, max_vals);
  });
}

void TF_OpKernelConstruction_GetAttrInt64List(TF_OpKernelConstruction* ctx, const char* attr_name,
                                              int64_t* vals, int max_vals, TF_Status* status) {
  guarded(status, __func__, [&] {
    copy(list_of(ctx, attr_name, "a list of ints", &AttrView::integers), vals, max_vals);
  });
}

void TF_OpKernelConstruction_GetAttrFloatList(TF_OpKernelConstruction* ctx, const char* attr_name,
                                              float* vals, int max_vals, TF_Status* status) {
  guarded(status, __func__, [&] {
    copy(list_of(ctx, attr_name, "a list of floats", &AttrView::reals), vals, max_vals);
  });
}

void TF_OpKernelConstruction_GetAttrBoolList(TF_OpKernelConstruction* ctx, const char* attr_name,
                                             TF_Bool* vals, int max_vals, TF_Status* status) {
  guarded(status, __func__, [&] {
    copy(list_of(ctx, attr_name, "a list of bools", &AttrView::booleans), vals, max_vals);
  });
}

void TF_OpKernelConstruction_GetAttrStringList(TF_OpKernelConstruction* ctx, const char* attr_name,
                                               char** values, size_t* lengths, int max_values,
                                               void* storage, size_t storage_size,
                                               TF_Status* status) {
  guarded(status, __func__, [&] {
    const auto list = list_of(ctx, attr_name, "a list of strings", &AttrView::strings);
    const std::size_t count = room(list.size(), max_values, values);
    if (count != 0) require(lengths, "lengths");
    std::size_t total = 0;
    for (std::size_t k = 0; k < count; ++k) total += list[k].size();
    if (total > storage_size) {
      fail(TF_INVALID_ARGUMENT, "the strings take " + std::to_string(total) +
                                    " bytes, storage_size is " + std::to_string(storage_size));
    }
    if (total != 0) require(storage, "storage");
    char* at = static_cast<char*>(storage);
    for (std::size_t k = 0; k < count; ++k) {
      values[k] = at;
      lengths[k] = list[k].size();
      if (!list[k].empty()) std::memcpy(at, list[k].data(), list[k].size());
      if (at != nullptr) at += list[k].size();
    }
  });
}

void TF_OpKernelConstruction_GetAttrTensorList(TF_OpKernelConstruction* ctx, const char* attr_name,
                                               TF_Tensor** vals, int max_values,
                                               TF_Status* status) {
  guarded(status, __func__, [&] {
    const auto list = list_of(ctx, attr_name, "a list of tensors", &AttrView::tensors);
    const std::size_t count = room(list.size(), max_values, vals);
    std::vector<std::unique_ptr<TF_Tensor>> tensors;
    for (std::size_t k = 0; k < count; ++k) {
      tensors.emplace_back(tensor_from_proto(list[k].bytes()));
    }
    for (std::size_t k = 0; k < count; ++k) vals[k] = tensors[k].release();
  });
}

}  // extern "C"

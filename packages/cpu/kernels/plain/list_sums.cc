// Zeros and sums of variants that are tensor lists. Of other variants, and of lists of lists, the
// reference kernels know more: UNIMPLEMENTED leaves them to these.
#include <algorithm>
#include <cstring>

#include "core/family.h"
#include "core/lists.h"
#include "plain/combine.h"

namespace drystone::cpu {
namespace {

List list_at(const Call& call, int i) {
  if (DS_InputIsList(call.context(), i) == 0) fail(TF_UNIMPLEMENTED, "the variant is no tensor list");
  List out = List::input(call, i);
  if (out.dtype() == TF_VARIANT) fail(TF_UNIMPLEMENTED, "lists of variants are not calculated with");
  return out;
}

void zeros_like(Call& call) {
  const List in = list_at(call, 0);
  List out = List::make(call, 0, in.dtype(), in.shape(), in.length(), in.limit());
  for (std::int64_t k = 0; k < in.length(); ++k) {
    Item item;
    if (!in.view(k, &item)) continue;
    blank_elements(in.dtype(), out.make_item(k, item.dims()).write(), 0, item.count());
  }
}

// Adds element k of a list to that of the sum; an unset one counts as zero.
void accumulate(List* total, const List& more, std::int64_t k, Combine add) {
  Item left;
  Item right;
  if (!more.view(k, &right)) return;
  if (!total->view(k, &left)) return total->share(k, more, k);
  if (!std::ranges::equal(left.dims(), right.dims())) {
    fail(TF_INVALID_ARGUMENT, "elements of lists to be added must have equal shapes, got " +
                                  text(left.dims()) + " and " + text(right.dims()));
  }
  const auto bytes = static_cast<std::size_t>(left.count()) * element_size(total->dtype());
  std::vector<char> kept(bytes);  // the element goes when its place gets another
  if (bytes != 0) std::memcpy(kept.data(), left.data(), bytes);
  const Item out = total->make_item(k, Dims(left.dims().begin(), left.dims().end()));
  if (bytes != 0) std::memcpy(out.write(), kept.data(), bytes);
  add(out.write(), right.data(), right.count(), 1);
}

void sum(Call& call) {
  const List first = list_at(call, 0);
  const Combine add = combine_of(Operation::kAdd, first.dtype());
  for (int i = 1; i < call.inputs(); ++i) {
    const List other = list_at(call, i);
    require(other.length() == first.length() && other.dtype() == first.dtype(),
            "tensor lists to be added must have the same length and dtype");
  }
  if (add == nullptr) fail(TF_UNIMPLEMENTED, "elements of this dtype are not added");
  List total = List::make(call, 0, first.dtype(), first.shape(), first.length(), first.limit());
  for (int i = 0; i < call.inputs(); ++i) {
    const List more = list_at(call, i);
    for (std::int64_t k = 0; k < first.length(); ++k) accumulate(&total, more, k, add);
  }
}

}  // namespace

const Family registered([] {
  add<zeros_like>("ZerosLike", {{"T", {TF_VARIANT}}});
  add<sum>("AddN", {{"T", {TF_VARIANT}}});
});

}  // namespace drystone::cpu

// Operations on the sets in the last dimension of tensors, dense or sparse.
#include <algorithm>
#include <optional>

#include "core/family.h"
#include "core/text.h"
#include "plain/sparse.h"

namespace drystone::cpu {
namespace {

using Place = std::span<const std::int64_t>;

// Elements of sets as they are compared: every integer fits 64 bits.
template <class E>
E element_at(const Tensor& tensor, std::int64_t k) {
  if constexpr (std::is_same_v<E, std::string_view>) return text_of(tensor, k);
  else return integer_at(tensor, k);
}

void put(const Tensor& out, std::int64_t k, std::string_view value) {
  set_text(out.write<TF_TString>() + k, value);
}
void put(const Tensor& out, std::int64_t k, std::int64_t value) {
  switch (out.dtype()) {
    case TF_INT8: case TF_UINT8: out.write<std::uint8_t>()[k] = static_cast<std::uint8_t>(value); return;
    case TF_INT16: case TF_UINT16: out.write<std::uint16_t>()[k] = static_cast<std::uint16_t>(value); return;
    case TF_INT32: out.write<std::int32_t>()[k] = static_cast<std::int32_t>(value); return;
    default: out.write<std::int64_t>()[k] = value;
  }
}

// The sets of a tensor: distinct elements with the place of their set, by place and then in order.
template <class E>
class Sets {
 public:
  struct Entry {
    Place place;
    E value;
    bool operator==(const Entry& b) const { return std::ranges::equal(place, b.place) && value == b.value; }
    bool operator<(const Entry& b) const {
      const auto order = std::lexicographical_compare_three_way(place.begin(), place.end(),
                                                                b.place.begin(), b.place.end());
      return order < 0 || (order == 0 && value < b.value);
    }
  };

  explicit Sets(const Tensor& dense) {
    require(dense.rank() >= 1, "a tensor of sets must not be a scalar");
    lead_.assign(dense.dims().begin(), dense.dims().end() - 1);
    const std::int64_t each = dense.dim(dense.rank() - 1);
    const std::int64_t sets = each == 0 ? 0 : dense.count() / each;
    const std::size_t rank = lead_.size();
    places_.resize(static_cast<std::size_t>(sets) * rank);
    for (std::int64_t set = 0; set < sets; ++set) {
      std::int64_t* place = places_.data() + static_cast<std::size_t>(set) * rank;
      for (std::int64_t d = static_cast<std::int64_t>(rank) - 1, rest = set; d >= 0; --d) {
        const std::int64_t dim = lead_[static_cast<std::size_t>(d)];
        place[d] = rest % dim;
        rest /= dim;
      }
      for (std::int64_t k = set * each; k < (set + 1) * each; ++k) {
        entries_.push_back({{place, rank}, element_at<E>(dense, k)});
      }
    }
    settle();
  }
  Sets(const Sparse& sparse, bool validate) {
    sparse.check_elements();
    require(sparse.rank() >= 1, "a tensor of sets must have a rank");
    sparse.check_inside();
    const auto rank = static_cast<std::size_t>(sparse.rank());
    const auto row = [&](std::int64_t k) { return Place(sparse.row(k), rank); };
    for (std::int64_t k = 1; validate && k < sparse.count(); ++k) {
      require(std::ranges::lexicographical_compare(row(k - 1), row(k)),
              "indices must be in row-major order, and not be repeated");
    }
    lead_.assign(sparse.dims.begin(), sparse.dims.end() - 1);
    for (std::int64_t k = 0; k < sparse.count(); ++k) {
      entries_.push_back({{sparse.row(k), rank - 1}, element_at<E>(sparse.values, k)});
    }
    settle();
  }

  Sets(const Sets&) = delete;  // its entries point into it
  Sets& operator=(const Sets&) = delete;
  ~Sets() = default;

  const std::vector<Entry>& entries() const { return entries_; }
  const Dims& lead() const { return lead_; }

 private:
  void settle() {
    std::ranges::sort(entries_, std::less<>());
    entries_.erase(std::unique(entries_.begin(), entries_.end()), entries_.end());
  }

  Dims lead_;
  Dims places_;  // of a dense tensor's sets
  std::vector<Entry> entries_;
};

template <class E>
std::vector<typename Sets<E>::Entry> combined(const std::string& operation, const Sets<E>& a,
                                              const Sets<E>& b) {
  require(a.lead() == b.lead(), "both tensors must have the same leading dimensions");
  std::vector<typename Sets<E>::Entry> out;
  const auto& x = a.entries();
  const auto& y = b.entries();
  const auto into = std::back_inserter(out);
  const std::less<> less;
  if (operation == "a-b") std::ranges::set_difference(x, y, into, less);
  else if (operation == "b-a") std::ranges::set_difference(y, x, into, less);
  else if (operation == "intersection") std::ranges::set_intersection(x, y, into, less);
  else if (operation == "union") std::ranges::set_union(x, y, into, less);
  else fail(TF_INVALID_ARGUMENT, "set_operation must be a-b, b-a, intersection or union");
  return out;
}

enum class Form { kDense, kDenseAndSparse, kSparse };

template <class E, Form kForm>
class SetOperation {
 public:
  explicit SetOperation(const Node& node)
      : operation_(node.string("set_operation")), validates_(node.boolean("validate_indices")) {}
  void compute(Call& call) const {
    constexpr bool kIsSparse = kForm == Form::kSparse;
    const int second = kIsSparse ? 3 : 1;
    std::optional<Sparse> x;  // whose rows the sets refer to
    std::optional<Sparse> y;
    if constexpr (kIsSparse) x.emplace(call.input(0), call.input(1), call.input(2));
    if constexpr (kForm != Form::kDense) {
      y.emplace(call.input(second), call.input(second + 1), call.input(second + 2));
    }
    const Sets<E> a = x ? Sets<E>(*x, validates_) : Sets<E>(call.input(0));
    const Sets<E> b = y ? Sets<E>(*y, validates_) : Sets<E>(call.input(1));
    write(call, a.lead(), combined(operation_, a, b));
  }

 private:
  static void write(const Call& call, const Dims& lead,
                    const std::vector<typename Sets<E>::Entry>& entries) {
    const auto count = static_cast<std::int64_t>(entries.size());
    const auto rank = static_cast<std::int64_t>(lead.size()) + 1;
    auto* indices = call.output(0, {{count, rank}}).template write<std::int64_t>();
    const Tensor values = call.output(1, {{count}});
    std::int64_t largest = 0;
    std::int64_t member = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      const auto& entry = entries[static_cast<std::size_t>(k)];
      const bool goes_on = k > 0 && std::ranges::equal((&entry)[-1].place, entry.place);
      member = goes_on ? member + 1 : 0;
      largest = std::max(largest, member + 1);
      indices = std::ranges::copy(entry.place, indices).out;
      *indices++ = member;
      put(values, k, entry.value);
    }
    auto* shape = call.output(2, {{rank}}).template write<std::int64_t>();
    *std::ranges::copy(lead, shape).out = largest;
  }

  std::string operation_;
  bool validates_;
};

template <class E>
class SetSize {
 public:
  explicit SetSize(const Node& node) : validates_(node.boolean("validate_indices")) {}
  void compute(Call& call) const {
    const Sparse x(call.input(0), call.input(1), call.input(2));
    const Sets<E> sets(x, validates_);
    check_dims(sets.lead());
    const Tensor out = call.output(0, sets.lead());
    std::fill_n(out.write<std::int32_t>(), out.count(), 0);
    for (const auto& entry : sets.entries()) {
      std::int64_t at = 0;
      for (std::size_t d = 0; d < sets.lead().size(); ++d) at = at * sets.lead()[d] + entry.place[d];
      ++out.write<std::int32_t>()[at];
    }
  }

 private:
  bool validates_;
};

template <class E>
void add_for(const std::vector<TF_DataType>& dtypes) {
  const std::vector<Constraint> types = {{"T", dtypes}};
  add<SetOperation<E, Form::kDense>>("DenseToDenseSetOperation", types);
  add<SetOperation<E, Form::kDenseAndSparse>>("DenseToSparseSetOperation", types);
  add<SetOperation<E, Form::kSparse>>("SparseToSparseSetOperation", types);
  add<SetSize<E>>("SetSize", types);
}

}  // namespace

const Family registered([] {
  add_for<std::int64_t>({TF_INT8, TF_INT16, TF_INT32, TF_INT64, TF_UINT8, TF_UINT16});
  add_for<std::string_view>({TF_STRING});
});

}  // namespace drystone::cpu

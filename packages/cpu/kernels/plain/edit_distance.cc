// The edit distance between the sequences in the last dimension of two sparse tensors.
#include <algorithm>
#include <limits>
#include <numeric>

#include "core/family.h"
#include "core/text.h"
#include "plain/sparse.h"

namespace drystone::cpu {
namespace {

// Sequences of a sparse tensor by their place in a dense tensor of the leading dims; elements of one
// are in the order in which they came.
template <class E>
class Sequences {
 public:
  Sequences(const Sparse& x, const Dims& lead) : x_(x), lead_(lead) {
    for (std::int64_t k = 0; k < x.count(); ++k) {
      for (std::size_t d = 0; d < lead.size(); ++d) {
        require(x.row(k)[d] >= 0 && x.row(k)[d] < lead[d], "indices must lie in both tensors' shape");
      }
      order_.emplace_back(place_of(k), k);
    }
    std::ranges::sort(order_);
  }
  // The first place from `next` on that has elements; -1 if there is none.
  std::int64_t place() const { return next_ < order_.size() ? order_[next_].first : -1; }
  // The elements there; `next` moves behind them.
  std::vector<E> take(std::int64_t place) {
    std::vector<E> out;
    for (; this->place() == place; ++next_) out.push_back(element(order_[next_].second));
    return out;
  }

 private:
  std::int64_t place_of(std::int64_t k) const {
    std::int64_t out = 0;
    for (std::size_t d = 0; d < lead_.size(); ++d) out = out * lead_[d] + x_.row(k)[d];
    return out;
  }
  E element(std::int64_t k) const {
    if constexpr (std::is_same_v<E, std::string_view>) return text_of(x_.values, k);
    else if constexpr (std::is_same_v<E, std::int64_t>) return integer_at(x_.values, k);
    else return x_.values.as<E>()[k];
  }

  const Sparse& x_;
  const Dims& lead_;
  std::vector<std::pair<std::int64_t, std::int64_t>> order_;  // place and number
  std::size_t next_ = 0;
};

// Insertions, deletions and substitutions that make `b` of `a` (Levenshtein 1966).
template <class E>
std::int64_t distance(const std::vector<E>& a, const std::vector<E>& b) {
  std::vector<std::int64_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (const E& x : a) {
    std::int64_t diagonal = row[0]++;
    for (std::size_t j = 1; j < row.size(); ++j) {
      const std::int64_t best =
          std::min({row[j] + 1, row[j - 1] + 1, diagonal + (x == b[j - 1] ? 0 : 1)});
      diagonal = std::exchange(row[j], best);
    }
  }
  return row.back();
}

template <class E>
class EditDistance {
 public:
  explicit EditDistance(const Node& node) : normalizes_(node.boolean("normalize")) {}
  void compute(Call& call) const {
    const Sparse guess(call.input(0), call.input(1), call.input(2));
    const Sparse truth(call.input(3), call.input(4), call.input(5));
    guess.check_elements();
    truth.check_elements();
    require(guess.rank() == truth.rank() && guess.rank() >= 2,
            "both tensors must have one rank, 2 or more");
    Dims lead(guess.dims.begin(), guess.dims.end() - 1);
    for (std::size_t d = 0; d < lead.size(); ++d) lead[d] = std::max(lead[d], truth.dims[d]);
    check_dims(lead);
    Sequences<E> guesses(guess, lead);
    Sequences<E> truths(truth, lead);
    const Tensor out = call.output(0, lead);
    std::fill_n(out.write<float>(), out.count(), 0.0F);
    while (guesses.place() >= 0 || truths.place() >= 0) {
      const bool is_both = guesses.place() >= 0 && truths.place() >= 0;
      const std::int64_t place = is_both ? std::min(guesses.place(), truths.place())
                                         : std::max(guesses.place(), truths.place());
      const std::vector<E> wanted = truths.take(place);
      out.write<float>()[place] = measure(distance(guesses.take(place), wanted), wanted.size());
    }
  }

 private:
  float measure(std::int64_t edits, std::size_t size) const {
    if (!normalizes_) return static_cast<float>(edits);
    if (size == 0) return std::numeric_limits<float>::infinity();
    return static_cast<float>(static_cast<double>(edits) / static_cast<double>(size));
  }

  bool normalizes_;
};

}  // namespace

const Family registered([] {
  const std::vector<TF_DataType> integers = {TF_INT8,  TF_INT16,  TF_INT32,
                                             TF_INT64, TF_UINT8, TF_UINT16};
  add<EditDistance<std::int64_t>>("EditDistance", {{"T", integers}});
  add<EditDistance<std::string_view>>("EditDistance", {{"T", {TF_STRING}}});
  add<EditDistance<float>>("EditDistance", {{"T", {TF_FLOAT}}});
  add<EditDistance<double>>("EditDistance", {{"T", {TF_DOUBLE}}});
});

}  // namespace drystone::cpu

// Products of matrices, and what is made of them: Einsum.
#include <algorithm>
#include <cctype>
#include <map>

#include "joining.h"
#include "moving.h"

namespace drystone::gpu {
namespace {

// Matrices in batches, of which an operand may have one for many.
int multiply(Building& b, int x, int y, bool transposes_x, bool transposes_y) {
  const Dims a = b.graph.at(x).dims, c = b.graph.at(y).dims;
  if (a.size() < 2 || c.size() < 2) throw Refused("no matrices");
  Layer layer = {};
  layer.kind = LayerKind::product;
  Product& p = layer.product;
  p.transpose_a = transposes_x;
  p.transpose_b = transposes_y;
  p.type = b.graph.at(x).type;
  p.tf32 = b.is_approximate();
  const Dims batch_a(a.begin(), a.end() - 2), batch_c(c.begin(), c.end() - 2);
  Dims dims = broadcast({batch_a, batch_c});
  const std::int64_t count = count_of(dims), count_a = count_of(batch_a), count_c = count_of(batch_c);
  const auto repeated = [&](int value, const Dims& own) {
    Dims all = dims;
    all.insert(all.end(), own.end() - 2, own.end());
    return spread(b, value, all);
  };
  if (count_a != count && count_a != 1) return multiply(b, repeated(x, a), y, transposes_x, transposes_y);
  if (count_c != count && count_c != 1) return multiply(b, x, repeated(y, c), transposes_x, transposes_y);
  p.batch = count;
  p.rows = a[a.size() - (p.transpose_a ? 1 : 2)];
  p.inner = a[a.size() - (p.transpose_a ? 2 : 1)];
  p.columns = c[c.size() - (p.transpose_b ? 2 : 1)];
  if (c[c.size() - (p.transpose_b ? 1 : 2)] != p.inner) throw Refused("matrices that do not fit");
  p.a_step = count_a == 1 ? 0 : p.rows * p.inner;
  p.b_step = count_c == 1 ? 0 : p.inner * p.columns;
  layer.channels = p.columns;
  dims.insert(dims.end(), {p.rows, p.columns});
  return b.graph.add(layer, {x, y}, p.type, dims);
}

void product(Building& b) {
  const bool batched = b.op() != "MatMul";
  const Dims &x = b.dims(0), &y = b.dims(1);
  if (b.op() == "BatchMatMul" && x.size() == y.size() && x.size() > 2 &&
      !std::equal(x.begin(), x.end() - 2, y.begin())) {
    throw Refused("batches of other shapes");  // which the newer op repeats
  }
  b.out[0] = multiply(b, b.in[0], b.in[1], b.flag(batched ? "adj_x" : "transpose_a"),
                      b.flag(batched ? "adj_y" : "transpose_b"));
}

// ---- Einsum ----------------------------------------------------------------------------------

// Letters; the dimensions of "..." are numbers below 0, counted from the right.
using Labels = std::vector<int>;

bool has(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

Labels unique(const Labels& labels) {
  Labels found;
  for (int label : labels) {
    if (!has(found, label)) found.push_back(label);
  }
  return found;
}

Labels together(const std::vector<Labels>& all) {
  Labels found;
  for (const Labels& one : all) found.insert(found.end(), one.begin(), one.end());
  return found;
}

struct Term {
  int value;
  Labels labels;
};

class Equation {
 public:
  explicit Equation(Building& b) : b_(b) {
    std::string text(b.text("equation", ""));
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    const std::size_t arrow = text.find("->"), comma = text.find(',');
    if (arrow == std::string::npos || b.in.size() > 2 || b.in.empty() ||
        (comma < arrow) != (b.in.size() == 2)) {
      throw Refused("an equation of other operands");
    }
    const std::size_t first = std::min(arrow, comma);
    take(0, text.substr(0, first));
    if (b.in.size() == 2) take(1, text.substr(first + 1, arrow - first - 1));
    output_ = labels_of(text.substr(arrow + 2), widest_);
    for (int label : output_) {
      if (sizes_.count(label) == 0) throw Refused("an output label of no operand");
    }
  }

  int result() {
    for (Term& term : terms_) diagonal(&term);
    const Labels wanted = unique(output_);
    Term found = terms_.size() == 1 ? terms_[0] : pair(wanted);
    sum(&found, wanted);
    order(&found, wanted);
    return on_diagonal(found.value);
  }

 private:
  static Labels labels_of(const std::string& term, std::size_t covered) {
    Labels found;
    const std::size_t dots = term.find("...");
    for (std::size_t k = 0; k < term.size(); ++k) {
      if (k == dots) {
        for (std::size_t j = covered; j > 0; --j) found.push_back(-static_cast<int>(j));
        k += 2;
      } else if (std::isalpha(static_cast<unsigned char>(term[k])) == 0) {
        throw Refused("an equation of other signs than letters");
      } else {
        found.push_back(term[k]);
      }
    }
    return found;
  }

  void take(std::size_t input, const std::string& term) {
    const Dims& dims = b_.dims(input);
    const bool has_dots = term.find("...") != std::string::npos;
    const std::size_t letters = term.size() - (has_dots ? 3 : 0);
    if (dims.size() < letters || (dims.size() > letters && !has_dots))
      throw Refused("an operand of another rank than its labels");
    const std::size_t covered = dims.size() - letters;
    widest_ = std::max(widest_, covered);
    terms_.push_back({b_.in[input], labels_of(term, covered)});
    for (std::size_t k = 0; k < dims.size(); ++k) {
      const int label = terms_.back().labels[k];
      std::int64_t& size = sizes_.try_emplace(label, dims[k]).first->second;
      if (size != dims[k] && (label >= 0 || (size != 1 && dims[k] != 1)))
        throw Refused("a label of two sizes");
      if (size == 1) size = dims[k];
    }
  }

  Dims dims_of(const Labels& labels) const {
    Dims dims;
    for (int label : labels) dims.push_back(sizes_.at(label));
    return dims;
  }

  // A label that comes twice is taken where both are equal.
  void diagonal(Term* term) {
    const Labels labels = unique(term->labels);
    if (labels.size() == term->labels.size()) return;
    const Dims from = b_.graph.at(term->value).dims;
    const std::vector<std::int64_t> strides = strides_of(from);
    Dims dims(labels.size()), walk(labels.size(), 0);
    for (std::size_t k = 0; k < from.size(); ++k) {
      const auto at = static_cast<std::size_t>(
          std::find(labels.begin(), labels.end(), term->labels[k]) - labels.begin());
      dims[at] = from[k];
      walk[at] += strides[k];
    }
    *term = {moved(b_, term->value, move_of(dims, walk, strides_of(dims)), dims), labels};
  }

  // Without the labels that are not `kept`.
  void sum(Term* term, const Labels& kept) {
    std::vector<bool> gone;
    Labels rest;
    for (int label : term->labels) {
      gone.push_back(!has(kept, label));
      if (!gone.back()) rest.push_back(label);
    }
    if (rest.size() == term->labels.size()) return;
    *term = {joined(b_, term->value, gone, false, Join::sum), rest};
  }

  void order(Term* term, const Labels& wanted) {
    std::vector<std::int64_t> axes;
    for (int label : wanted) {
      axes.push_back(std::find(term->labels.begin(), term->labels.end(), label) -
                     term->labels.begin());
    }
    *term = {turned(b_, term->value, axes), wanted};
  }

  // The two operands' product over what they share.
  Term pair(const Labels& output) {
    Labels both, one, other;
    for (int label : output) {
      const bool in_first = has(terms_[0].labels, label), in_second = has(terms_[1].labels, label);
      (in_first && in_second ? both : in_first ? one : other).push_back(label);
    }
    if (!one.empty() && !other.empty() && output == together({both, other, one})) {
      std::swap(one, other);  // as the result lies
      std::swap(terms_[0], terms_[1]);
    }
    Term &x = terms_[0], &y = terms_[1];
    Labels inner;
    for (int label : x.labels) {
      if (has(y.labels, label) && !has(output, label)) inner.push_back(label);
    }
    sum(&x, together({both, one, inner}));
    sum(&y, together({both, other, inner}));
    const Labels labels = together({both, one, other});
    if (inner.empty()) return {each_with_each(both, one, other), labels};
    const bool flips_x = !one.empty() && has(one, x.labels.back());
    const bool flips_y = has(inner, y.labels.back());
    order(&x, flips_x ? together({both, inner, one}) : together({both, one, inner}));
    order(&y, flips_y ? together({both, other, inner}) : together({both, inner, other}));
    const int a = matrices(x, both, flips_x ? inner : one, flips_x ? one : inner);
    const int c = matrices(y, both, flips_y ? other : inner, flips_y ? inner : other);
    return {b_.graph.reshaped(multiply(b_, a, c, flips_x, flips_y), dims_of(labels)), labels};
  }

  // As rows and columns; what stands for many in "..." does so by being repeated.
  int matrices(const Term& term, const Labels& batch, const Labels& rows, const Labels& columns) {
    Dims dims = b_.graph.at(term.value).dims;
    dims.resize(batch.size());
    for (int label : together({rows, columns})) dims.push_back(sizes_.at(label));
    const int whole = spread(b_, term.value, dims);
    dims.resize(batch.size());
    dims.push_back(count_of(dims_of(rows)));
    dims.push_back(count_of(dims_of(columns)));
    return b_.graph.reshaped(whole, dims);
  }

  // Nothing is summed: the elements' products.
  int each_with_each(const Labels& both, const Labels& one, const Labels& other) {
    Term &x = terms_[0], &y = terms_[1];
    order(&x, together({both, one}));
    order(&y, together({both, other}));
    Dims left = b_.graph.at(x.value).dims, right = b_.graph.at(y.value).dims;
    left.insert(left.end(), other.size(), 1);
    right.insert(right.begin() + static_cast<std::ptrdiff_t>(both.size()), one.size(), 1);
    const int a = b_.graph.reshaped(x.value, left), c = b_.graph.reshaped(y.value, right);
    return b_.compute(Code::mul, {a, c}, b_.graph.at(x.value).type);
  }

  // Where the output repeats labels: zeros, but for the places where these are equal.
  int on_diagonal(int value) {
    const Labels labels = unique(output_);
    if (labels.size() == output_.size()) return value;
    const Dims dims = dims_of(output_), from = dims_of(labels);
    const std::vector<std::int64_t> strides = strides_of(dims);
    std::vector<std::int64_t> walk(labels.size(), 0);
    for (std::size_t k = 0; k < output_.size(); ++k) {
      walk[static_cast<std::size_t>(std::find(labels.begin(), labels.end(), output_[k]) -
                                    labels.begin())] += strides[k];
    }
    Moves detail;
    detail.fills = true;
    detail.parts.push_back(move_of(from, strides_of(from), walk));
    return b_.graph.add(std::move(detail), {value}, b_.graph.at(value).type, dims);
  }

  Building& b_;
  std::size_t widest_ = 0;
  std::vector<Term> terms_;
  Labels output_;
  std::map<int, std::int64_t> sizes_;
};

void einsum(Building& b) { b.out[0] = Equation(b).result(); }

}  // namespace

std::vector<Rule> product_rules() {
  return {
      {"MatMul", product, kFloats, 0, nullptr, true},
      {"BatchMatMul", product, kFloats, 0, nullptr, true},
      {"BatchMatMulV2", product, kFloats, 0, nullptr, true},
      {"Einsum", einsum, kFloats, 0, nullptr, true},
  };
}

}  // namespace drystone::gpu

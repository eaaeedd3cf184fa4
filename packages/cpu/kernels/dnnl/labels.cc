// Einsum's equations: see dnnl/labels.h.
#include "dnnl/labels.h"

#include <algorithm>

namespace drystone::cpu::dnnl_part {
namespace {

constexpr const char* kMark = "...";

std::string without_dots(std::string term) {
  const std::size_t at = term.find(kMark);
  return at == std::string::npos ? term : term.erase(at, 3);
}

bool is_letters(const std::string& term) {
  return std::ranges::all_of(
      term, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

Labels labels_of(const std::string& term, std::int64_t covered) {
  const std::size_t at = std::min(term.find(kMark), term.size());
  Labels out(term.begin(), term.begin() + static_cast<std::ptrdiff_t>(at));
  if (at == term.size()) return out;
  for (std::int64_t k = covered; k > 0; --k) out.push_back(kDots + static_cast<Label>(k));
  out.insert(out.end(), term.begin() + static_cast<std::ptrdiff_t>(at) + 3, term.end());
  return out;
}

}  // namespace

Equation::Equation(std::string equation, std::size_t operands) : text_(std::move(equation)) {
  std::erase(text_, ' ');
  is_sound_ = parse(operands);
}

bool Equation::parse(std::size_t operands) {
  const std::size_t arrow = text_.find("->");
  if (arrow == std::string::npos || operands > 2) return false;
  std::size_t begin = 0;
  while (true) {
    const std::size_t comma = std::min(text_.find(',', begin), arrow);
    terms_.push_back(text_.substr(begin, comma - begin));
    if (comma == arrow) break;
    begin = comma + 1;
  }
  if (terms_.size() != operands) return false;
  std::string known;
  for (const std::string& term : terms_) known += without_dots(term);
  terms_.push_back(text_.substr(arrow + 2));
  const std::string wanted = without_dots(terms_.back());
  return is_letters(known) && is_letters(wanted) &&
         std::ranges::all_of(wanted, [&](char c) { return known.find(c) != std::string::npos; });
}

std::vector<Labels> Equation::expand(const std::vector<Tensor>& operands) const {
  require(is_sound_, "equation must fit the operands and hold letters and '...'");
  std::vector<Labels> out;
  std::int64_t widest = 0;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const std::string letters = without_dots(terms_[k]);
    const std::int64_t covered = operands[k].rank() - static_cast<std::int64_t>(letters.size());
    require(covered == 0 || (covered > 0 && letters.size() != terms_[k].size()),
            "an operand of Einsum must have a dimension per label");
    out.push_back(labels_of(terms_[k], covered));
    widest = std::max(widest, covered);
  }
  out.push_back(labels_of(terms_.back(), widest));
  return out;
}

std::map<Label, std::int64_t> label_sizes(const std::vector<Labels>& terms,
                                          const std::vector<Tensor>& operands) {
  std::map<Label, std::int64_t> sizes;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    for (std::size_t d = 0; d < terms[k].size(); ++d) {
      const std::int64_t size = operands[k].dim(static_cast<int>(d));
      const auto [at, is_new] = sizes.emplace(terms[k][d], size);
      if (is_new) continue;
      const std::int64_t known = at->second;
      require(known == size || (at->first > kDots && (known == 1 || size == 1)),
              "a label of Einsum must stand for one size");
      if (known == 1) at->second = size;
    }
  }
  return sizes;
}

std::map<Label, std::int64_t> label_steps(const Labels& labels, DimsView dims,
                                          const std::map<Label, std::int64_t>& sizes) {
  std::map<Label, std::int64_t> out;
  std::int64_t step = 1;
  for (std::size_t k = labels.size(); k-- > 0;) {
    const bool stays = dims[k] == 1 && sizes.at(labels[k]) != 1;
    out[labels[k]] += stays ? 0 : step;
    step *= dims[k];
  }
  return out;
}

void Walk::add(std::int64_t dim, std::int64_t from_step, std::int64_t to_step) {
  if (dim == 1) return;
  const bool joins = !dims.empty() && from.back() == from_step * dim && to.back() == to_step * dim;
  if (joins) {
    dims.back() *= dim;
    from.back() = from_step;
    to.back() = to_step;
    return;
  }
  dims.push_back(dim);
  from.push_back(from_step);
  to.push_back(to_step);
}

void Walk::row(const float* x, float* y) const {
  const std::int64_t count = dims.back();
  const std::int64_t from_step = from.back();
  const std::int64_t to_step = to.back();
  if (to_step == 0) {
    double sum = 0;
    for (std::int64_t k = 0; k < count; ++k) sum += static_cast<double>(x[k * from_step]);
    *y += static_cast<float>(sum);
  } else if (from_step == 1 && to_step == 1) {
    std::copy_n(x, count, y);
  } else {
    for (std::int64_t k = 0; k < count; ++k) y[k * to_step] = x[k * from_step];
  }
}

// Where something is summed, y is 0 at first and rows are added.
void Walk::run(const float* x, float* y) const {
  if (std::ranges::find(dims, 0) != dims.end()) return;
  if (dims.empty()) {
    *y = *x;
    return;
  }
  const std::size_t rank = dims.size();
  Dims at(rank, 0);
  while (true) {
    row(x, y);
    std::size_t k = rank - 1;
    while (k-- > 0) {
      x += from[k];
      y += to[k];
      if (++at[k] < dims[k]) break;
      x -= from[k] * dims[k];
      y -= to[k] * dims[k];
      at[k] = 0;
    }
    if (k == static_cast<std::size_t>(-1)) return;
  }
}

}  // namespace drystone::cpu::dnnl_part

// Einsum of one or two operands: a batch of matrix products, between copies where the order of the
// dimensions asks for them.
#include <algorithm>
#include <optional>
#include <string_view>

#include "dnnl/entry.h"
#include "dnnl/labels.h"
#include "dnnl/primitive.h"

namespace drystone::cpu::dnnl_part {
namespace {

using Steps = std::map<Label, std::int64_t>;

// A run of labels that walk like one dimension.
struct Merged {
  std::int64_t size = 1;
  std::int64_t step = 0;
};

// Dimensions of an operand, or of the result, for the product: batch, then rows, then columns.
struct Matrix {
  Labels batch;
  Labels rows;
  Labels columns;
  Labels summed;
  Steps steps;
  std::optional<Walk> copy;  // between the tensor and the product's own order
  std::int64_t count = 0;    // elements in that order
};

struct Plan {
  Matrix a, b, y;
  bool is_swapped = false;
  std::unique_ptr<Primitive> primitive;
};

bool has(const Labels& labels, Label label) {
  return std::ranges::find(labels, label) != labels.end();
}

Labels unique(const Labels& labels) {
  Labels out;
  for (const Label label : labels) {
    if (!has(out, label)) out.push_back(label);
  }
  return out;
}

class Planner {
 public:
  Planner(std::vector<Labels> terms, const std::vector<Tensor>& operands, DimsView result,
          Steps sizes)
      : terms_(std::move(terms)), sizes_(std::move(sizes)) {
    for (std::size_t k = 0; k < operands.size(); ++k) {
      steps_.push_back(label_steps(terms_[k], operands[k].dims(), sizes_));
    }
    steps_.push_back(label_steps(terms_.back(), result, sizes_));
  }

  // The one operand's elements, on their way to the result.
  Walk alone() const {
    Walk out;
    for (const Label label : unique(terms_[1]))
      out.add(sizes_.at(label), steps_[0].at(label), steps_[1].at(label));
    for (const Label label : unique(terms_[0])) {
      if (!has(terms_[1], label)) out.add(sizes_.at(label), steps_[0].at(label), 0);
    }
    return out;
  }

  std::unique_ptr<Plan> pair() const {
    auto plan = std::make_unique<Plan>();
    const Labels output = unique(terms_[2]);
    // The result's last dimension becomes the product's columns.
    plan->is_swapped =
        !output.empty() && has(terms_[0], output.back()) && !has(terms_[1], output.back());
    const std::size_t first = plan->is_swapped ? 1 : 0;
    sort(*plan, unique(terms_[first]), unique(terms_[1 - first]), output);
    const bool repeats = output.size() != terms_[2].size();
    for (const bool copies : {false, true}) {
      plan->a.steps = steps_[first];
      plan->b.steps = steps_[1 - first];
      plan->y.steps = steps_[2];
      arrange(plan->a, copies, false);
      arrange(plan->b, copies, false);
      arrange(plan->y, copies || repeats, true);
      if (make(*plan, copies)) break;
    }
    return plan;
  }

 private:
  static void sort(Plan& plan, const Labels& a, const Labels& b, const Labels& output) {
    for (const Label label : output) {
      const bool in_a = has(a, label);
      const bool in_b = has(b, label);
      Labels& group = in_a && in_b ? plan.y.batch : in_a ? plan.y.rows : plan.y.columns;
      group.push_back(label);
    }
    plan.a.batch = plan.b.batch = plan.y.batch;
    plan.a.rows = plan.y.rows;
    plan.b.columns = plan.y.columns;
    for (const Label label : a) {
      if (has(output, label)) continue;
      if (has(b, label)) plan.a.columns.push_back(label);
      else plan.a.summed.push_back(label);
    }
    plan.b.rows = plan.a.columns;
    for (const Label label : b) {
      if (!has(output, label) && !has(a, label)) plan.b.summed.push_back(label);
    }
  }

  std::int64_t total(const Labels& labels) const {
    std::int64_t out = 1;
    for (const Label label : labels) out *= sizes_.at(label);
    return out;
  }

  std::optional<Merged> merged(const Labels& labels, const Steps& steps) const {
    Merged out;
    for (std::size_t k = labels.size(); k-- > 0;) {
      const std::int64_t size = sizes_.at(labels[k]);
      const std::int64_t step = steps.at(labels[k]);
      if (size == 1) continue;
      if (step == 0) return std::nullopt;
      if (out.size == 1) out.step = step;
      else if (step != out.step * out.size) return std::nullopt;
      out.size *= size;
    }
    return out;
  }

  // Chooses whether the matrix is used as it lies. A result is copied from the product's order.
  void arrange(Matrix& m, bool copies, bool is_result) const {
    m.copy.reset();
    const auto rows = merged(m.rows, m.steps);
    const auto columns = merged(m.columns, m.steps);
    if (!copies && m.summed.empty() && rows && columns && m.batch.size() + 2 <= DNNL_MAX_NDIMS) {
      const bool is_plain = columns->step == 1 || columns->size == 1;
      const bool is_flipped = rows->step == 1 || rows->size == 1;
      if (is_plain ? rows->size == 1 || columns->size == 1 || rows->step >= columns->size
                   : is_flipped && !is_result && columns->step >= rows->size) {
        return;
      }
    }
    Labels order = m.batch;
    order.insert(order.end(), m.rows.begin(), m.rows.end());
    order.insert(order.end(), m.columns.begin(), m.columns.end());
    m.count = total(order);
    std::int64_t step = m.count;
    Walk walk;
    Steps own;
    for (const Label label : order) {
      step /= std::max<std::int64_t>(sizes_.at(label), 1);
      own[label] = step;
      if (is_result) walk.add(sizes_.at(label), step, m.steps.at(label));
      else walk.add(sizes_.at(label), m.steps.at(label), step);
    }
    for (const Label label : m.summed) walk.add(sizes_.at(label), m.steps.at(label), 0);
    m.copy = std::move(walk);
    m.steps = std::move(own);
  }

  // `merges`: everything is in the product's own order, so that the batch is one dimension.
  Desc desc(const Matrix& m, bool merges) const {
    Shape dims;
    Shape strides;
    if (merges) {
      dims.push_back(total(m.batch));
      strides.push_back(total(m.rows) * total(m.columns));
    } else {
      for (const Label label : m.batch) {
        const std::int64_t step = m.steps.at(label);
        dims.push_back(step == 0 ? 1 : sizes_.at(label));
        strides.push_back(std::max<std::int64_t>(step, 1));
      }
    }
    // NOLINTBEGIN(bugprone-unchecked-optional-access): what cannot be merged is copied first
    Merged rows = *merged(m.rows, m.steps);
    Merged columns = *merged(m.columns, m.steps);
    // NOLINTEND(bugprone-unchecked-optional-access)
    if (columns.size == 1) columns.step = rows.step == 1 ? rows.size : 1;
    if (rows.size == 1) rows.step = columns.step == 1 ? columns.size : 1;
    dims.insert(dims.end(), {rows.size, columns.size});
    strides.insert(strides.end(), {rows.step, columns.step});
    return {dims, dnnl::memory::data_type::f32, strides};
  }

  bool make(Plan& plan, bool is_last) const {
    const Desc a = desc(plan.a, is_last);
    const Desc b = desc(plan.b, is_last);
    const Desc y = desc(plan.y, is_last);
    const dnnl::matmul::primitive_desc pd(engine(), a, b, y, attributes());
    if (!is_last && std::string_view(pd.impl_info_str()).starts_with("ref")) return false;
    plan.primitive = std::make_unique<Primitive>(
        dnnl::matmul(pd),
        std::vector<std::pair<int, Desc>>{
            {DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, y}},
        pd.scratchpad_desc());
    return true;
  }

  std::vector<Labels> terms_;
  Steps sizes_;
  std::vector<Steps> steps_;
};

const float* in_order(const Call& call, const Matrix& m, const Tensor& x) {
  if (!m.copy) return x.as<float>();
  auto* out = call.scratch<float>(m.count);
  if (!m.summed.empty()) std::fill_n(out, m.count, 0.0F);
  m.copy->run(x.as<float>(), out);
  return out;
}

class Einsum {
 public:
  explicit Einsum(const Node& node)
      : equation_(node.string("equation"), static_cast<std::size_t>(node.integer("N"))) {}

  void compute(Call& call) {
    std::vector<Tensor> operands;
    for (int k = 0; k < call.inputs(); ++k) operands.push_back(call.input(k));
    const std::vector<Labels> terms = equation_.expand(operands);
    const Steps sizes = label_sizes(terms, operands);
    Dims dims;
    for (const Label label : terms.back()) {
      const auto found = sizes.find(label);
      dims.push_back(found == sizes.end() ? 1 : found->second);
    }
    const Tensor y = call.output(0, dims);
    if (y.count() == 0) return;
    const bool is_empty =
        std::ranges::any_of(operands, [](const Tensor& x) { return x.count() == 0; });
    const bool repeats = unique(terms.back()).size() != terms.back().size();
    if (is_empty || repeats || operands.size() == 1) std::fill_n(y.write<float>(), y.count(), 0.0F);
    if (is_empty) return;
    if (operands.size() == 1)
      Planner(terms, operands, dims, sizes).alone().run(operands[0].as<float>(), y.write<float>());
    else multiply(call, terms, operands, sizes, y);
  }

 private:
  void multiply(const Call& call, const std::vector<Labels>& terms,
                const std::vector<Tensor>& operands, const Steps& sizes, const Tensor& y) {
    std::int64_t operations = 2;
    for (const auto& [label, size] : sizes) operations *= size;
    const std::int64_t elements = operands[0].count() + operands[1].count() + y.count();
    Key key;
    key << operands[0].dims() << operands[1].dims() << threads_for(operations, elements);
    plans_.with(
        key, [&] { return Planner(terms, operands, y.dims(), sizes).pair(); },
        [&](const Plan& plan) {
          const float* a = in_order(call, plan.a, operands[plan.is_swapped ? 1 : 0]);
          const float* b = in_order(call, plan.b, operands[plan.is_swapped ? 0 : 1]);
          float* to = plan.y.copy ? call.scratch<float>(plan.y.count) : y.write<float>();
          plan.primitive->run(call, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, to}});
          if (plan.y.copy) plan.y.copy->run(to, y.write<float>());
        });
  }

  Equation equation_;
  Plans<Plan> plans_;
};

}  // namespace

void list_sums(std::vector<Entry>& out) { list<Einsum>(out, "Einsum"); }

}  // namespace drystone::cpu::dnnl_part

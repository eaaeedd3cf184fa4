// Softmax, its logarithm, and cross entropy.
#include <cmath>

#include "core/family.h"
#include "fast/folds.h"
#include "fast/vector_math.h"
#include "fast/widened.h"

namespace drystone::cpu {
namespace {

DRYSTONE_INLINE float power(float x) { return vector_math::exp(x); }
inline double power(double x) { return std::exp(x); }

template <class T>
struct PowersFold : SumFold<T> {
  static T take(T x) { return power(x); }
};

// out[k] = x[k * step] less the largest of them.
template <class T>
void shift(const T* x, std::int64_t step, std::int64_t count, T* out) {
  if (step == 0) {
    for (std::int64_t k = 0; k < count; ++k) out[k] = *x - *x;
    return;
  }
  const T largest = FoldLoops<MaxFold<T>>::run(x, count);
#pragma GCC ivdep
  for (std::int64_t k = 0; k < count; ++k) out[k] = x[k] - largest;
}

template <class T>
void softmax_row(const T* x, std::int64_t count, T* out) {
  const T largest = FoldLoops<MaxFold<T>>::run(x, count);
#pragma GCC ivdep
  for (std::int64_t k = 0; k < count; ++k) out[k] = power(x[k] - largest);
  const T total = FoldLoops<SumFold<T>>::run(out, count);
#pragma GCC ivdep
  for (std::int64_t k = 0; k < count; ++k) out[k] /= total;
}

template <class T>
void log_softmax_row(const T* x, std::int64_t count, T* out) {
  shift(x, 1, count, out);
  const T total = std::log(FoldLoops<PowersFold<T>>::run(out, count));
#pragma GCC ivdep
  for (std::int64_t k = 0; k < count; ++k) out[k] -= total;
}

template <class T, bool kLog>
void softmax(Call& call) {
  const Tensor x = call.input(0);
  require(x.rank() >= 1, "logits must have >= 1 dimension");
  const Tensor out = call.output(0, x.dims(), 0);
  const std::int64_t classes = x.dim(x.rank() - 1);
  if (x.count() == 0) return;
  const Wide<T>* from = wide<T>(call, x);
  Wide<T>* to = wide_output<T>(call, out);
  parallel(x.count() / classes, classes, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      if constexpr (kLog) log_softmax_row(from + k * classes, classes, to + k * classes);
      else softmax_row(from + k * classes, classes, to + k * classes);
    }
  });
  finish<T>(out, to);
}

// The loss of a row, whose labels are `step` apart; `row` holds shifted logits, and gets the
// gradient.
template <class T>
T cross_entropy(T* row, const T* labels, std::int64_t step, std::int64_t classes) {
  const T total = FoldLoops<PowersFold<T>>::run(row, classes);
  const T log_total = std::log(total);
  constexpr std::int64_t kLanes = 16;
  T lanes[kLanes] = {};
  std::int64_t k = 0;
  for (; k + kLanes <= classes; k += kLanes) {
    for (std::int64_t i = 0; i < kLanes; ++i) {
      lanes[i] += labels[(k + i) * step] * (log_total - row[k + i]);
    }
  }
  for (std::int64_t i = 0; k + i < classes; ++i) {
    lanes[i] += labels[(k + i) * step] * (log_total - row[k + i]);
  }
  const T loss = FoldLoops<SumFold<T>>::run(lanes, kLanes);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < classes; ++i) row[i] = power(row[i]) / total - labels[i * step];
  return loss;
}

std::int64_t both(std::int64_t a, std::int64_t b) {
  require(a == b || a == 1 || b == 1, "logits and labels must be broadcastable");
  return a == 1 ? b : a;
}

template <class T>
void softmax_cross_entropy(Call& call) {
  const Tensor logits = call.input(0);
  const Tensor labels = call.input(1);
  require(logits.rank() == 2 && labels.rank() == 2, "logits and labels must be matrices");
  const std::int64_t batch = both(logits.dim(0), labels.dim(0));
  const std::int64_t classes = both(logits.dim(1), labels.dim(1));
  const bool whole = logits.dim(0) == batch && logits.dim(1) == classes;
  const Tensor loss = call.output(0, {{batch}});
  const Tensor gradient = call.output(1, {{batch, classes}}, whole ? 0 : -1);
  Wide<T>* losses = wide_output<T>(call, loss);
  if (classes == 0) std::fill_n(losses, batch, Wide<T>(0));
  const Wide<T>* x = wide<T>(call, logits);
  const Wide<T>* wanted = wide<T>(call, labels);
  Wide<T>* rows = wide_output<T>(call, gradient);
  const auto stride = [&](const Tensor& t) { return t.dim(0) == batch ? t.dim(1) : 0; };
  const auto step = [&](const Tensor& t) { return std::int64_t{t.dim(1) == classes}; };
  parallel(classes == 0 ? 0 : batch, 4 + classes * 2, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      Wide<T>* row = rows + k * classes;
      shift(x + k * stride(logits), step(logits), classes, row);
      losses[k] = cross_entropy(row, wanted + k * stride(labels), step(labels), classes);
    }
  });
  finish<T>(loss, losses);
  finish<T>(gradient, rows);
}

template <class T, class Label>
void sparse_softmax_cross_entropy(Call& call) {
  const Tensor logits = call.input(0);
  const Tensor labels = call.input(1);
  require(logits.rank() == 2, "logits must be 2-D");
  require(labels.rank() == 1 && labels.dim(0) == logits.dim(0),
          "labels must hold one class per row");
  const std::int64_t batch = logits.dim(0);
  const std::int64_t classes = logits.dim(1);
  require(classes > 0, "Must have at least one class");
  const Label* wanted = labels.as<Label>();
  for (std::int64_t k = 0; k < batch; ++k) {
    require(wanted[k] >= 0 && wanted[k] < classes,
            "Received a label value which is outside the valid range");
  }
  const Tensor loss = call.output(0, {{batch}});
  const Tensor gradient = call.output(1, logits.dims(), 0);
  Wide<T>* losses = wide_output<T>(call, loss);
  const Wide<T>* x = wide<T>(call, logits);
  Wide<T>* rows = wide_output<T>(call, gradient);
  parallel(batch, 4 + classes * 2, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      Wide<T>* row = rows + k * classes;
      shift(x + k * classes, 1, classes, row);
      const Wide<T> total = FoldLoops<PowersFold<Wide<T>>>::run(row, classes);
      losses[k] = std::log(total) - row[wanted[k]];
#pragma GCC ivdep
      for (std::int64_t i = 0; i < classes; ++i) row[i] = power(row[i]) / total;
      row[wanted[k]] -= 1;
    }
  });
  finish<T>(loss, losses);
  finish<T>(gradient, rows);
}

template <class T>
void add_all(TF_DataType type) {
  add<softmax<T, false>>("Softmax", {{"T", {type}}});
  add<softmax<T, true>>("LogSoftmax", {{"T", {type}}});
  add<softmax_cross_entropy<T>>("SoftmaxCrossEntropyWithLogits", {{"T", {type}}});
  const char* sparse = "SparseSoftmaxCrossEntropyWithLogits";
  const Constraint t = {"T", {type}};
  add<sparse_softmax_cross_entropy<T, std::int32_t>>(sparse, {t, {"Tlabels", {TF_INT32}}});
  add<sparse_softmax_cross_entropy<T, std::int64_t>>(sparse, {t, {"Tlabels", {TF_INT64}}});
}

}  // namespace

const Family registered([] {
  add_all<float>(TF_FLOAT);
  add_all<double>(TF_DOUBLE);
  add_all<Half>(TF_HALF);
  add_all<BFloat16>(TF_BFLOAT16);
});

}  // namespace drystone::cpu

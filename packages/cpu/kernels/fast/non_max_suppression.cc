// Non-maximum suppression: the best boxes, without those that overlap a better one too much.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/family.h"
#include "core/moving.h"
#include "core/widen.h"
#include "fast/chosen_boxes.h"

namespace drystone::cpu {
namespace {

// When to stop: how many boxes, which overlap is too much, which score too little; softness.
struct Limits {
  std::int64_t most = 0;
  double overlap = 0;
  double score = -std::numeric_limits<double>::infinity();
  double sigma = 0;
};

struct Chosen {
  std::vector<std::int32_t> boxes;
  std::vector<double> scores;
};

// Boxes that are `step` floats apart.
class Overlaps {
 public:
  Overlaps(const float* boxes, std::int64_t step) : boxes_(boxes), step_(step) {}
  Box box(std::int32_t i) const { return Box(boxes_ + i * step_); }
  // Intersection over union.
  float operator()(std::int32_t i, std::int32_t j) const {
    const Box a = box(i);
    const Box b = box(j);
    if (a.area <= 0 || b.area <= 0) return 0;
    const float height = greater(lesser(a.high[0], b.high[0]) - greater(a.low[0], b.low[0]), 0);
    const float width = greater(lesser(a.high[1], b.high[1]) - greater(a.low[1], b.low[1]), 0);
    const float shared = height * width;
    return shared / (a.area + b.area - shared);
  }

 private:
  const float* boxes_;
  std::int64_t step_;
};

struct Candidate {
  double score;
  std::int32_t box;
  std::size_t seen;  // boxes chosen when it was last looked at
  // The heap's top: the highest score, of equals the first box.
  bool operator<(const Candidate& other) const {
    return score < other.score || (score == other.score && box > other.box);
  }
};

constexpr std::size_t kBetweenLooks = 256;  // boxes, each of which is held against those chosen

// Scores are `step` floats apart. A box is compared only with those chosen since it was last looked
// at; with a sigma its score is lowered by overlaps (Soft-NMS: Bodla and others, 2017). An overlap that
// is NaN makes the score 0, or with a sigma NaN, which drops the box, as minus infinity does without one.
template <class Overlap>
Chosen suppress(const float* scores, std::int64_t count, std::int64_t step, const Overlap& overlap,
                const Limits& limits) {
  std::vector<Candidate> heap;
  for (std::int64_t k = 0; k < count; ++k) {
    const double score = scores[k * step];
    if (score > limits.score) heap.push_back({score, static_cast<std::int32_t>(k), 0});
  }
  std::make_heap(heap.begin(), heap.end());
  Chosen out;
  for (std::size_t tries = 0; !heap.empty() && static_cast<std::int64_t>(out.boxes.size()) < limits.most; ++tries) {
    if (tries % kBetweenLooks == 0) check_stop();
    std::pop_heap(heap.begin(), heap.end());
    const Candidate next = heap.back();
    heap.pop_back();
    double score = next.score;
    bool dropped = false;
    for (std::size_t k = out.boxes.size(); k-- > next.seen && !dropped;) {
      const double shared = overlap(next.box, out.boxes[k]);
      if (limits.sigma > 0) {
        score *= std::exp(-0.5 / limits.sigma * shared * shared);
      } else if (!(shared <= limits.overlap)) {
        score *= 0;
        dropped = shared > limits.overlap;
      } else if (shared == -std::numeric_limits<double>::infinity()) {
        score = std::numeric_limits<double>::quiet_NaN();
      }
      if (score <= limits.score) break;
    }
    if (dropped) continue;
    if (score == next.score) {
      out.boxes.push_back(next.box);
      out.scores.push_back(score);
    } else if (score > limits.score) {
      heap.push_back({score, next.box, out.boxes.size()});
      std::push_heap(heap.begin(), heap.end());
    }
  }
  return out;
}

// The same without a sigma, where scores stay as they are: in their order, against all that were
// chosen.
Chosen suppress_firmly(const float* scores, std::int64_t count, std::int64_t step,
                       const Overlaps& overlaps, const Limits& limits) {
  const Ranking order(scores, count, step, limits.score);
  const auto most = std::min<std::size_t>(static_cast<std::size_t>(limits.most), order.size());
  const auto limit = static_cast<float>(limits.overlap);
  ChosenBoxes chosen;
  Chosen out;
  out.boxes.reserve(most);
  out.scores.reserve(most);
  for (std::size_t k = 0; k < order.size() && out.boxes.size() < most; ++k) {
    if (k % kBetweenLooks == 0) check_stop();
    const std::int32_t at = order[k];
    const Box box = overlaps.box(at);
    if (box.area > 0) {  // a box without an area overlaps none
      if (chosen.overlap(box, limit)) continue;
      chosen.add(box);
    }
    out.boxes.push_back(at);
    out.scores.push_back(scores[at * step]);
  }
  return out;
}

// Whether an overlap of boxes with these corners may be NaN.
bool may_be_nan(const float* corners, std::int64_t count) {
  constexpr float kFar = 1e18F;  // two areas of what is nearer are finite
  std::uint32_t is_far = 0;
  for (std::int64_t k = 0; k < count; ++k) is_far |= std::fabs(corners[k]) < kFar ? 0U : 1U;
  return is_far != 0;
}

Chosen suppress_boxes(const float* scores, std::int64_t count, const float* boxes, const Limits& limits) {
  const Overlaps overlaps(boxes, 4);
  if (limits.sigma > 0 || may_be_nan(boxes, 4 * count)) return suppress(scores, count, 1, overlaps, limits);
  return suppress_firmly(scores, count, 1, overlaps, limits);
}

float real_at(const Tensor& x, std::int64_t k) {
  return x.dtype() == TF_HALF ? to_float(x.as<Half>()[k]) : x.as<float>()[k];
}

const float* as_floats(const Call& call, const Tensor& x) {
  if (x.dtype() == TF_FLOAT) return x.as<float>();
  auto* out = call.scratch<float>(x.count());
  for (std::int64_t k = 0; k < x.count(); ++k) out[k] = real_at(x, k);
  return out;
}

void check_boxes(const Tensor& boxes, const Tensor& scores) {
  require(boxes.rank() == 2 && boxes.dim(1) == 4, "boxes must be 2-D with 4 columns");
  require(scores.rank() == 1 && scores.dim(0) == boxes.dim(0), "scores has incompatible shape");
  require(boxes.dim(0) <= INT32_MAX, "so many boxes cannot be numbered");
}

// The settings from input `first` on; `overlap` is negative where it is an input.
Limits limits_of(const Call& call, int first, double overlap) {
  for (int i = first; i < call.inputs(); ++i)
    require(call.input(i).rank() == 0, "the inputs after the scores must be scalars");
  Limits out;
  out.most = integer_at(call.input(first), 0);
  out.overlap = overlap;
  if (call.inputs() > first + 1) out.overlap = real_at(call.input(first + 1), 0);
  if (call.inputs() > first + 2) out.score = real_at(call.input(first + 2), 0);
  if (call.inputs() > first + 3) out.sigma = real_at(call.input(first + 3), 0);
  return out;
}

void check_limits(const Limits& limits) {
  require(limits.most >= 0, "max_output_size must be non-negative");
  require(limits.overlap >= 0 && limits.overlap <= 1, "iou_threshold must be in [0, 1]");
  require(limits.sigma >= 0, "soft_nms_sigma must be non-negative");
}

void put_boxes(const Call& call, const Chosen& chosen, std::int64_t size) {
  const Tensor y = call.output(0, {&size, 1});
  auto* out = std::copy(chosen.boxes.begin(), chosen.boxes.end(), y.write<std::int32_t>());
  std::fill(out, y.write<std::int32_t>() + size, 0);
}

class Suppression {
 public:
  explicit Suppression(const Node& node)
      : overlap_(node.has("iou_threshold") ? node.real("iou_threshold") : -1),
        pads_(node.has("pad_to_max_output_size") && node.boolean("pad_to_max_output_size")) {}
  void compute(Call& call) const {
    const Tensor boxes = call.input(0);
    const Tensor scores = call.input(1);
    check_boxes(boxes, scores);
    const Limits limits = limits_of(call, 2, overlap_);
    check_limits(limits);
    const Chosen chosen =
        suppress_boxes(as_floats(call, scores), scores.count(), as_floats(call, boxes), limits);
    const auto found = static_cast<std::int64_t>(chosen.boxes.size());
    const std::int64_t size = pads_ ? limits.most : found;
    put_boxes(call, chosen, size);
    if (call.outputs() == 1) return;
    if (call.outputs() == 3) put_scores(call.output(1, {&size, 1}), chosen);
    call.output(call.outputs() - 1, {}).write<std::int32_t>()[0] = static_cast<std::int32_t>(found);
  }

 private:
  static void put_scores(const Tensor& y, const Chosen& chosen) {
    for (std::int64_t k = 0; k < y.count(); ++k) {
      const auto at = static_cast<std::size_t>(k);
      const float score = at < chosen.scores.size() ? static_cast<float>(chosen.scores[at]) : 0.0f;
      if (y.dtype() == TF_HALF) y.write<Half>()[k] = to_half(score);
      else y.write<float>()[k] = score;
    }
  }
  float overlap_;
  bool pads_;
};

void suppress_with_overlaps(Call& call) {
  const Tensor overlaps = call.input(0);
  const Tensor scores = call.input(1);
  require(overlaps.rank() == 2 && scores.rank() == 1 && overlaps.dim(0) == scores.dim(0) &&
              overlaps.dim(1) == scores.dim(0),
          "overlaps must be square, with a score per row");
  const Limits limits = limits_of(call, 2, 0);
  require(limits.most >= 0, "max_output_size must be non-negative");
  const std::int64_t count = scores.count();
  const float* shared = overlaps.as<float>();
  const auto overlap = [=](std::int64_t a, std::int64_t b) { return shared[a * count + b]; };
  const Chosen chosen = suppress(scores.as<float>(), count, 1, overlap, limits);
  put_boxes(call, chosen, static_cast<std::int64_t>(chosen.boxes.size()));
}

// Every class by itself, the best of all classes together.
class CombinedSuppression {
 public:
  explicit CombinedSuppression(const Node& node)
      : pads_per_class_(node.boolean("pad_per_class")), clips_(node.boolean("clip_boxes")) {}
  void compute(Call& call) const {
    const Tensor boxes = call.input(0);
    const Tensor scores = call.input(1);
    check(boxes, scores);
    for (int i = 2; i < 6; ++i)
      require(call.input(i).rank() == 0, "the inputs after the scores must be scalars");
    Limits limits;
    limits.most = integer_at(call.input(2), 0);
    const std::int64_t total = integer_at(call.input(3), 0);
    limits.overlap = call.input(4).as<float>()[0];
    limits.score = call.input(5).as<float>()[0];
    require(limits.most > 0 && total > 0, "max_size_per_class and max_total_size must be positive");
    require(limits.overlap >= 0 && limits.overlap <= 1, "iou_threshold must be in [0, 1]");
    const std::int64_t size =
        pads_per_class_ ? std::min(total, limits.most * scores.dim(2)) : total;
    const Dims dims = {boxes.dim(0), size, 4};
    check_dims(dims);
    const DimsView rows(dims.data(), 2);
    const Output out = {call.output(0, dims), call.output(1, rows), call.output(2, rows),
                        call.output(3, {dims.data(), 1})};
    std::fill_n(out.boxes.write<float>(), out.boxes.count(), 0.0f);
    std::fill_n(out.scores.write<float>(), out.scores.count(), 0.0f);
    std::fill_n(out.classes.write<float>(), out.classes.count(), 0.0f);
    for (std::int64_t n = 0; n < dims[0]; ++n) one(n, size, boxes, scores, limits, out);
  }

 private:
  struct Output {
    Tensor boxes;
    Tensor scores;
    Tensor classes;
    Tensor counts;
  };
  struct Found {
    double score;
    std::int64_t category;
    std::int32_t box;
  };

  static void check(const Tensor& boxes, const Tensor& scores) {
    require(boxes.rank() == 4 && scores.rank() == 3, "boxes must be 4-D and scores 3-D");
    require(boxes.dim(0) == scores.dim(0) && boxes.dim(1) == scores.dim(1) && boxes.dim(3) == 4,
            "boxes and scores have incompatible shapes");
    require(boxes.dim(2) == 1 || boxes.dim(2) == scores.dim(2),
            "third dimension of boxes must be either 1 or num classes");
    require(boxes.dim(1) <= INT32_MAX, "so many boxes cannot be numbered");
  }
  void one(std::int64_t n, std::int64_t size, const Tensor& boxes, const Tensor& scores,
           const Limits& limits, const Output& out) const {
    const std::int64_t count = boxes.dim(1);
    const std::int64_t kinds = boxes.dim(2);
    const std::int64_t classes = scores.dim(2);
    const float* own = boxes.as<float>() + n * count * kinds * 4;
    std::vector<Found> found;
    for (std::int64_t c = 0; c < classes; ++c) {
      const Overlaps overlaps(own + (kinds > 1 ? c : 0) * 4, kinds * 4);
      // Here an overlap that is NaN suppresses nothing.
      const Chosen chosen = suppress_firmly(scores.as<float>() + n * count * classes + c, count,
                                            classes, overlaps, limits);
      for (std::size_t k = 0; k < chosen.boxes.size(); ++k)
        found.push_back({chosen.scores[k], c, chosen.boxes[k]});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Found& a, const Found& b) { return a.score > b.score; });
    const std::int64_t kept = std::min<std::int64_t>(size, static_cast<std::int64_t>(found.size()));
    out.counts.write<std::int32_t>()[n] = static_cast<std::int32_t>(kept);
    for (std::int64_t k = 0; k < kept; ++k) {
      const Found& best = found[static_cast<std::size_t>(k)];
      out.scores.write<float>()[n * size + k] = static_cast<float>(best.score);
      out.classes.write<float>()[n * size + k] = static_cast<float>(best.category);
      const float* box = own + (best.box * kinds + (kinds > 1 ? best.category : 0)) * 4;
      for (int side = 0; side < 4; ++side) {
        const float value = clips_ ? (box[side] < 0   ? 0
                                      : box[side] > 1 ? 1
                                                      : box[side])
                                   : box[side];
        out.boxes.write<float>()[(n * size + k) * 4 + side] = value;
      }
    }
  }
  bool pads_per_class_;
  bool clips_;
};

}  // namespace

const Family registered([] {
  add<Suppression>("NonMaxSuppression");
  const std::vector<Constraint> wide = {{"T", {TF_FLOAT, TF_HALF}}};
  add<Suppression>("NonMaxSuppressionV2", wide);
  add<Suppression>("NonMaxSuppressionV3", wide);
  add<Suppression>("NonMaxSuppressionV4", wide);
  add<Suppression>("NonMaxSuppressionV5", wide);
  add<suppress_with_overlaps>("NonMaxSuppressionWithOverlaps");
  add<CombinedSuppression>("CombinedNonMaxSuppression");
});

}  // namespace drystone::cpu

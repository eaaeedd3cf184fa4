// Choosing what runs at once: see executor/parallel_schedule.h.
#include "executor/parallel_schedule.h"

#include <algorithm>
#include <map>

#include "executor/value.h"

namespace drystone::host::executor {
namespace {

constexpr std::int64_t kHandOver = 20'000;  // nanoseconds until other threads have begun, and are done
constexpr std::int64_t kWorth = 200'000;    // nanoseconds that a block must take to be looked at
constexpr std::int32_t kLongest = 96;       // instructions of a segment
constexpr std::size_t kMostSearched = 50'000;  // instructions of a block that is worth the search

bool does_something(const Instruction& in) {
  return in.kind != Kind::constant && in.kind != Kind::nothing && in.kind != Kind::trigger &&
         in.kind != Kind::forward;
}

// Whether a block, or one that it calls, needs the thread that runs the plan.
class Embedders {
 public:
  explicit Embedders(const Program& program) : program_(program), known_(program.blocks.size(), kUnknown) {}

  bool needs(std::size_t number) {
    if (known_[number] != kUnknown) return known_[number] == kYes;
    known_[number] = kNo;  // of a function that calls itself
    const Block& block = program_.blocks[number];
    bool found = std::any_of(block.initial.begin(), block.initial.end(), [](const TF_Tensor* value) {
      return value != nullptr && is_opaque(value);
    });
    for (const Instruction& in : block.instructions) {
      found = found || in.callback >= 0 || in.fallback >= 0;
      for (const std::int32_t callee : in.blocks) found = found || needs(static_cast<std::size_t>(callee));
    }
    known_[number] = found ? kYes : kNo;
    return found;
  }

 private:
  enum : char { kUnknown, kNo, kYes };
  const Program& program_;
  std::vector<char> known_;
};

bool is_ordered(const Instruction& in) {
  if (in.deref.count > 0) return true;
  if (!does_something(in)) return false;
  if (in.kind != Kind::kernel || in.kernel == nullptr) return true;
  const auto has_resource = [](const kernels::Signature& s) {
    return std::find(s.types.begin(), s.types.end(), TF_RESOURCE) != s.types.end();
  };
  return in.has_refs || in.kernel->node.is_stateful() ||
         has_resource(in.kernel->inputs) || has_resource(in.kernel->outputs);
}

// What instruction k waits for, in order and once each. `ordered`: the last one before k, or -1.
std::vector<std::int32_t> waits_for(const Block& block, const ParallelSchedule& known, const Instruction& in,
                                    std::int32_t ordered) {
  std::vector<std::int32_t> out;
  for (const std::int32_t v : block.inputs_of(in)) out.push_back(known.maker[static_cast<std::size_t>(v)]);
  for (const std::int32_t before : in.controls.of(block.controls)) out.push_back(before);
  out.push_back(ordered);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  if (out.front() < 0) out.erase(out.begin());
  return out;
}

std::unique_ptr<ParallelSchedule> analyse(const Block& block) {
  auto out = std::make_unique<ParallelSchedule>();
  out->maker.assign(static_cast<std::size_t>(block.values()), -1);
  std::int32_t number = 0;
  std::int32_t last_ordered = -1;
  for (const Instruction& in : block.instructions) {
    for (std::int32_t& maker : in.outputs.of(out->maker)) maker = number;
    const bool ordered = is_ordered(in);
    out->waits_for.push_back(waits_for(block, *out, in, ordered ? last_ordered : -1));
    if (ordered) last_ordered = number;
    ++number;
  }
  return out;
}

// Cuts a block where that makes it quickest: in order, or in segments on several threads.
class Cutter {
 public:
  Cutter(const Block& block, const ParallelSchedule& known, int threads)
      : known_(known), threads_(static_cast<std::size_t>(threads)),
        count_(static_cast<std::int32_t>(block.instructions.size())) {}

  // [begin, end) of the segments.
  std::vector<Slice> cut() {
    best_.assign(static_cast<std::size_t>(count_) + 1, INT64_MAX);
    from_.assign(static_cast<std::size_t>(count_) + 1, -1);
    best_[0] = 0;
    for (std::int32_t begin = 0; begin < count_; ++begin) {
      offer(begin + 1, best_[static_cast<std::size_t>(begin)] + known_.shared[static_cast<std::size_t>(begin)], -1);
      segments_from(begin);
    }
    std::vector<Slice> out;
    for (std::int32_t end = count_; end > 0;) {
      const std::int32_t begin = from_[static_cast<std::size_t>(end)];
      if (begin >= 0) out.push_back({begin, end - begin});
      end = begin >= 0 ? begin : end - 1;
    }
    std::reverse(out.begin(), out.end());
    return out;
  }
  std::int64_t best() const { return best_.back(); }

 private:
  void offer(std::int32_t end, std::int64_t time, std::int32_t begin) {
    const auto at = static_cast<std::size_t>(end);
    if (time >= best_[at]) return;
    best_[at] = time;
    from_[at] = begin;
  }

  // List scheduling in the block's order: each instruction on the thread that is free first.
  void segments_from(std::int32_t begin) {
    std::vector<std::int64_t> free(threads_, 0);
    std::vector<std::int64_t> done;
    std::int64_t span = 0;
    const std::int64_t before = best_[static_cast<std::size_t>(begin)] + kHandOver;
    for (std::int32_t k = begin; k < std::min(count_, begin + kLongest); ++k) {
      std::int64_t start = 0;
      for (const std::int32_t other : known_.waits_for[static_cast<std::size_t>(k)]) {
        if (other >= begin) start = std::max(start, done[static_cast<std::size_t>(other - begin)]);
      }
      const auto thread = std::min_element(free.begin(), free.end());
      done.push_back(std::max(start, *thread) + known_.alone[static_cast<std::size_t>(k)]);
      *thread = done.back();
      span = std::max(span, done.back());
      if (k > begin) offer(k + 1, before + span, begin);
    }
  }

  const ParallelSchedule& known_;
  std::size_t threads_;
  std::int32_t count_;
  std::vector<std::int64_t> best_;  // per position: the least time until there
  std::vector<std::int32_t> from_;  // where the segment that ends there begins, -1: one in order
};

// Who uses the values that die in a segment; whom alone a value may be given up to.
void plan_values(const Block& block, Segment& out) {
  const std::int32_t first = block.instructions[static_cast<std::size_t>(out.begin)].inputs.start;
  std::map<std::int32_t, std::int32_t> uses;
  const auto each = [&](auto&& visit) {
    for (std::int32_t k = out.begin; k < out.end; ++k) {
      const Instruction& in = block.instructions[static_cast<std::size_t>(k)];
      std::vector<std::int32_t> touched;
      for (const std::int32_t v : block.inputs_of(in)) touched.push_back(v);
      for (std::int32_t o = 0; o < in.outputs.count; ++o) touched.push_back(in.outputs.start + o);
      std::sort(touched.begin(), touched.end());
      touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
      visit(in, touched);
    }
  };
  std::map<std::int32_t, std::int32_t> place;
  for (std::int32_t k = out.begin; k < out.end; ++k) {
    const Instruction& in = block.instructions[static_cast<std::size_t>(k)];
    for (const std::int32_t v : in.dead_after.of(block.dead_after)) {
      place[v] = static_cast<std::int32_t>(out.dying.size());
      out.dying.push_back(v);
    }
  }
  out.uses.assign(out.dying.size(), 0);
  each([&](const Instruction& in, const std::vector<std::int32_t>& touched) {
    const Slice slice{static_cast<std::int32_t>(out.touched.size()), 0};
    out.dying_of.push_back(slice);
    for (const std::int32_t v : touched) {
      if (v < in.outputs.start) ++uses[v];
      const auto found = place.find(v);
      if (found == place.end()) continue;
      out.touched.push_back(found->second);
      ++out.dying_of.back().count;
      ++out.uses[static_cast<std::size_t>(found->second)];
    }
  });
  each([&](const Instruction& in, const std::vector<std::int32_t>&) {
    for (std::int32_t i = 0; i < in.inputs.count; ++i) {
      const auto at = static_cast<std::size_t>(in.inputs.start) + static_cast<std::size_t>(i);
      const bool is_only = uses[block.inputs[at]] == 1;
      out.given_up.resize(at - static_cast<std::size_t>(first) + 1);
      out.given_up.back() = block.given_up[at] != 0 && is_only ? 1 : 0;
    }
  });
}

Segment make_segment(const Block& block, const ParallelSchedule& known, Slice range) {
  Segment out;
  out.begin = range.start;
  out.end = range.start + range.count;
  std::vector<std::vector<std::int32_t>> next(static_cast<std::size_t>(range.count));
  for (std::int32_t k = out.begin; k < out.end; ++k) {
    std::int32_t missing = 0;
    for (const std::int32_t other : known.waits_for[static_cast<std::size_t>(k)]) {
      if (other < out.begin) continue;
      next[static_cast<std::size_t>(other - out.begin)].push_back(k - out.begin);
      ++missing;
    }
    out.missing.push_back(missing);
    out.cost.push_back(known.alone[static_cast<std::size_t>(k)]);
  }
  out.priority = out.cost;
  for (std::size_t k = next.size(); k-- > 0;) {
    std::int64_t most = 0;
    for (const std::int32_t other : next[k]) most = std::max(most, out.priority[static_cast<std::size_t>(other)]);
    out.priority[k] += most;
  }
  for (const auto& others : next) {
    out.next_of.push_back({static_cast<std::int32_t>(out.next.size()), static_cast<std::int32_t>(others.size())});
    out.next.insert(out.next.end(), others.begin(), others.end());
  }
  plan_values(block, out);
  return out;
}

}  // namespace

void find_parallel_schedules(Program& program) {
  Embedders embedders(program);
  for (std::size_t k = 0; k < program.blocks.size(); ++k) {
    Block& block = program.blocks[k];
    const auto busy = std::count_if(block.instructions.begin(), block.instructions.end(), does_something);
    if (block.has_frames || busy < 2 || block.instructions.size() > kMostSearched || embedders.needs(k)) continue;
    block.parallel_schedule = analyse(block);
  }
}

std::vector<Segment> choose_segments(const Block& block, const ParallelSchedule& measured, int threads) {
  std::int64_t total = 0;
  for (const std::int64_t time : measured.shared) total += time;
  if (total < kWorth) return {};
  Cutter cutter(block, measured, threads);
  const std::vector<Slice> ranges = cutter.cut();
  if (cutter.best() + cutter.best() / 5 > total) return {};
  std::vector<Segment> out;
  for (const Slice range : ranges) out.push_back(make_segment(block, measured, range));
  return out;
}

}  // namespace drystone::host::executor

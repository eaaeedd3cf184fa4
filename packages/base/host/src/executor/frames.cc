// Frames of a block: see executor/frames.h.
#include "executor/frames.h"

#include <algorithm>
#include <deque>

#include "core/failure.h"

namespace drystone::host::executor {

Frames::Frames(const Block& block) {
  connect(block);
  find_frames(block);
}

void Frames::connect(const Block& block) {
  const std::size_t count = block.instructions.size();
  std::vector<std::int32_t> producer(static_cast<std::size_t>(block.values()), -1);
  for (std::size_t k = 0; k < count; ++k) {
    const auto made = block.instructions[k].outputs.of(producer);
    std::fill(made.begin(), made.end(), static_cast<std::int32_t>(k));
  }
  std::vector<std::vector<Edge>> found(count);
  std::vector<std::vector<std::int32_t>> controls(count);
  feed_edges.resize(static_cast<std::size_t>(block.feeds));
  const auto add = [&](std::int32_t value, std::int32_t consumer, std::int32_t slot) {
    const std::int32_t from = producer[static_cast<std::size_t>(value)];
    if (from < 0) {
      feed_edges[static_cast<std::size_t>(value)].push_back({0, consumer, slot});
    } else {
      const Instruction& in = block.instructions[static_cast<std::size_t>(from)];
      found[static_cast<std::size_t>(from)].push_back({value - in.outputs.start, consumer, slot});
    }
  };
  for (std::size_t k = 0; k < count; ++k) {
    const Instruction& in = block.instructions[k];
    const auto inputs = block.inputs_of(in);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      add(inputs[i], static_cast<std::int32_t>(k), static_cast<std::int32_t>(i));
    }
    for (const std::int32_t before : in.controls.of(block.controls)) {
      controls[static_cast<std::size_t>(before)].push_back(static_cast<std::int32_t>(k));
    }
    if (in.inputs.count == 0 && in.controls.count == 0) sources.push_back(static_cast<std::int32_t>(k));
  }
  for (std::size_t f = 0; f < block.fetches.size(); ++f) {
    add(block.fetches[f], -1 - static_cast<std::int32_t>(f), 0);
  }
  for (std::size_t k = 0; k < count; ++k) {
    std::stable_sort(found[k].begin(), found[k].end(),
                     [](const Edge& a, const Edge& b) { return a.output < b.output; });
    edges_of.push_back({static_cast<std::int32_t>(edges.size()),
                        static_cast<std::int32_t>(found[k].size())});
    edges.insert(edges.end(), found[k].begin(), found[k].end());
    control_edges_of.push_back({static_cast<std::int32_t>(control_edges.size()),
                                static_cast<std::int32_t>(controls[k].size())});
    control_edges.insert(control_edges.end(), controls[k].begin(), controls[k].end());
  }
}

std::int32_t Frames::child_of(std::int32_t parent, std::int32_t name) {
  for (std::size_t k = 1; k < shapes.size(); ++k) {
    if (shapes[k].parent == parent && shapes[k].name == name) return static_cast<std::int32_t>(k);
  }
  shapes.push_back({parent, name, 0, 0, {}});
  return static_cast<std::int32_t>(shapes.size()) - 1;
}

void Frames::find_frames(const Block& block) {
  const std::size_t count = block.instructions.size();
  shapes.emplace_back();
  frame_of.assign(count, -1);
  child.assign(count, -1);
  std::deque<std::int32_t> queue;
  const auto reach = [&](std::int32_t to, std::int32_t frame) {
    if (to < 0 || frame_of[static_cast<std::size_t>(to)] >= 0) return;
    frame_of[static_cast<std::size_t>(to)] = frame;
    queue.push_back(to);
  };
  for (const std::int32_t source : sources) reach(source, 0);
  for (const auto& places : feed_edges) {
    for (const Edge& edge : places) reach(edge.consumer, 0);
  }
  while (!queue.empty()) {
    const auto k = static_cast<std::size_t>(queue.front());
    queue.pop_front();
    const Instruction& in = block.instructions[k];
    std::int32_t frame = frame_of[k];
    if (in.kind == Kind::enter) {
      frame = child[k] = child_of(frame, in.frame);
      ++shapes[static_cast<std::size_t>(frame)].enters;
    } else if (in.kind == Kind::exit) {
      frame = shapes[static_cast<std::size_t>(frame)].parent;
      if (frame < 0) fail_at({.node = in.node, .op = in.op}, {TF_INVALID_ARGUMENT, "it leaves no frame"});
    }
    for (const Edge& edge : edges_of[k].of(edges)) reach(edge.consumer, frame);
    for (const std::int32_t consumer : control_edges_of[k].of(control_edges)) reach(consumer, frame);
  }
  place.assign(count, 0);
  slot.assign(count, 0);
  for (std::size_t k = 0; k < count; ++k) {
    if (frame_of[k] < 0) frame_of[k] = 0;  // never reached: a cycle without an entry
    FrameShape& shape = shapes[static_cast<std::size_t>(frame_of[k])];
    const Instruction& in = block.instructions[k];
    place[k] = static_cast<std::int32_t>(shape.initial.size());
    slot[k] = shape.slots;
    shape.slots += in.inputs.count;
    shape.initial.push_back({in.inputs.count + in.controls.count, 0, -1, 0});
  }
}

}  // namespace drystone::host::executor

// Reading PlanDefs: see executor/plan.h.
#include <algorithm>
#include <limits>
#include <set>
#include <map>

#include "core/buffer.h"
#include "core/failure.h"
#include "core/stored.h"
#include "drystone/sdk/node.hpp"
#include "drystone/sdk/wire.hpp"
#include "executor/devices.h"
#include "executor/frames.h"
#include "executor/plan.h"
#include "executor/micro_batches.h"
#include "executor/parallel_schedule.h"
#include "executor/value.h"
#include "kernels/registry.h"
#include "kernels/tensor_proto.h"

namespace drystone::host::executor {
namespace {

constexpr std::int32_t kMostCounted = 1 << 28;  // of anything a plan counts

[[noreturn]] void malformed(const std::string& what) {
  fail(TF_INVALID_ARGUMENT, "the plan is malformed: " + what);
}

// What an InstructionDef says, before it is understood.
struct Fields {
  std::uint64_t kind = 0;
  std::string_view node_def;
  std::int32_t op = 0;
  std::int32_t outputs = 0;
  std::int32_t callback = 0;
  std::int32_t constant = 0;
  std::string_view value;
  std::string_view frame;
  bool is_constant = false;
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> controls;
  std::vector<std::int32_t> blocks;
  std::vector<std::int32_t> deref;
  std::int64_t own = 0;
  std::int32_t value_type = 0;
  std::int32_t device = 0;
  bool waits = false;
};

void numbers(const wire::Reader& reader, std::vector<std::int32_t>* out) {
  if (reader.type() == wire::Type::varint) {
    out->push_back(reader.int32());
    return;
  }
  wire::Varints packed(reader);
  while (packed.next()) out->push_back(static_cast<std::int32_t>(packed.value()));
  if (!packed.ok()) malformed("a list of numbers ends in the middle of one");
}

Fields read(std::string_view bytes) {
  Fields out;
  wire::Reader r(bytes);
  while (r.next()) {
    switch (r.field()) {
      case 1: out.kind = r.varint(); break;
      case 2: out.node_def = r.bytes(); break;
      case 3: out.op = r.int32(); break;
      case 4: numbers(r, &out.inputs); break;
      case 5: out.outputs = r.int32(); break;
      case 6: numbers(r, &out.controls); break;
      case 7: numbers(r, &out.blocks); break;
      case 8: out.callback = r.int32(); break;
      case 9: out.constant = r.int32(); break;
      case 10: out.value = r.bytes(); break;
      case 11: out.frame = r.bytes(); break;
      case 12: out.is_constant = r.boolean(); break;
      case 13: numbers(r, &out.deref); break;
      case 14: out.own = static_cast<std::int64_t>(r.varint()); break;
      case 15: out.value_type = r.int32(); break;
      case 16: out.device = r.int32(); break;
      case 17: out.waits = r.boolean(); break;
      default: break;
    }
  }
  if (!r.ok()) malformed("an instruction is no message");
  return out;
}

Slice append(std::vector<std::int32_t>* array, const std::vector<std::int32_t>& more) {
  const Slice out{static_cast<std::int32_t>(array->size()), static_cast<std::int32_t>(more.size())};
  array->insert(array->end(), more.begin(), more.end());
  return out;
}

bool needs_kernel(Kind kind) {
  return kind == Kind::kernel || kind == Kind::session_constant || kind == Kind::transfer;
}

std::int32_t blocks_of(Kind kind) {
  switch (kind) {
    case Kind::call: return 1;
    case Kind::if_: case Kind::while_: case Kind::loop: return 2;
    default: return 0;
  }
}

// Makes one block.
class BlockLoader {
 public:
  BlockLoader(Program& program, Block& block, const std::vector<std::string_view>& op_defs,
              std::span<TF_Tensor* const> constants, bool has_callbacks)
      : program_(program), block_(block), op_defs_(op_defs), constants_(constants),
        has_callbacks_(has_callbacks) {}

  void load(std::string_view bytes) {
    std::vector<std::string_view> instructions;
    wire::Reader r(bytes);
    while (r.next()) {
      switch (r.field()) {
        case 1: block_.name = r.bytes(); break;
        case 2: block_.feeds = r.int32(); break;
        case 3: instructions.push_back(r.bytes()); break;
        case 4: numbers(r, &block_.fetches); break;
        case 5: block_.feed_names.emplace_back(r.bytes()); break;
        case 6: block_.fetch_names.emplace_back(r.bytes()); break;
        case 7: types(r); break;
        case 8: numbers(r, &micro_batches().feeds); break;
        case 9: numbers(r, &micro_batches().fetches); break;
        case 10: micro_batches().bytes = static_cast<std::int64_t>(r.varint()); break;
        case 11: micro_batches().least = r.int32(); break;
        case 12: block_.whole_because = r.bytes(); break;
        default: break;
      }
    }
    if (!r.ok()) malformed("a block is no message");
    if (block_.feeds < 0 || block_.feeds > kMostCounted) malformed("an absurd number of feeds");
    block_.initial.resize(static_cast<std::size_t>(block_.feeds));
    block_.instructions.reserve(instructions.size());
    for (const std::string_view instruction : instructions) add(read(instruction));
    for (const std::int32_t value : block_.fetches) check_value(value, "a fetch");
    check_order();
    if (block_.has_frames) block_.layout = std::make_unique<Frames>(block_);
    if (block_.micro_batches != nullptr) check_micro_batches(block_);
  }

 private:
  MicroBatches& micro_batches() {
    if (block_.micro_batches == nullptr) block_.micro_batches = std::make_unique<MicroBatches>();
    return *block_.micro_batches;
  }

  void types(const wire::Reader& r) {
    std::vector<std::int32_t> raw;
    numbers(r, &raw);
    for (const std::int32_t type : raw) block_.feed_types.push_back(static_cast<TF_DataType>(type));
  }

  void check_value(std::int32_t value, const char* what) const {
    if (value < 0 || value >= block_.values()) {
      malformed(std::string(what) + " is value " + std::to_string(value) + " of " +
                std::to_string(block_.values()));
    }
  }

  void add(const Fields& fields) {
    Instruction in;
    if (fields.kind >= static_cast<std::uint64_t>(Kind::count)) malformed("an unknown kind");
    if (fields.outputs < 0 || fields.outputs > kMostCounted - block_.values()) {
      malformed("an absurd number of outputs");
    }
    in.kind = static_cast<Kind>(fields.kind);
    in.is_constant = fields.is_constant;
    in.waits = fields.waits;
    in.device = device(fields.device);
    in.inputs = append(&block_.inputs, fields.inputs);
    in.controls = append(&block_.controls, fields.controls);
    in.deref = append(&block_.deref, fields.deref);
    in.outputs = {block_.values(), fields.outputs};
    in.blocks = fields.blocks;
    const sdk::NodeView node(fields.node_def);
    in.node = node.name();
    in.op = node.op();
    block_.initial.resize(block_.initial.size() + static_cast<std::size_t>(fields.outputs));
    const bool is_frame = in.kind >= Kind::switch_ && in.kind <= Kind::next_iteration;
    if (is_frame || in.kind == Kind::transfer) block_.has_frames = true;
    if (in.kind == Kind::enter) in.frame = frame(fields.frame);
    if (in.kind == Kind::constant) constant(in, fields);
    if (needs_kernel(in.kind)) kernel(in, fields);
    const bool is_kept = in.kind == Kind::session_constant || (in.kind == Kind::copy && in.is_constant);
    if (is_kept) in.session_constant = program_.session_constants++;
    check_shape(in, fields);
    block_.instructions.push_back(std::move(in));
  }

  std::int16_t device(std::int32_t number) const {
    if (number < 0 || static_cast<std::size_t>(number) > program_.devices.size()) malformed("an unknown device");
    return static_cast<std::int16_t>(number);
  }

  std::int32_t frame(std::string_view name) {
    auto& frames = block_.frames;
    const auto found = std::find(frames.begin(), frames.end(), name);
    if (found != frames.end()) return static_cast<std::int32_t>(found - frames.begin());
    frames.emplace_back(name);
    return static_cast<std::int32_t>(frames.size()) - 1;
  }

  void constant(Instruction& in, const Fields& fields) {
    if (in.outputs.count != 1) malformed("a constant must have one output");
    TF_Tensor* value = nullptr;
    if (fields.constant == 0) {
      value = kernels::tensor_from_proto(fields.value);
    } else {
      if (fields.constant < 0 || static_cast<std::size_t>(fields.constant) > constants_.size() ||
          constants_[static_cast<std::size_t>(fields.constant) - 1] == nullptr) {
        malformed("constant " + std::to_string(fields.constant) + " was not given");
      }
      value = share(*constants_[static_cast<std::size_t>(fields.constant) - 1]);
    }
    if (value->memory != nullptr && !value->memory->constant) value->memory->constant = true;
    program_.held.push_back(value);
    block_.initial[static_cast<std::size_t>(in.outputs.start)] = value;
  }

  // The embedder has chosen where it gives a kernel; what it leaves goes to a library's.
  void kernel(Instruction& in, const Fields& fields) {
    if (fields.callback > 0 && has_callbacks_) {
      in.callback = fields.callback - 1;
      own(in, fields);
      return;
    }
    if (fields.op < 0 || static_cast<std::size_t>(fields.op) >= op_defs_.size()) {
      malformed("node '" + in.node + "' has no op definition");
    }
    const std::string_view op_def = op_defs_[static_cast<std::size_t>(fields.op)];
    TF_Status status;
    std::int64_t id = -1;
    if (!kernels::kernels_of(in.op).empty()) {
      const TF_Buffer node{fields.node_def.data(), fields.node_def.size(), nullptr};
      const TF_Buffer def{op_def.data(), op_def.size(), nullptr};
      id = DS_FindKernel(&node, &def, in.device == 0 ? nullptr : place_of(in).type.c_str(), &status);
    }
    if (id < 0) {
      fail_at({.node = in.node, .op = in.op}, {TF_UNIMPLEMENTED, "it has no kernel" + (status.message.empty() ? "" : ": " + status.message)});
    }
    in.kernel.reset(DS_Kernel::make(kernels::find(id), fields.node_def, op_def,
                                    in.device == 0 ? "" : place_of(in).name));
    const auto is_ref = [](const kernels::Signature& s) {
      return std::find(s.is_ref.begin(), s.is_ref.end(), 1) != s.is_ref.end();
    };
    if (fields.callback < 0 && has_callbacks_) in.fallback = -(fields.callback + 1);
    in.has_refs = is_ref(in.kernel->inputs) || is_ref(in.kernel->outputs);
    in.is_plain = in.kind == Kind::kernel && !in.has_refs && !in.is_constant &&
                  fields.deref.empty() && in.fallback < 0 && in.device == 0;
    if (in.kernel->inputs.size() != in.inputs.count ||
        in.kernel->outputs.size() != in.outputs.count) {
      malformed("node '" + in.node + "' has another fan-in or fan-out than its op says");
    }
  }

  const ProgramDevice& place_of(const Instruction& in) const {
    return program_.devices[static_cast<std::size_t>(in.device) - 1];
  }

  // What the executor computes itself, where it can.
  void own(Instruction& in, const Fields& fields) const {
    if (fields.own > 0) {
      in.compiled = subgraph::find_operator(fields.own);
      if (in.outputs.count < 1) malformed("node '" + in.node + "' does not say whether it is ready");
    } else if (fields.own == -1) {
      in.reads_version = true;
      in.value_type = static_cast<TF_DataType>(fields.value_type);
      if (in.inputs.count != 1 || in.outputs.count != 2) {
        malformed("node '" + in.node + "' must have a handle, and give a value and a version");
      }
    } else if (fields.own == -2) {
      in.reads_there = true;
      in.value_type = static_cast<TF_DataType>(fields.value_type);
      if (in.inputs.count != 1 || in.outputs.count != 1 || in.device == 0) {
        malformed("node '" + in.node + "' must have a handle and a device, and give a value");
      }
    }
  }

  void check_shape(const Instruction& in, const Fields& fields) const {
    const auto need = [&](bool holds, const char* what) {
      if (!holds) malformed("node '" + in.node + "': " + what);
    };
    const std::int32_t blocks = blocks_of(in.kind);
    need(blocks == 0 ? in.kind == Kind::case_ || in.blocks.empty()
                     : in.blocks.size() == static_cast<std::size_t>(blocks),
         "a wrong number of blocks");
    for (const std::int32_t block : in.blocks) {
      need(block > 0 && static_cast<std::size_t>(block) < program_.blocks.size(), "no such block");
    }
    for (const std::int32_t k : fields.deref) need(k >= 0 && k < in.inputs.count, "no such input");
    const std::int32_t inputs = in.inputs.count;
    const std::int32_t outputs = in.outputs.count;
    switch (in.kind) {
      case Kind::transfer: need(in.callback >= 0, "only the loader has a kernel for it"); break;
      case Kind::switch_: need(inputs == 2 && outputs >= 1, "a switch takes data and a choice"); break;
      case Kind::merge: need(inputs >= 1 && outputs == 2, "a merge has two outputs"); break;
      case Kind::enter: case Kind::exit: case Kind::next_iteration: case Kind::copy:
        need(inputs == 1 && outputs == 1, "one value goes in and out");
        break;
      case Kind::forward: case Kind::while_:
        need(inputs == outputs, "as many outputs as inputs are needed");
        break;
      case Kind::loop: need(outputs >= 1 && inputs >= outputs, "its variables are needed"); break;
      case Kind::nothing: case Kind::trigger: need(outputs == 0, "there is no output"); break;
      case Kind::if_: need(inputs >= 1, "a condition is needed"); break;
      case Kind::case_: need(inputs >= 1 && !in.blocks.empty(), "branches are needed"); break;
      default: break;
    }
  }

  // Inputs and controls are numbers of the block; without frames they come from what ran before.
  void check_order() const {
    const auto count = static_cast<std::int32_t>(block_.instructions.size());
    for (std::int32_t k = 0; k < count; ++k) {
      const Instruction& in = block_.instructions[static_cast<std::size_t>(k)];
      for (const std::int32_t value : block_.inputs_of(in)) {
        check_value(value, "an input");
        if (!block_.has_frames && value >= in.outputs.start) malformed("an input comes too late");
      }
      for (const std::int32_t before : in.controls.of(block_.controls)) {
        if (before < 0 || before >= count || (!block_.has_frames && before >= k)) {
          malformed("a control edge from nowhere");
        }
      }
    }
  }

  Program& program_;
  Block& block_;
  const std::vector<std::string_view>& op_defs_;
  std::span<TF_Tensor* const> constants_;
  bool has_callbacks_;
};

// Values that are needed in memory: all but those that only kernels take that asked for stored
// inputs.
std::vector<bool> needed_in_memory(const Block& block) {
  std::vector<bool> out(block.initial.size(), block.has_frames);
  for (const std::int32_t value : block.fetches) out[static_cast<std::size_t>(value)] = true;
  for (const Instruction& in : block.instructions) {
    const auto inputs = block.inputs_of(in);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (in.is_plain && in.kernel->takes_stored[i] != 0) continue;
      out[static_cast<std::size_t>(inputs[i])] = true;
    }
  }
  return out;
}

// Constants in files come into memory where they are needed there.
void load_stored(Program* program) {
  for (Block& block : program->blocks) {
    const std::vector<bool> needed = needed_in_memory(block);
    for (std::size_t v = 0; v < needed.size(); ++v) {
      TF_Tensor*& value = block.initial[v];
      if (!needed[v] || value == nullptr || !is_stored(*value)) continue;
      value = loaded(*value);
      program->held.push_back(value);
    }
  }
}

bool is_loop(const Instruction& in) { return in.kind == Kind::while_ || in.kind == Kind::loop; }

// What calls take and give must fit the blocks that they run.
void check_calls(const Program& program) {
  const auto fits = [&](const Instruction& in, std::int32_t block, std::int32_t feeds,
                        std::int32_t fetches) {
    const Block& callee = program.blocks[static_cast<std::size_t>(block)];
    if (callee.feeds != feeds || callee.fetches.size() != static_cast<std::size_t>(fetches)) {
      malformed("node '" + in.node + "' calls '" + callee.name + "' with " + std::to_string(feeds) +
                " arguments for " + std::to_string(fetches) + " results; it has " +
                std::to_string(callee.feeds) + " and " + std::to_string(callee.fetches.size()));
    }
  };
  for (const Block& block : program.blocks) {
    for (const Instruction& in : block.instructions) {
      const bool chooses = in.kind == Kind::if_ || in.kind == Kind::case_;
      const std::int32_t feeds = in.inputs.count - (chooses ? 1 : 0);
      for (std::size_t k = 0; k < in.blocks.size(); ++k) {
        const bool is_cond = is_loop(in) && k == 0;
        fits(in, in.blocks[k], feeds, is_cond ? 1 : in.outputs.count);
      }
    }
  }
}

void note_plugins(Program* program) {
  std::set<std::string> found;
  for (const Block& block : program->blocks) {
    for (const Instruction& in : block.instructions) {
      if (in.kernel != nullptr && in.kernel->registered->is_watched) found.insert(in.kernel->registered->library);
    }
  }
  program->plugins.assign(found.begin(), found.end());
}

// The first block's feeds are the embedder's, and those of conditions the loop's, as long as nothing
// else calls them. Of a loop's body, those that no iteration changes are the loop's.
void find_borrowers(Program* program) {
  std::vector<std::int32_t> calls(program->blocks.size(), 0);
  for (Block& block : program->blocks) block.lent_from = 0;
  for (const Block& block : program->blocks) {
    for (const Instruction& in : block.instructions) {
      for (std::size_t k = 0; k < in.blocks.size(); ++k) {
        const auto number = static_cast<std::size_t>(in.blocks[k]);
        Block& callee = program->blocks[number];
        ++calls[number];
        if (in.kind == Kind::loop && k == 1) callee.lent_from = in.outputs.count;
        else if (!is_loop(in) || k == 1) callee.lent_from = callee.feeds;
      }
    }
  }
  for (const Block& block : program->blocks) {
    for (const Instruction& in : block.instructions) {
      const bool shares = std::any_of(in.blocks.begin(), in.blocks.end(), [&](std::int32_t b) {
        return calls[static_cast<std::size_t>(b)] != 1;
      });
      if (in.kind == Kind::loop && shares) malformed("loop '" + in.node + "' shares its blocks");
    }
  }
}

// A feed that is only copied to devices, be it behind nodes that hand it on, may lie on one.
void find_feeds_of_devices(Block* block) {
  std::vector<bool> goes(static_cast<std::size_t>(block->values()), true);
  for (const std::int32_t value : block->fetches) goes[static_cast<std::size_t>(value)] = false;
  for (auto in = block->instructions.rbegin(); in != block->instructions.rend(); ++in) {
    const auto inputs = block->inputs_of(*in);
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const bool hands_on = in->kind == Kind::forward && in->deref.count == 0 &&
                            goes[static_cast<std::size_t>(in->outputs.start) + k];
      if (!hands_on && (in->kind != Kind::copy || in->device == 0)) goes[static_cast<std::size_t>(inputs[k])] = false;
    }
  }
  block->feed_goes_to_devices.assign(goes.begin(), goes.begin() + block->feeds);
}

}  // namespace

Block::Block() = default;
Block::~Block() = default;
Block::Block(Block&&) noexcept = default;
Block& Block::operator=(Block&&) noexcept = default;

Program::~Program() {
  for (TF_Tensor* tensor : held) drop(tensor);
}

std::unique_ptr<Program> load(std::string_view bytes, std::span<TF_Tensor* const> constants,
                              bool has_callbacks) {
  auto out = std::make_unique<Program>();
  std::vector<std::string_view> op_defs;
  std::vector<std::string_view> blocks;
  std::int32_t version = 0;
  wire::Reader r(bytes);
  while (r.next()) {
    switch (r.field()) {
      case 1: version = r.int32(); break;
      case 2: out->graph_def_version = r.int32(); break;
      case 3: op_defs.push_back(r.bytes()); break;
      case 4: blocks.push_back(r.bytes()); break;
      case 5: out->devices.push_back(find_device(r.bytes())); break;
      default: break;
    }
  }
  if (!r.ok() || blocks.empty()) malformed("it is no PlanDef with a block");
  if (version != 1) malformed("it has version " + std::to_string(version) + ", not 1");
  out->blocks.resize(blocks.size());
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    BlockLoader(*out, out->blocks[k], op_defs, constants, has_callbacks).load(blocks[k]);
  }
  load_stored(out.get());
  check_calls(*out);
  find_borrowers(out.get());
  for (Block& block : out->blocks) {
    if (!block.has_frames) plan_lifetimes(block);
  }
  if (out->devices.empty()) find_parallel_schedules(*out);  // a stream belongs to one thread
  else if (!out->blocks[0].has_frames) find_feeds_of_devices(&out->blocks[0]);
  note_plugins(out.get());
  return out;
}

}  // namespace drystone::host::executor

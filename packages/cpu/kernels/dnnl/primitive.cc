// Running primitives: see dnnl/primitive.h.
#include "dnnl/primitive.h"

#include <algorithm>
#include <string_view>

namespace drystone::cpu::dnnl_part {

const dnnl::engine& engine() {
  static const dnnl::engine out(dnnl::engine::kind::cpu, 0);
  return out;
}

const dnnl::stream& stream() {
  static const dnnl::stream out(engine());  // it holds nothing for the CPU: threads may share it
  return out;
}

int threads_for(std::int64_t operations, std::int64_t elements) {
  constexpr std::int64_t kPerElement = 5;      // operations in the time that one takes from a cache
  constexpr std::int64_t kLeast = 1'000'000;   // some 10 us, of which sharing takes 1 or 2
  const bool is_small = operations + kPerElement * elements < kLeast;
  const int now = is_small ? 1 : DS_NumThreads();
  drystone_omp_set_threads(now);
  return now;
}

namespace {

// Whether threads of its team wait for one another, as those of some implementations do: they must all run at
// once. What was written for vectors or tiles, and goes forward, shares its work and nothing else.
bool waits_for_team(const dnnl::primitive& primitive) {
  const_dnnl_primitive_desc_t pd = nullptr;
  const char* name = nullptr;
  dnnl_primitive_kind_t kind = dnnl_undefined_primitive;
  dnnl_prop_kind_t direction = dnnl_forward_inference;
  if (dnnl_primitive_get_primitive_desc(primitive.get(), &pd) != dnnl_success) return true;
  if (dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name) != dnnl_success) return true;
  if (dnnl_primitive_desc_query(pd, dnnl_query_primitive_kind, 0, &kind) != dnnl_success) return true;
  if (kind == dnnl_reorder || kind == dnnl_softmax) return false;
  const bool has_direction = dnnl_primitive_desc_query(pd, dnnl_query_prop_kind, 0, &direction) == dnnl_success;
  if (has_direction && (direction == dnnl_backward_weights || direction == dnnl_backward)) return true;
  const std::string_view text(name);
  const bool is_generated = text.starts_with("brg") || text.starts_with("jit");
  return !is_generated || text.find("gemm") != std::string_view::npos;
}

}  // namespace

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr out;
  out.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  out.set_fpmath_mode(dnnl::fpmath_mode::strict);
  return out;
}

Type type_of(TF_DataType dtype) {
  return dtype == TF_BFLOAT16 ? Type::bf16 : dtype == TF_HALF ? Type::f16 : Type::f32;
}

bool is_native(TF_DataType dtype) {
  if (dtype == TF_FLOAT) return true;
  static const auto has = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto needed = static_cast<unsigned>(dtype == TF_BFLOAT16 ? dnnl::cpu_isa::avx512_core_bf16
                                                                 : dnnl::cpu_isa::avx512_core_fp16);
  return (has & needed) == needed;
}

Desc dense(const Shape& dims, Type type) {
  Shape strides(dims.size(), 1);
  for (std::size_t k = dims.size(); k-- > 1;)
    strides[k - 1] = strides[k] * std::max<std::int64_t>(dims[k], 1);
  return {dims, type, strides};
}

Desc any(const Shape& dims, Type type) {
  return {dims, type, dnnl::memory::format_tag::any};
}

// Memory objects of one run at a time, in the order of the operands, then the scratch memory.
struct Primitive::Arguments {
  std::vector<dnnl::memory> memories;
  std::vector<dnnl_exec_arg_t> list;
  std::vector<const void*> data;  // what each was told last: most are where they were
};

Primitive::Primitive(dnnl::primitive primitive, std::vector<std::pair<int, Desc>> operands,
                     const Desc& scratch)
    : primitive_(std::move(primitive)), operands_(std::move(operands)), scratch_(scratch),
      threads_(drystone_omp_threads()), needs_gang_(threads_ > 1 && waits_for_team(primitive_)) {
  if (needs_gang_ && drystone_omp_has_gang(threads_) == 0) throw NoGang();
  if (scratch_.get_size() != 0) operands_.emplace_back(DNNL_ARG_SCRATCHPAD, scratch_);
}

Primitive::~Primitive() { delete spare_.load(); }

Primitive::Arguments* Primitive::take() const {
  Arguments* spare = spare_.exchange(nullptr, std::memory_order_acq_rel);
  if (spare != nullptr) return spare;
  auto out = std::make_unique<Arguments>();
  for (const auto& [argument, desc] : operands_) {
    out->memories.emplace_back(desc, engine(), nullptr);
    out->list.push_back({argument, out->memories.back().get()});
    out->data.push_back(nullptr);
  }
  return out.release();
}

void Primitive::run(const Call& call, std::initializer_list<Operand> given,
                    const std::vector<Operand>& more) const {
  std::unique_ptr<Arguments> arguments(take());
  const auto set = [&](const Operand& operand) {
    for (std::size_t k = 0; k < arguments->list.size(); ++k) {
      const dnnl_exec_arg_t& item = arguments->list[k];
      if (item.arg != operand.argument || arguments->data[k] == operand.data) continue;
      dnnl_memory_set_data_handle(item.memory, const_cast<void*>(operand.data));
      arguments->data[k] = operand.data;
    }
  };
  for (const Operand& operand : given) set(operand);
  for (const Operand& operand : more) set(operand);
  const std::size_t scratch = scratch_.get_size();
  if (scratch != 0)
    set({DNNL_ARG_SCRATCHPAD, call.scratch<char>(static_cast<std::int64_t>(scratch))});
  // oneDNN leaves work out where it gets fewer threads than it was told.
  drystone_omp_set_threads(threads_);
  drystone_omp_set_gang(needs_gang_ ? 1 : 0);
  const dnnl_status_t status =
      dnnl_primitive_execute(primitive_.get(), stream().get(),
                             static_cast<int>(arguments->list.size()), arguments->list.data());
  Arguments* none = nullptr;
  if (spare_.compare_exchange_strong(none, arguments.get(), std::memory_order_acq_rel))
    static_cast<void>(arguments.release());
  if (status == dnnl_out_of_memory) throw std::bad_alloc();
  if (status != dnnl_success)
    fail(TF_INTERNAL, "oneDNN failed with status " + std::to_string(status));
}

std::unique_ptr<Primitive> make_reorder(const Desc& from, const Desc& to) {
  const dnnl::reorder::primitive_desc pd(engine(), from, engine(), to, attributes());
  return std::make_unique<Primitive>(
      dnnl::reorder(pd),
      std::vector<std::pair<int, Desc>>{{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}},
      pd.scratchpad_desc());
}

}  // namespace drystone::cpu::dnnl_part

// Packed weights: see dnnl/weights.h.
#include "dnnl/weights.h"

namespace drystone::cpu::dnnl_part {
namespace {

TF_Tensor* held_input(const Call& call, int i) {
  TF_Status* status = TF_NewStatus();
  TF_Tensor* out = nullptr;
  TF_GetInput(call.context(), i, &out, status);
  TF_DeleteStatus(status);
  return out;
}

}  // namespace

Packing::Packing(const Desc& given, const Desc& wanted) : wanted_(wanted) {
  if (given != wanted) reorder_ = make_reorder(given, wanted);
}

void Packing::run(const Call& call, const void* from, void* to) const {
  reorder_->run(call, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

const Weights::Kept* Weights::find(const void* data, const Desc& wanted) const {
  for (const auto& kept : kept_) {
    if (kept->data == data && kept->memory.get_desc() == wanted) return kept.get();
  }
  return nullptr;
}

const void* Weights::packed(const Call& call, int i, const void* data, const Packing& packing) {
  if (!packing.is_needed()) return data;
  if (call.is_constant(i)) {
    const std::lock_guard lock(mutex_);
    const Kept* known = find(data, packing.wanted());
    if (known != nullptr) return known->memory.get_data_handle();
    TF_Tensor* held = kept_.size() < kMost ? held_input(call, i) : nullptr;
    if (held != nullptr) {
      auto kept = std::make_unique<Kept>(data, held, dnnl::memory(packing.wanted(), engine()));
      packing.run(call, data, kept->memory.get_data_handle());
      kept_.push_back(std::move(kept));
      return kept_.back()->memory.get_data_handle();
    }
  }
  auto* room = call.scratch<char>(static_cast<std::int64_t>(packing.wanted().get_size()));
  packing.run(call, data, room);
  return room;
}

}  // namespace drystone::cpu::dnnl_part

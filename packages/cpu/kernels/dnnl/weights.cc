// Packed weights: see dnnl/weights.h.
#include "dnnl/weights.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <unordered_map>
#include <utility>

#include "core/stored.h"
#include "dnnl/packed_memory.h"

namespace drystone::cpu::dnnl_part {
namespace {

TF_Tensor* held_input(const Call& call, int i) {
  TF_Status* status = TF_NewStatus();
  TF_Tensor* out = nullptr;
  TF_GetInput(call.context(), i, &out, status);
  TF_DeleteStatus(status);
  return out;
}

struct Free {
  void operator()(void* block) const noexcept { std::free(block); }
};

// The elements of an input that is in a file, for a moment. The call's memory is used again by what comes
// after, so pages are fresh once for all weights; what is larger than layers are does not stay.
class Passing {
 public:
  Passing(const Call& call, int i, const Tensor& x) {
    constexpr std::int64_t kAligned = 64;
    constexpr std::int64_t kMostScratch = 16 << 20;
    const std::int64_t bytes = x.count() * static_cast<std::int64_t>(TF_DataTypeSize(x.dtype()));
    if (bytes <= kMostScratch) {
      data_ = call.scratch<char>(bytes);
    } else {
      const auto whole = static_cast<std::size_t>((bytes + kAligned - 1) / kAligned * kAligned);
      large_.reset(std::aligned_alloc(kAligned, whole));
      if (large_ == nullptr) throw std::bad_alloc();
      data_ = large_.get();
    }
    if (!read_input(call, i, 0, bytes, data_)) throw AlreadyFailed();
  }
  const void* data() const { return data_; }

 private:
  std::unique_ptr<void, Free> large_;
  void* data_;
};

}  // namespace

void take_stored_weights(const Node& node, int i) {
  if (node.has("T") && is_native(node.type("T"))) take_stored(node, i);
}

Packing::Packing(const Desc& given, const Desc& wanted) : given_(given), wanted_(wanted) {
  if (given != wanted) reorder_ = make_reorder(given, wanted);
}

void Packing::run(const Call& call, const void* from, void* to) const {
  reorder_->run(call, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

const void* Packing::made(const Call& call, const void* from) const {
  if (!is_needed()) return from;
  auto* room = call.scratch<char>(static_cast<std::int64_t>(wanted_.get_size()));
  run(call, from, room);
  return room;
}

// What is kept for any kernel of the process, by which elements it was made of.
class Weights::Shared {
 public:
  // Of the same elements in the same orders; NULL without one.
  static KeptPtr find(const Kept& like) {
    Shared& all = the_one();
    std::vector<KeptPtr> seen;  // the last who has one forgets it, which needs the lock
    const std::lock_guard lock(all.mutex_);
    const auto [first, last] = all.kept_.equal_range(like.identity[0] ^ like.identity[1]);
    for (auto at = first; at != last; ++at) {
      const KeptPtr kept = seen.emplace_back(at->second.second.lock());
      if (kept != nullptr && kept->identity == like.identity && kept->given == like.given && kept->order == like.order) {
        return kept;
      }
    }
    return nullptr;
  }
  static void add(const KeptPtr& kept) {
    Shared& all = the_one();
    const std::lock_guard lock(all.mutex_);
    all.kept_.emplace(kept->identity[0] ^ kept->identity[1], std::pair(kept.get(), std::weak_ptr(kept)));
  }
  static void forget(const Kept& kept) {
    Shared& all = the_one();
    const std::lock_guard lock(all.mutex_);
    const auto [first, last] = all.kept_.equal_range(kept.identity[0] ^ kept.identity[1]);
    const auto own = std::find_if(first, last, [&](const auto& entry) { return entry.second.first == &kept; });
    if (own != last) all.kept_.erase(own);
  }

 private:
  // Never destroyed: kernels may go during exit.
  static Shared& the_one() {
    static auto* all = new Shared();
    return *all;
  }

  std::mutex mutex_;
  std::unordered_multimap<std::uint64_t, std::pair<const Kept*, std::weak_ptr<const Kept>>> kept_;
};

Weights::Kept::~Kept() {
  if (is_shared) Shared::forget(*this);
  TF_DeleteTensor(held);
}

Weights::KeptPtr Weights::find(const void* data, const Desc& wanted) {
  const auto known = std::ranges::find_if(kept_, [&](const KeptPtr& kept) {
    return kept->data == data && kept->order == wanted;
  });
  if (known == kept_.end()) return nullptr;
  std::rotate(known, known + 1, kept_.end());
  return kept_.back();
}

// NULL where the input cannot be held.
Weights::KeptPtr Weights::keep(const Call& call, int i, const Tensor& x, const Packing& packing) {
  TF_Tensor* held = held_input(call, i);
  if (held == nullptr) return nullptr;
  auto kept = std::make_shared<Kept>(x.data(), held, packing);
  kept->is_shared = DS_InputIdentity(call.context(), i, kept->identity.data()) != 0;
  if (KeptPtr others = kept->is_shared ? Shared::find(*kept) : nullptr) {
    kept->is_shared = false;  // it has no entry
    if (kept_.size() == kMost) kept_.erase(kept_.begin());
    return kept_.emplace_back(std::move(others));
  }
  kept->room = allocate_packed(packing.wanted().get_size());
  if (x.data() != nullptr) packing.run(call, x.data(), kept->room.get());
  else packing.run(call, Passing(call, i, x).data(), kept->room.get());
  if (kept->is_shared) Shared::add(kept);
  if (kept_.size() == kMost) kept_.erase(kept_.begin());
  return kept_.emplace_back(std::move(kept));
}

Packed Weights::packed(const Call& call, int i, const Tensor& x, const Packing& packing) {
  if (!packing.is_needed()) return {Packed(), loaded(call, i, x)};
  if (call.is_constant(i)) {
    const std::lock_guard lock(mutex_);
    KeptPtr kept = find(x.data(), packing.wanted());
    if (kept == nullptr) kept = keep(call, i, x, packing);
    if (kept != nullptr) return {kept, kept->room.get()};
  }
  return {Packed(), packing.made(call, loaded(call, i, x))};
}

}  // namespace drystone::cpu::dnnl_part

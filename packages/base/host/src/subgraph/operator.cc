// Operators of compiled regions: see subgraph/operator.h.
#include "subgraph/operator.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/dtype_names.h"
#include "core/failure.h"
#include "core/freed_blocks.h"
#include "core/guarded_bytes.h"
#include "core/lent_tensors.h"
#include "core/memory_guards.h"
#include "core/readable.h"
#include "drystone/logging.h"

namespace drystone::host::subgraph {
namespace {

constexpr std::size_t kFew = 16;  // weights whose versions need no allocation

std::uint64_t now() {
  static std::atomic<std::uint64_t> clock{0};
  return clock.fetch_add(1, std::memory_order_relaxed) + 1;
}

bool is_known(const TF_Tensor& tensor) { return tensor.memory != nullptr && !tensor.memory->opaque; }

// Takes out what is no new tensor: one of the inputs, or one that is there twice. Whether there was any.
bool take_out_aliases(TF_Tensor* const* inputs, std::size_t num_inputs, TF_Tensor** outputs,
                      std::size_t num_outputs) {
  bool found = false;
  for (std::size_t k = 0; k < num_outputs; ++k) {
    TF_Tensor* const made = outputs[k];
    if (made == nullptr) continue;
    const bool is_input = std::find(inputs, inputs + num_inputs, made) != inputs + num_inputs;
    if (!is_input && std::find(outputs, outputs + k, made) == outputs + k) continue;
    outputs[k] = nullptr;
    found = true;
  }
  return found;
}

// Memory of the backend's own, which the host goes on to read.
void check_places(TF_Tensor** outputs, std::size_t count, const FreedBlocks& freed, TF_Status* status) {
  for (std::size_t k = 0; k < count; ++k) {
    const Memory* const memory = outputs[k] == nullptr ? nullptr : outputs[k]->memory;
    if (memory == nullptr || memory->ours || memory->shared || memory->stored || memory->opaque) continue;
    const bool is_lost = memory->length != 0 && freed.holds(memory->data);
    if (!is_lost && is_readable(memory->data, memory->length)) continue;
    const char* const where = is_lost ? " in memory that it has freed" : " at an address where nothing can be read";
    return set(status, TF_INTERNAL, "execute",
               ("output " + std::to_string(k) + " has " + std::to_string(memory->length) + " bytes" + where).c_str());
  }
}

}  // namespace

void Backend::destroy(void* executable) const noexcept {
  if (executable == nullptr) return;
  try {
    fns->destroy_executable(itself, executable);
  } catch (...) {
    TF_Log(TF_ERROR, "destroying an executable of subgraph backend \"%s\" threw an exception", itself->name);
  }
}

bool Expected::admits(const TF_Tensor& tensor) const {
  if (rank < 0) return true;
  if (tensor.dims.rank() != rank) return false;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (dims[k] >= 0 && tensor.dims[static_cast<int>(k)] != dims[k]) return false;
  }
  return true;
}

std::string Expected::text() const {
  std::string out = "[";
  for (std::size_t k = 0; k < dims.size(); ++k) {
    out += (k == 0 ? "" : ", ") + (dims[k] < 0 ? std::string("?") : std::to_string(dims[k]));
  }
  return out + "]";
}

void Executable::expect(std::vector<Expected> shapes) {
  const std::lock_guard lock(mutex_);
  expected_ = std::move(shapes);
}

bool Executable::fits(TF_Tensor* const* inputs) const {
  for (std::size_t k = 0; k < shapes_.size(); ++k) {
    if (!inputs[k]->dims.equal(shapes_[k].data(), static_cast<int>(shapes_[k].size()))) return false;
  }
  return true;
}

bool Executable::compute(TF_Tensor* const* inputs, const std::vector<std::int32_t>& weights,
                         const std::int64_t* versions, TF_Tensor** outputs,
                         const std::vector<TF_DataType>& types) {
  if (is_unwanted_.load(std::memory_order_relaxed)) return false;
  struct End {
    Executable& of;
    ~End() { of.destroy_if_unwanted(); }
  } const end{*this};
  used_.store(now(), std::memory_order_relaxed);
  if (is_plan_) {
    const std::shared_lock lock(mutex_);
    if (handle_ == nullptr) return false;
    if (has_packed(versions)) return execute(inputs, outputs, types);
  }
  return compute_in_turn(inputs, weights, versions, outputs, types);
}

bool Executable::compute_in_turn(TF_Tensor* const* inputs, const std::vector<std::int32_t>& weights,
                                 const std::int64_t* versions, TF_Tensor** outputs,
                                 const std::vector<TF_DataType>& types) {
  const std::lock_guard lock(mutex_);
  if (handle_ == nullptr) return false;
  if (!has_packed(versions) && !pack(inputs, weights, versions)) return false;
  return execute(inputs, outputs, types);
}

// Without `update` it is the embedder who compiles again.
bool Executable::pack(TF_Tensor* const* inputs, const std::vector<std::int32_t>& weights,
                      const std::int64_t* versions) {
  if (backend_.fns->update == nullptr) return false;
  std::vector<TF_Tensor*> given(shapes_.size());
  std::vector<unsigned char> changed(shapes_.size());
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (versions_[k] == versions[k]) continue;
    const auto place = static_cast<std::size_t>(weights[k]);
    given[place] = inputs[place];
    changed[place] = 1;
  }
  TF_Status status;
  const LentTensors lent(given.data(), given.size());
  calling(&status, [&] {
    backend_.fns->update(backend_.itself, handle_, given.data(),
                         static_cast<std::int32_t>(given.size()), changed.data(), &status);
  });
  if (status.code != TF_OK) {
    fail_with(status);
    return false;
  }
  std::copy_n(versions, weights.size(), versions_.begin());
  ++packs_;
  return true;
}

// Calls a backend of a plugin's, which must keep to the arrays that it is given.
void Executable::call_plugin(TF_Tensor* const* inputs, TF_Tensor** outputs, std::size_t count, TF_Status* status) {
  GuardedBytes room(count * sizeof *outputs);
  auto** const made = reinterpret_cast<TF_Tensor**>(room.data());
  std::fill_n(made, count, nullptr);
  noted_harm();  // before this call
  FreedBlocks freed;
  const LentTensors lent(inputs, shapes_.size());
  calling(status, [&] {
    freed.begin();
    backend_.fns->execute(backend_.itself, handle_, inputs, static_cast<std::int32_t>(shapes_.size()), made,
                          static_cast<std::int32_t>(count), status);
    freed.end();
  });
  const bool is_whole = room.is_whole(backend_.itself->name);
  std::copy_n(made, count, outputs);
  const bool has_aliases = take_out_aliases(inputs, shapes_.size(), outputs, count);
  if (status->code != TF_OK) return;
  if (!is_whole) set(status, TF_INTERNAL, "execute", "it wrote outside of the array of outputs");
  else if (has_aliases) set(status, TF_INTERNAL, "execute", "an output is one of the inputs, or there twice");
  else if (const std::string harm = noted_harm(); !harm.empty()) set(status, TF_INTERNAL, "execute", harm.c_str());
  else check_places(outputs, count, freed, status);
}

void Executable::check_outputs(TF_Tensor** outputs, const std::vector<TF_DataType>& types,
                               TF_Status* status) const {
  for (std::size_t k = 0; k < types.size(); ++k) {
    const auto wrong = [&](const std::string& what) {
      set(status, TF_INTERNAL, "execute", ("output " + std::to_string(k) + " " + what).c_str());
    };
    const TF_Tensor* output = outputs[k];
    if (output == nullptr) return wrong("is NULL");
    if (output->dtype != types[k]) {
      return wrong("has dtype " + std::string(dtype_name(output->dtype)) + ", and the region states " +
                   dtype_name(types[k]));
    }
    if (output->memory == nullptr) return wrong("has no memory");
    if (k >= expected_.size() || expected_[k].admits(*output)) continue;
    const Expected found{output->dims.rank(), {output->dims.data(), output->dims.data() + output->dims.rank()}};
    return wrong("has shape " + found.text() + ", and the region gives " + expected_[k].text());
  }
}

bool Executable::execute(TF_Tensor* const* inputs, TF_Tensor** outputs,
                         const std::vector<TF_DataType>& types) {
  TF_Status status;
  if (is_plan_) {
    calling(&status, [&] {
      backend_.fns->execute(backend_.itself, handle_, inputs, static_cast<std::int32_t>(shapes_.size()), outputs,
                            static_cast<std::int32_t>(types.size()), &status);
    });
  } else {
    call_plugin(inputs, outputs, types.size(), &status);
  }
  if (status.code == TF_OK) check_outputs(outputs, types, &status);
  if (status.code == TF_OK) {
    runs_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  for (std::size_t k = 0; k < types.size(); ++k) drop(std::exchange(outputs[k], nullptr));
  if (is_plan_) pass_on(status);
  fail_with(status);
  return false;
}

void Executable::fail_with(const TF_Status& status) {
  failure_ = failure_in(status);
  backend_.destroy(std::exchange(handle_, nullptr));
}

void Executable::destroy() noexcept {
  is_unwanted_.store(true);
  destroy_if_unwanted();
}

void Executable::destroy_if_unwanted() noexcept {
  if (!is_unwanted_.load()) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) backend_.destroy(std::exchange(handle_, nullptr));
}

void Executable::describe(DS_ExecutableState* state, TF_Status* status) const {
  const std::shared_lock lock(mutex_);
  state->runs = runs_.load(std::memory_order_relaxed);
  state->packs = packs_;
  state->used = used();
  state->arena = arena_unlocked();
  state->is_alive = handle_ != nullptr ? 1 : 0;
  if (failure_) set(status, nullptr, *failure_);
}

std::int64_t Executable::arena() const {
  if (!is_plan_) return 0;  // and may hold its lock for as long as it runs
  const std::shared_lock lock(mutex_);
  return arena_unlocked();
}

std::int64_t Operator::arena() const {
  std::vector<Entry> entries;  // an executable may be busy for long
  {
    const std::lock_guard lock(mutex_);
    entries = entries_;
  }
  std::int64_t bytes = 0;
  for (const Entry& entry : entries) bytes += entry.executable->arena();
  return bytes;
}

bool Operator::compute(TF_Tensor* const* inputs, std::int32_t num_inputs, TF_Tensor** outputs,
                       std::int32_t num_outputs) {
  const std::size_t weights = weights_.size();
  if (num_inputs != inputs_ + static_cast<std::int32_t>(weights)) return false;
  if (num_outputs != static_cast<std::int32_t>(types_.size())) return false;
  if (!std::all_of(inputs, inputs + num_inputs, [](const TF_Tensor* t) { return is_known(*t); })) {
    return false;
  }
  std::array<std::int64_t, kFew> few;
  std::vector<std::int64_t> more(weights > kFew ? weights : 0);
  std::int64_t* const versions = weights > kFew ? more.data() : few.data();
  for (std::size_t k = 0; k < weights; ++k) {
    const TF_Tensor& version = *inputs[static_cast<std::size_t>(inputs_) + k];
    if (version.dtype != TF_INT64 || version.count() != 1) return false;
    versions[k] = *static_cast<const std::int64_t*>(version.memory->data);
  }
  const std::shared_ptr<Executable> found = fitting(inputs);
  return found != nullptr && found->compute(inputs, weights_, versions, outputs, types_);
}

std::shared_ptr<Executable> Operator::fitting(TF_Tensor* const* inputs) const {
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.executable->fits(inputs)) return entry.executable;
  }
  return nullptr;
}

std::int64_t Operator::add(void* handle, Shapes shapes, std::vector<std::int64_t> versions) {
  auto made = std::make_shared<Executable>(backend_, handle, std::move(shapes), std::move(versions));
  const std::lock_guard lock(mutex_);
  entries_.push_back({++last_, std::move(made)});
  return last_;
}

void Operator::remove(std::int64_t number) noexcept {
  std::shared_ptr<Executable> gone;  // outlives the lock: a destructor is the plugin's
  {
    const std::lock_guard lock(mutex_);
    const auto is_it = [&](const Entry& entry) { return entry.number == number; };
    const auto found = std::find_if(entries_.begin(), entries_.end(), is_it);
    if (found == entries_.end()) return;
    gone = std::move(found->executable);
    entries_.erase(found);
  }
  gone->destroy();
}

void Operator::clear() noexcept {
  std::vector<Entry> gone;
  {
    const std::lock_guard lock(mutex_);
    gone.swap(entries_);
  }
  for (const Entry& entry : gone) entry.executable->destroy();
}

std::shared_ptr<Executable> Operator::find(std::int64_t number) const {
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.number == number) return entry.executable;
  }
  return nullptr;
}

}  // namespace drystone::host::subgraph

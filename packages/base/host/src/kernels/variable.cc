// Variables: see kernels/variable.h and drystone_host/kernels.h.
#include "kernels/variable.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "core/dtype_names.h"
#include "core/failure.h"
#include "core/live.h"

struct DS_Variable {
  explicit DS_Variable(drystone::host::kernels::VariablePtr held) : variable(std::move(held)) {
    drystone::host::born(drystone::host::Kind::handle);
  }
  ~DS_Variable() { drystone::host::died(drystone::host::Kind::handle); }
  DS_Variable(const DS_Variable&) = delete;
  DS_Variable& operator=(const DS_Variable&) = delete;

  drystone::host::kernels::VariablePtr variable;
};

namespace drystone::host::kernels {
namespace {

Handles<Variable>& variables() {
  static auto* all = new Handles<Variable>(0xD5'0A'F7'01U);
  return *all;
}

struct Temporaries {
  std::mutex mutex;
  std::map<std::pair<std::int64_t, std::string>, VariablePtr> all;
};

Temporaries& temporaries() {
  static auto* only = new Temporaries();
  return *only;
}

std::int64_t next_version() {
  static std::atomic<std::int64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void check_dtype(const Variable& variable, const TF_Tensor& value) {
  if (value.dtype == variable.dtype() && value.memory != nullptr) return;
  fail(TF_INVALID_ARGUMENT, "variable '" + variable.name() + "' has dtype " +
                                dtype_name(variable.dtype()) +
                                ", the value has " +
                                (value.memory == nullptr
                                     ? "no memory"
                                     : dtype_name(value.dtype)));
}

}  // namespace

Variable::Variable(std::string name, std::string container, TF_DataType dtype)
    : name_(std::move(name)), container_(std::move(container)), dtype_(dtype) {}

Variable::~Variable() { variables().forget(number_); }

VariablePtr Variable::make(std::string name, std::string container, TF_DataType dtype,
                           const TF_Tensor* value) {
  if (stored_size(dtype) == 0) fail(TF_INVALID_ARGUMENT, "there is no such dtype");
  VariablePtr made(new Variable(std::move(name), std::move(container), dtype));
  made->number_ = variables().add(made);
  made->set(value);
  return made;
}

std::unique_ptr<TF_Tensor> Variable::value() const {
  const std::lock_guard lock(mutex_);
  return std::unique_ptr<TF_Tensor>(value_ == nullptr ? nullptr : share(*value_));
}

void Variable::require_value() const {
  if (value_ != nullptr) return;
  fail(TF_FAILED_PRECONDITION, "variable '" + name_ + "' has no value yet",
       {{DS_PAYLOAD_CODE, "uninitialized-variable"}, {DS_PAYLOAD_VARIABLE, name_}});
}

void Variable::check_value() const {
  const std::lock_guard lock(mutex_);
  require_value();
}

std::unique_ptr<TF_Tensor> Variable::initialized(Lane* lane) {
  const std::lock_guard lock(mutex_);
  require_value();
  return here(lane);
}

std::unique_lock<std::mutex> Variable::settled() {
  std::unique_lock lock(mutex_);
  unlocked_.wait(lock, [&] { return owner_ == nullptr || value_ == nullptr || lane_of(*value_) == nullptr; });
  return lock;
}

std::unique_ptr<TF_Tensor> Variable::read(Lane* lane) {
  const auto lock = settled();
  require_value();
  return here(lane);
}

std::pair<std::unique_ptr<TF_Tensor>, std::int64_t> Variable::versioned() {
  const auto lock = settled();
  if (value_ == nullptr) return {nullptr, 0};
  return {here(nullptr), version_};
}

std::int64_t Variable::version() const {
  const std::lock_guard lock(mutex_);
  return value_ == nullptr ? 0 : version_;
}

namespace {

// Whether work of the lane, NULL: of the host, finds a tensor where it is.
bool lies_at(const TF_Tensor& tensor, const Lane* lane) {
  const Lane* const owner = lane_of(tensor);
  return owner == nullptr || lane == nullptr ? owner == lane : &owner->device() == &lane->device();
}

// A new handle, once the lane's work may use it.
std::unique_ptr<TF_Tensor> ready(const TF_Tensor& tensor, Lane* lane) {
  if (lane_of(tensor) != lane) lane->follow(tensor);
  return std::unique_ptr<TF_Tensor>(share(tensor));
}

// New memory with the same elements, at the same place.
std::unique_ptr<TF_Tensor> duplicate(const TF_Tensor& value, Lane* lane) {
  if (lane == nullptr) {
    std::unique_ptr<TF_Tensor> out(new_tensor(value.dtype, value.dims.data(), value.dims.rank()));
    if (out->memory->length != 0) std::memcpy(out->memory->data, value.memory->data, out->memory->length);
    return out;
  }
  std::unique_ptr<TF_Tensor> out(lane->allocate(value.dtype, value.dims.data(), value.dims.rank()));
  lane->copy_on(*ready(value, lane), *out);
  return out;
}

}  // namespace

// With the mutex held, of a variable that has a value.
std::unique_ptr<TF_Tensor> Variable::here(Lane* lane) {
  if (lies_at(*value_, lane)) return ready(*value_, lane);
  const auto known = std::ranges::find_if(copies_, [&](const auto& copy) { return lies_at(*copy, lane); });
  if (known != copies_.end()) return ready(**known, lane);
  const bool stays = !was_changed_ || value_->memory->references.load(std::memory_order_acquire) == 1;
  auto out = elsewhere(lane);
  if (stays) copies_.emplace_back(share(*out));
  return out;
}

std::unique_ptr<TF_Tensor> Variable::elsewhere(Lane* lane) {
  if (lane == nullptr) return on_host(*value_);
  return lane->copy_of(lane_of(*value_) == nullptr ? *value_ : *here(nullptr));
}

// With the mutex held; what was the value is the caller's to drop.
void Variable::replace(std::unique_ptr<TF_Tensor>& value) {
  value_.swap(value);
  copies_.clear();
  was_changed_ = false;
  version_ = next_version();
}

void Variable::changed() {
  const std::lock_guard lock(mutex_);
  note_change();
}

void Variable::note_change() {
  copies_.clear();
  was_changed_ = true;
  version_ = next_version();
}

void Variable::move_to(Lane* lane) {
  const std::lock_guard lock(mutex_);
  require_value();
  if (lies_at(*value_, lane)) return;
  auto moved = here(lane);
  replace(moved);
}

void Variable::set(const TF_Tensor* value) {
  std::unique_ptr<TF_Tensor> mine;
  if (value != nullptr) {
    check_dtype(*this, *value);
    mine.reset(share(*value));
  }
  const std::lock_guard lock(mutex_);
  replace(mine);
}

std::unique_ptr<TF_Tensor> Variable::changeable(Lane* lane) {
  const std::lock_guard lock(mutex_);
  require_value();
  if (!lies_at(*value_, lane)) value_ = here(lane);
  copies_.clear();
  const Memory& memory = *value_->memory;
  const bool is_mine = lane == nullptr ? memory.ours : lane_of(*value_) == lane;
  if (!is_mine || memory.references.load(std::memory_order_acquire) != 1) {
    if (has_objects(dtype_)) fail(TF_UNIMPLEMENTED, "only variables of numbers are changed in place");
    auto copy = duplicate(*value_, lane);
    value_.swap(copy);
  }
  note_change();
  return std::unique_ptr<TF_Tensor>(share(*value_));
}

void Variable::take(std::unique_ptr<TF_Tensor> value) {
  check_dtype(*this, *value);
  const std::lock_guard lock(mutex_);
  replace(value);
}

bool Variable::exclusive(const Lane* lane) const {
  const std::lock_guard lock(mutex_);
  return value_ != nullptr && lane_of(*value_) == lane && (value_->memory->ours || value_->memory->token == 0) &&
         !value_->memory->shared &&
         value_->memory->references.load(std::memory_order_acquire) == 1;
}

void Variable::lock(const void* owner, const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  if (owner_ == owner) {
    fail(TF_FAILED_PRECONDITION, "variable '" + name_ + "' is locked by this call already");
  }
  const auto is_free = [&] { return owner_ == nullptr; };
  if (!deadline) unlocked_.wait(lock, is_free);
  else if (!unlocked_.wait_until(lock, *deadline, is_free)) {
    fail(TF_DEADLINE_EXCEEDED, "variable '" + name_ + "' stayed locked by another call");
  }
  owner_ = owner;
}

void Variable::unlock() noexcept {
  {
    const std::lock_guard lock(mutex_);
    owner_ = nullptr;
  }
  unlocked_.notify_all();
}

VariablePtr find_variable(const TF_Tensor& resource, std::int64_t index) {
  return variables().find(handle_at(resource, TF_RESOURCE, index));
}

VariablePtr variable_at(const TF_Tensor& resource, std::int64_t index) {
  VariablePtr found = find_variable(resource, index);
  if (found == nullptr) fail(TF_NOT_FOUND, "the resource stands for no variable that is alive");
  return found;
}

DS_Variable* expose(VariablePtr variable) { return new DS_Variable(std::move(variable)); }

const VariablePtr& variable_of(const DS_Variable* handle) {
  require(handle, "variable");
  return handle->variable;
}

void add_temporary(std::int64_t step, const VariablePtr& variable) {
  Temporaries& steps = temporaries();
  const std::lock_guard lock(steps.mutex);
  if (!steps.all.emplace(std::pair(step, variable->name()), variable).second) {
    fail(TF_ALREADY_EXISTS, "step " + std::to_string(step) + " has a temporary variable '" +
                                variable->name() + "' already");
  }
}

VariablePtr take_temporary(std::int64_t step, const std::string& name) {
  Temporaries& steps = temporaries();
  const std::lock_guard lock(steps.mutex);
  const auto found = steps.all.find(std::pair(step, name));
  if (found == steps.all.end()) {
    fail(TF_NOT_FOUND,
         "step " + std::to_string(step) + " has no temporary variable '" + name + "'");
  }
  VariablePtr out = found->second;
  steps.all.erase(found);
  return out;
}

}  // namespace drystone::host::kernels

using namespace drystone::host;
using namespace drystone::host::kernels;

extern "C" {

DS_Variable* DS_NewVariable(const char* name, const char* container, TF_DataType dtype,
                            const TF_Tensor* value, TF_Status* status) {
  DS_Variable* out = nullptr;
  guarded(status, __func__, [&] {
    require(name, "name");
    const char* place = container == nullptr ? "localhost" : container;
    out = expose(Variable::make(name, place, dtype, value));
  });
  return out;
}

DS_Variable* DS_ShareVariable(const DS_Variable* variable) {
  return answered<DS_Variable*>(nullptr, [&]() -> DS_Variable* {
    return variable == nullptr ? nullptr : expose(variable_of(variable));
  });
}

void DS_DeleteVariable(DS_Variable* variable) { delete variable; }

TF_Tensor* DS_VariableTensor(const DS_Variable* variable, TF_Status* status) {
  TF_Tensor* out = nullptr;
  guarded(status, __func__, [&] { out = variable_of(variable)->read().release(); });
  return out;
}

int64_t DS_VariableVersion(const DS_Variable* variable) {
  return answered<int64_t>(0, [&] { return variable_of(variable)->version(); });
}

void DS_SetVariable(DS_Variable* variable, const TF_Tensor* value, TF_Status* status) {
  guarded(status, __func__, [&] { variable_of(variable)->set(value); });
}

TF_Tensor* DS_VariableHandle(const DS_Variable* variable, TF_Status* status) {
  TF_Tensor* out = nullptr;
  guarded(status, __func__, [&] {
    const VariablePtr& held = variable_of(variable);
    out = handle_tensor(TF_RESOURCE, held->number(), held);
  });
  return out;
}

DS_Variable* DS_VariableOfHandle(const TF_Tensor* resource, int64_t index, TF_Status* status) {
  DS_Variable* out = nullptr;
  guarded(status, __func__, [&] {
    require(resource, "resource");
    out = expose(variable_at(*resource, index));
  });
  return out;
}

int DS_EndStep(int64_t step_id) {
  return answered(0, [&] {
    Temporaries& steps = temporaries();
    std::vector<VariablePtr> gone;  // outlives the lock: a value's deallocator is the plugin's
    const std::lock_guard lock(steps.mutex);
    const auto is_of_step = [&](const auto& entry) { return entry.first.first == step_id; };
    for (const auto& entry : steps.all) {
      if (is_of_step(entry)) gone.push_back(entry.second);
    }
    return static_cast<int>(std::erase_if(steps.all, is_of_step));
  });
}

}  // extern "C"

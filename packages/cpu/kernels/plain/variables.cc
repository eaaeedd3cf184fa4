// Variables, by reference and by resource: read, assigned, added to.
#include <algorithm>

#include "core/family.h"
#include "drystone/kernels_experimental.h"
#include "plain/combine.h"

namespace drystone::cpu {
namespace {

class Status {
 public:
  Status() : status_(TF_NewStatus()) {}
  ~Status() { TF_DeleteStatus(status_); }
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;
  TF_Status* get() const { return status_; }
  TF_Code code() const { return TF_GetCode(status_); }
  void check() const {
    if (code() != TF_OK) fail(code(), TF_Message(status_));
  }

 private:
  TF_Status* status_;
};

void read_variable(Call& call) { call.share_variable(0, 0); }

void is_initialized(Call& call) {
  const int has_value = DS_VariableHasValue(call.context(), 0);
  if (has_value < 0) throw AlreadyFailed();
  *call.output(0, {}).write<bool>() = has_value != 0;
}

template <class T>
void variable_shape(Call& call) {
  const Tensor held = call.variable(0);
  const Tensor out = call.output(0, {{held.rank()}});
  std::ranges::transform(held.dims(), out.write<T>(),
                         [](std::int64_t dim) { return static_cast<T>(dim); });
}

class AssignVariable {
 public:
  explicit AssignVariable(const Node& node)
      : validates_(node.has("validate_shape") && node.boolean("validate_shape")) {}
  void compute(Call& call) const {
    if (!validates_) return call.assign_variable(0, 1);
    const Status status;
    TF_AssignVariable(call.context(), 0, 1, true, nullptr, status.get());
    status.check();
  }

 private:
  bool validates_;
};

class Assign {
 public:
  explicit Assign(const Node& node)
      : validates_(node.boolean("validate_shape")), locks_(node.boolean("use_locking")) {}
  void compute(Call& call) const {
    if (!validates_) {
      call.assign_variable(0, 1);
      TF_OpKernelContext_ForwardRefInputToRefOutput(call.context(), 0, 0);
      return;
    }
    const Status status;
    TF_AssignRefVariable(call.context(), 0, 0, 1, locks_, true, nullptr, status.get());
    status.check();
  }

 private:
  bool validates_;
  bool locks_;
};

void update(TF_OpKernelContext*, TF_Tensor* target, TF_Tensor* value, int operation) {
  const Combine combine = combine_of(static_cast<Operation>(operation), TF_TensorType(target));
  auto* out = static_cast<char*>(TF_TensorData(target));
  const auto* in = static_cast<const char*>(TF_TensorData(value));
  const auto size = static_cast<std::int64_t>(element_size(TF_TensorType(target)));
  if (combine != nullptr) {
    parallel(TF_TensorElementCount(target), 1, [&](std::int64_t begin, std::int64_t end) {
      combine(out + begin * size, in + begin * size, end - begin, 1);
    });
  }
  TF_DeleteTensor(target);
  TF_DeleteTensor(value);
}

// A variable without a value is NOT_FOUND here, unlike elsewhere.
template <Operation kOperation>
void assign_step(Call& call) {
  const Status status;
  TF_AssignUpdateVariable(call.context(), 0, 1, static_cast<int>(kOperation), 0, nullptr, update,
                          status.get());
  if (status.code() == TF_FAILED_PRECONDITION) fail(TF_NOT_FOUND, TF_Message(status.get()));
  status.check();
}

template <Operation kOperation>
void assign_step_reference(Call& call) {
  const Tensor value = call.input(1);
  const Tensor held = call.variable(0);
  if (!std::ranges::equal(held.dims(), value.dims())) {
    fail(TF_INVALID_ARGUMENT, "shapes of the variable " + text(held.dims()) + " and the value " +
                                  text(value.dims()) + " must be equal");
  }
  const Tensor out = call.change_variable(0);
  combine_of(kOperation, out.dtype())(out.write<char>(), value.data(), out.count(), 1);
  TF_OpKernelContext_ForwardRefInputToRefOutput(call.context(), 0, 0);
}

}  // namespace

const Family registered([] {
  const std::vector<TF_DataType> numbers = types_of(Operation::kAdd);
  add<read_variable>("ReadVariableOp", {{"dtype", plain_types()}});
  add<is_initialized>("VarIsInitializedOp");
  add<is_initialized>("IsVariableInitialized", {{"dtype", plain_types()}});
  add<variable_shape<std::int32_t>>("VariableShape", {{"out_type", {TF_INT32}}});
  add<variable_shape<std::int64_t>>("VariableShape", {{"out_type", {TF_INT64}}});
  add<AssignVariable>("AssignVariableOp", {{"dtype", plain_types()}});
  add<Assign>("Assign", {{"T", plain_types()}});
  add<assign_step<Operation::kAdd>>("AssignAddVariableOp", {{"dtype", numbers}});
  add<assign_step<Operation::kSub>>("AssignSubVariableOp", {{"dtype", numbers}});
  add<assign_step_reference<Operation::kAdd>>("AssignAdd", {{"T", numbers}});
  add<assign_step_reference<Operation::kSub>>("AssignSub", {{"T", numbers}});
});

}  // namespace drystone::cpu

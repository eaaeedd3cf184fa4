// Kernels of variables and references. Built with sanitizers.
#include "kernels_help.h"

namespace {

using namespace help;

const Op kUpdate{"Update", {arg("var", TF_RESOURCE), arg("value", TF_FLOAT)}, {}, {}};
const Op kRef{"Ref",
              {arg("ref", TF_FLOAT, true), arg("value", TF_FLOAT)},
              {arg("out", TF_FLOAT, true)},
              {}};

DS_Variable* variable(const char* name, TF_Tensor* value) {
  Status status;
  DS_Variable* out = DS_NewVariable(name, nullptr, TF_FLOAT, value, status);
  CHECK(status.ok() && out != nullptr);
  return out;
}

std::vector<float> value_of(DS_Variable* of) {
  Status status;
  TF_Tensor* now = DS_VariableTensor(of, status);
  CHECK(status.ok());
  std::vector<float> out = now == nullptr ? std::vector<float>() : floats_of(now);
  TF_DeleteTensor(now);
  return out;
}

// Runs the scripted kernel of an op without outputs.
void run(const Op& op, const std::vector<TF_Tensor*>& given, const DS_KernelCall* facts,
         std::function<void(TF_OpKernelContext*)> body) {
  Status status;
  on_compute = std::move(body);
  DS_Kernel* kernel = must_make(op, {op.name, {}, {}});
  DS_RunKernel(kernel, facts, given.data(), static_cast<int>(given.size()), nullptr, 0, status);
  if (!status.ok()) std::fprintf(stderr, "run: %s\n", status.text().c_str());
  CHECK(status.ok());
  DS_DeleteKernel(kernel);
  on_compute = nullptr;
}

int copies = 0;

void copy_floats(TF_OpKernelContext* ctx, TF_Tensor* source, TF_Tensor* dest) {
  CHECK(ctx != nullptr && TF_TensorByteSize(source) == TF_TensorByteSize(dest));
  ++copies;
  std::memcpy(TF_TensorData(dest), TF_TensorData(source), TF_TensorByteSize(source));
  TF_DeleteTensor(source);
  TF_DeleteTensor(dest);
}

void fail_to_copy(TF_OpKernelContext* ctx, TF_Tensor* source, TF_Tensor* dest) {
  Status why;
  TF_SetStatus(why, TF_UNAVAILABLE, "no copy today");
  TF_OpKernelContext_Failure(ctx, why);
  TF_DeleteTensor(source);
  TF_DeleteTensor(dest);
}

void add_in_place(TF_OpKernelContext*, TF_Tensor* target, TF_Tensor* value, int op) {
  for (int64_t k = 0; k < TF_TensorElementCount(target); ++k) {
    static_cast<float*>(TF_TensorData(target))[k] +=
        static_cast<float>(op) * static_cast<float*>(TF_TensorData(value))[k];
  }
  TF_DeleteTensor(target);
  TF_DeleteTensor(value);
}

void test_embedder() {
  Status status;
  TF_Tensor* one = floats({1});
  DS_Variable* var = variable("v", nullptr);
  CHECK(DS_VariableTensor(var, status) == nullptr);
  CHECK(status.says(TF_FAILED_PRECONDITION, "variable 'v' has no value yet"));
  DS_SetVariable(var, one, status);
  CHECK(status.ok() && value_of(var) == std::vector<float>{1});
  DS_SetVariable(var, nullptr, status);
  CHECK(status.ok() && DS_VariableTensor(var, status) == nullptr);
  TF_Tensor* ints = tensor<int32_t>(TF_INT32, {1}, {1});
  DS_SetVariable(var, ints, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "variable 'v' has dtype float, the value has int32"));
  CHECK(DS_NewVariable("w", nullptr, TF_FLOAT, ints, status) == nullptr && !status.ok());
  CHECK(DS_NewVariable(nullptr, nullptr, TF_FLOAT, nullptr, status) == nullptr && !status.ok());
  CHECK(DS_NewVariable("w", nullptr, static_cast<TF_DataType>(0), nullptr, status) == nullptr);
  TF_Tensor* handle = DS_VariableHandle(var, status);
  CHECK(status.ok() && TF_TensorType(handle) == TF_RESOURCE && TF_NumDims(handle) == 0);
  DS_Variable* same = DS_VariableOfHandle(handle, 0, status);
  DS_DeleteVariable(var);
  DS_SetVariable(same, one, status);
  CHECK(status.ok() && value_of(same) == std::vector<float>{1});
  CHECK(DS_VariableOfHandle(handle, 1, status) == nullptr && !status.ok());
  CHECK(DS_VariableOfHandle(one, 0, status) == nullptr);
  CHECK(status.says(TF_INVALID_ARGUMENT, "the tensor is no resource"));
  TF_Tensor* made_up = tensor<uint64_t>(TF_RESOURCE, {3}, {0, 1, ~uint64_t{0}});
  for (const int64_t k : {0, 1, 2}) {
    CHECK(DS_VariableOfHandle(made_up, k, status) == nullptr);
    CHECK(status.says(TF_NOT_FOUND, "stands for no variable that is alive"));
  }
  const uint64_t number = *static_cast<uint64_t*>(TF_TensorData(handle));
  TF_Tensor* copied = tensor<uint64_t>(TF_RESOURCE, {}, {number});
  DS_DeleteVariable(same);
  same = DS_VariableOfHandle(copied, 0, status);  // alive while its first handle is
  CHECK(status.ok() && same != nullptr);
  DS_DeleteVariable(same);
  TF_DeleteTensor(handle);
  CHECK(DS_VariableOfHandle(copied, 0, status) == nullptr && status.code() == TF_NOT_FOUND);
  for (TF_Tensor* t : {one, ints, made_up, copied}) TF_DeleteTensor(t);
  CHECK(DS_VariableTensor(nullptr, status) == nullptr && !status.ok());
  CHECK(DS_VariableHandle(nullptr, status) == nullptr && !status.ok());
  DS_SetVariable(nullptr, nullptr, status);
  CHECK(status.code() == TF_INVALID_ARGUMENT);
  DS_DeleteVariable(nullptr);
}

void test_assign() {
  Status status;
  DS_Variable* var = variable("v", nullptr);
  TF_Tensor* handle = DS_VariableHandle(var, status);
  TF_Tensor* two = floats({1, 2});
  run(kUpdate, {handle, two}, nullptr, [](TF_OpKernelContext* ctx) {
    Status inner;
    TF_AssignVariable(ctx, 0, 1, true, nullptr, inner);
    CHECK(inner.ok());
    TF_AssignVariable(ctx, 5, 1, true, nullptr, inner);
    CHECK(inner.code() == TF_OUT_OF_RANGE);
    TF_AssignVariable(ctx, 0, -1, true, nullptr, inner);
    CHECK(inner.code() == TF_OUT_OF_RANGE);
    TF_AssignVariable(ctx, 1, 1, true, nullptr, inner);
    CHECK(inner.says(TF_INVALID_ARGUMENT, "the tensor is no resource"));
    TF_AssignVariable(nullptr, 0, 1, true, nullptr, inner);
    CHECK(inner.code() == TF_INVALID_ARGUMENT);
    TF_Buffer* proto = TF_NewBuffer();
    TF_GetSerializedResourceHandleProto(ctx, 0, proto, inner);
    CHECK(inner.ok());
    CHECK(take(proto).find(field(2, "localhost") + field(3, "v")) != std::string::npos);
  });
  CHECK(value_of(var) == std::vector<float>({1, 2}));
  TF_Tensor* three = floats({1, 2, 3});
  run(kUpdate, {handle, three}, nullptr, [](TF_OpKernelContext* ctx) {
    Status inner;
    TF_AssignVariable(ctx, 0, 1, true, nullptr, inner);
    CHECK(inner.says(TF_INVALID_ARGUMENT, "another shape than variable 'v' has"));
    TF_AssignVariable(ctx, 0, 1, false, nullptr, inner);
    CHECK(inner.ok());
  });
  CHECK(value_of(var).size() == 3);
  for (TF_Tensor* t : {handle, two, three}) TF_DeleteTensor(t);
  DS_DeleteVariable(var);
}

void test_update() {
  Status status;
  TF_Tensor* start = floats({1, 2});
  TF_Tensor* step = floats({10, 10});
  DS_Variable* var = variable("v", start);
  TF_Tensor* handle = DS_VariableHandle(var, status);
  copies = 0;
  for (int k = 0; k < 2; ++k) {
    run(kUpdate, {handle, step}, nullptr, [](TF_OpKernelContext* ctx) {
      Status inner;
      TF_AssignUpdateVariable(ctx, 0, 1, 2, 0, copy_floats, add_in_place, inner);
      CHECK(inner.ok());
    });
  }
  CHECK(copies == 1);  // only the first time the value was shared
  CHECK(value_of(var) == std::vector<float>({41, 42}));
  CHECK(floats_of(start) == std::vector<float>({1, 2}));
  TF_Tensor* longer = floats({1, 2, 3});
  TF_Tensor* held = DS_VariableTensor(var, status);
  run(kUpdate, {handle, longer}, nullptr, [](TF_OpKernelContext* ctx) {
    Status inner;
    TF_AssignUpdateVariable(ctx, 0, 1, 1, 0, copy_floats, add_in_place, inner);
    CHECK(inner.says(TF_INVALID_ARGUMENT, "another shape"));
    TF_AssignUpdateVariable(ctx, 0, 1, 1, 0, copy_floats, nullptr, inner);
    CHECK(inner.says(TF_INVALID_ARGUMENT, "updateFunc must not be NULL"));
  });
  on_compute = [](TF_OpKernelContext* ctx) {
    Status inner;
    TF_AssignUpdateVariable(ctx, 0, 1, 1, 0, fail_to_copy, add_in_place, inner);
    CHECK(inner.says(TF_UNAVAILABLE, "no copy today"));
  };
  DS_Kernel* kernel = must_make(kUpdate, {"Update", {}, {}});
  TF_Tensor* given[] = {handle, step};
  DS_RunKernel(kernel, nullptr, given, 2, nullptr, 0, status);
  CHECK(status.says(TF_UNAVAILABLE, "no copy today"));
  DS_SetVariable(var, nullptr, nullptr);
  on_compute = [](TF_OpKernelContext* ctx) {
    Status inner;
    TF_AssignUpdateVariable(ctx, 0, 1, 1, 0, nullptr, add_in_place, inner);
    CHECK(inner.says(TF_FAILED_PRECONDITION, "variable 'v' has no value yet"));
  };
  DS_RunKernel(kernel, nullptr, given, 2, nullptr, 0, status);
  CHECK(status.ok());
  DS_DeleteKernel(kernel);
  for (TF_Tensor* t : {start, step, handle, longer, held}) TF_DeleteTensor(t);
  DS_DeleteVariable(var);
}

void test_locks() {
  Status status;
  const std::string resource = arg("a", TF_RESOURCE);
  const Op op{"Locks", {resource, resource, resource}, {}, {}};
  TF_Tensor* start = floats({1});
  DS_Variable* a = variable("a", start);
  DS_Variable* b = variable("b", start);
  TF_Tensor* ha = DS_VariableHandle(a, status);
  TF_Tensor* hb = DS_VariableHandle(b, status);
  run(op, {hb, ha, hb}, nullptr, [](TF_OpKernelContext* ctx) {
    Status inner;
    TF_VariableInputLockHolder* holder = nullptr;
    const int inputs[] = {0, 1, 2};
    TF_MaybeLockVariableInputMutexesInOrder(ctx, true, true, inputs, 3, nullptr, &holder, inner);
    CHECK(inner.ok() && holder != nullptr);
    TF_Tensor* value = nullptr;
    TF_GetInputTensorFromVariable(ctx, 2, true, false, false, copy_floats, &value, inner);
    CHECK(inner.ok());
    static_cast<float*>(TF_TensorData(value))[0] = 9;
    TF_DeleteTensor(value);
    TF_GetInputTensorFromVariable(ctx, 2, false, false, false, nullptr, &value, inner);
    CHECK(inner.says(TF_FAILED_PRECONDITION, "variable 'b' is locked by this call already"));
    TF_VariableInputLockHolder* second = nullptr;
    TF_MaybeLockVariableInputMutexesInOrder(ctx, true, false, inputs, 1, nullptr, &second, inner);
    CHECK(inner.code() == TF_FAILED_PRECONDITION && second == nullptr);
    TF_MaybeLockVariableInputMutexesInOrder(ctx, false, false, inputs, 1, nullptr, &second, inner);
    CHECK(inner.ok() && second != nullptr);
    TF_ReleaseVariableInputLockHolder(second);
    TF_ReleaseVariableInputLockHolder(holder);
    TF_ReleaseVariableInputLockHolder(nullptr);
    const int bad[] = {0, 7};
    TF_MaybeLockVariableInputMutexesInOrder(ctx, true, false, bad, 2, nullptr, &holder, inner);
    CHECK(inner.code() == TF_OUT_OF_RANGE);
    TF_MaybeLockVariableInputMutexesInOrder(ctx, true, false, nullptr, 2, nullptr, &holder, inner);
    CHECK(inner.code() == TF_INVALID_ARGUMENT);
    TF_GetInputTensorFromVariable(ctx, 0, false, false, false, nullptr, nullptr, inner);
    CHECK(inner.says(TF_INVALID_ARGUMENT, "out must not be NULL"));
    TF_GetInputTensorFromVariable(ctx, 0, false, false, false, nullptr, &value, inner);
    CHECK(inner.ok() && floats_of(value) == std::vector<float>{9});
    TF_DeleteTensor(value);
  });
  CHECK(value_of(b) == std::vector<float>{9} && value_of(a) == std::vector<float>{1});
  CHECK(floats_of(start) == std::vector<float>{1});
  for (TF_Tensor* t : {start, ha, hb}) TF_DeleteTensor(t);
  DS_DeleteVariable(a);
  DS_DeleteVariable(b);
}

// Two calls want one variable; the second gives up at its deadline.
void test_lock_deadline() {
  Status status;
  TF_Tensor* one = floats({1});
  DS_Variable* var = variable("v", one);
  TF_Tensor* handle = DS_VariableHandle(var, status);
  run(kUpdate, {handle, one}, nullptr, [&](TF_OpKernelContext* ctx) {
    Status inner;
    const int inputs[] = {0};
    TF_VariableInputLockHolder* holder = nullptr;
    TF_MaybeLockVariableInputMutexesInOrder(ctx, true, false, inputs, 1, nullptr, &holder, inner);
    DS_KernelCall facts = call();
    facts.deadline_ms = 20;
    auto before = std::move(on_compute);
    run(kUpdate, {handle, one}, &facts, [](TF_OpKernelContext* second) {
      Status late;
      TF_AssignVariable(second, 0, 1, false, nullptr, late);
      CHECK(late.says(TF_DEADLINE_EXCEEDED, "variable 'v' stayed locked by another call"));
    });
    on_compute = std::move(before);
    TF_ReleaseVariableInputLockHolder(holder);
  });
  TF_DeleteTensor(one);
  TF_DeleteTensor(handle);
  DS_DeleteVariable(var);
}

void test_references() {
  Status status;
  TF_Tensor* start = floats({1, 2});
  TF_Tensor* next = floats({3, 4});
  DS_Variable* var = variable("r", start);
  DS_Variable* in[] = {var, nullptr};
  DS_Variable* out[] = {nullptr};
  DS_KernelCall facts = call();
  facts.input_variables = in;
  facts.output_variables = out;
  DS_Kernel* kernel = must_make(kRef, {"Ref", {}, {}});
  on_compute = [](TF_OpKernelContext* ctx) {
    Status inner;
    CHECK(TF_IsRefInput(ctx, 0, inner) && !TF_IsRefInput(ctx, 1, inner) && inner.ok());
    CHECK(TF_InputDatatype(ctx, 0) == 101 && TF_ExpectedOutputDataType(ctx, 0) == 101);
    TF_Tensor* now = nullptr;
    TF_GetInput(ctx, 0, &now, inner);
    CHECK(inner.ok() && floats_of(now) == std::vector<float>({1, 2}));
    TF_DeleteTensor(now);
    TF_AssignRefVariable(ctx, 1, 0, 1, true, true, copy_floats, inner);
    CHECK(inner.says(TF_INVALID_ARGUMENT, "input 1 is no reference"));
    TF_AssignRefVariable(ctx, 0, 3, 1, true, true, copy_floats, inner);
    CHECK(inner.code() == TF_OUT_OF_RANGE);
    TF_AssignRefVariable(ctx, 0, 0, 1, true, true, copy_floats, inner);
    CHECK(inner.ok());
  };
  TF_Tensor* given[] = {nullptr, next};
  TF_Tensor* output = nullptr;
  DS_RunKernel(kernel, &facts, given, 2, &output, 1, status);
  CHECK(status.ok() && floats_of(output) == std::vector<float>({3, 4}));
  CHECK(out[0] != nullptr && value_of(var) == std::vector<float>({3, 4}));
  CHECK(TF_TensorData(output) != TF_TensorData(next));
  DS_SetVariable(out[0], start, status);
  CHECK(value_of(var) == std::vector<float>({1, 2}));
  DS_DeleteVariable(out[0]);
  TF_DeleteTensor(output);
  DS_DeleteKernel(kernel);
  on_compute = nullptr;
  for (TF_Tensor* t : {start, next}) TF_DeleteTensor(t);
  DS_DeleteVariable(var);
}

void test_forwarded_references() {
  Status status;
  TF_Tensor* start = floats({1, 2});
  DS_Variable* var = variable("r", start);
  DS_Variable* in[] = {var, nullptr};
  DS_KernelCall facts = call();
  facts.input_variables = in;
  DS_Kernel* kernel = must_make(kRef, {"Ref", {}, {}});
  TF_Tensor* given[] = {nullptr, start};
  TF_Tensor* output = nullptr;
  on_compute = [](TF_OpKernelContext* ctx) {
    TF_OpKernelContext_ForwardRefInputToRefOutput(nullptr, 0, 0);
    TF_OpKernelContext_ForwardRefInputToRefOutput(ctx, 0, 0);
  };
  DS_RunKernel(kernel, &facts, given, 2, &output, 1, status);
  CHECK(status.ok() && floats_of(output) == std::vector<float>({1, 2}));
  TF_DeleteTensor(output);
  DS_SetVariable(var, nullptr, nullptr);
  DS_RunKernel(kernel, &facts, given, 2, &output, 1, status);
  CHECK(status.ok() && output == nullptr);
  on_compute = [](TF_OpKernelContext* ctx) {
    TF_OpKernelContext_ForwardRefInputToRefOutput(ctx, 1, 0);
  };
  DS_RunKernel(kernel, &facts, given, 2, &output, 1, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "input 1 is no reference") && output == nullptr);
  DS_Variable* wrong[] = {DS_NewVariable("i", nullptr, TF_INT32, nullptr, status), nullptr};
  facts.input_variables = wrong;
  DS_RunKernel(kernel, &facts, given, 2, &output, 1, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "input 0 is a reference of dtype int32, it must be float"));
  DS_DeleteVariable(wrong[0]);
  DS_DeleteKernel(kernel);
  on_compute = nullptr;
  TF_DeleteTensor(start);
  DS_DeleteVariable(var);
}

TF_StringView view(const char* text) { return {text, std::strlen(text)}; }

void give_memory(TF_OpKernelContext* ctx, TF_Tensor* out, TF_DataType dtype, const int64_t* dims,
                 int count, TF_Status* status) {
  TF_Tensor* memory = TF_AllocateTemp(ctx, dtype, dims, count, nullptr, status);
  TF_TensorBitcastFrom(memory, dtype, out, dims, count, status);
  TF_DeleteTensor(memory);
}

void give_nothing(TF_OpKernelContext*, TF_Tensor*, TF_DataType, const int64_t*, int, TF_Status*) {}

void test_temporary() {
  Status status;
  const Op make_op{"MakeTemp", {}, {arg("ref", TF_FLOAT, true)}, {}};
  const Op end_op{"EndTemp", {arg("ref", TF_FLOAT, true)}, {arg("value", TF_FLOAT)}, {}};
  DS_KernelCall facts = call();
  facts.step_id = 77;
  DS_Variable* made[] = {nullptr};
  facts.output_variables = made;
  on_compute = [](TF_OpKernelContext* ctx) {
    Status inner;
    const int64_t dims[] = {2};
    TF_StringView name = view("tmp");
    TF_TemporaryVariable(ctx, TF_FLOAT, dims, 1, &name, give_nothing, inner);
    CHECK(inner.says(TF_INTERNAL, "plugin_allocator gave the tensor no memory"));
    TF_TemporaryVariable(ctx, TF_INT32, dims, 1, &name, nullptr, inner);
    CHECK(inner.says(TF_INVALID_ARGUMENT, "output 0 must have dtype"));
    TF_TemporaryVariable(ctx, TF_FLOAT, dims, 1, nullptr, nullptr, inner);
    CHECK(inner.says(TF_INVALID_ARGUMENT, "var_name must not be NULL"));
    TF_TemporaryVariable(ctx, TF_FLOAT, dims, 1, &name, give_memory, inner);
    CHECK(inner.ok());
    TF_TemporaryVariable(ctx, TF_FLOAT, dims, 1, &name, nullptr, inner);
    CHECK(inner.says(TF_ALREADY_EXISTS, "step 77 has a temporary variable 'tmp' already"));
    TF_StringView other = view("other");
    TF_TemporaryVariable(ctx, TF_FLOAT, dims, 1, &other, nullptr, inner);
    CHECK(inner.ok());
    TF_StringView absent = view("absent");
    TF_DestroyTemporaryVariable(ctx, 0, &absent, inner);
    CHECK(inner.code() == TF_OUT_OF_RANGE);  // the op has no input
  };
  DS_Kernel* kernel = must_make(make_op, {"MakeTemp", {}, {}});
  TF_Tensor* output = nullptr;
  DS_RunKernel(kernel, &facts, nullptr, 0, &output, 1, status);
  CHECK(status.ok() && made[0] != nullptr && TF_TensorElementCount(output) == 2);
  TF_DeleteTensor(output);
  DS_DeleteKernel(kernel);
  facts.input_variables = made;
  facts.output_variables = nullptr;
  on_compute = [](TF_OpKernelContext* ctx) {
    Status inner;
    TF_StringView absent = view("absent");
    TF_DestroyTemporaryVariable(ctx, 0, &absent, inner);
    CHECK(inner.says(TF_NOT_FOUND, "step 77 has no temporary variable 'absent'"));
    TF_StringView name = view("other");
    TF_DestroyTemporaryVariable(ctx, 0, &name, inner);
    CHECK(inner.ok());
  };
  kernel = must_make(end_op, {"EndTemp", {}, {}});
  TF_Tensor* given[] = {nullptr};
  DS_RunKernel(kernel, &facts, given, 1, &output, 1, status);
  CHECK(status.ok() && output != nullptr);
  TF_DeleteTensor(output);
  DS_DeleteKernel(kernel);
  DS_DeleteVariable(made[0]);
  CHECK(DS_EndStep(76) == 0 && DS_EndStep(77) == 1 && DS_EndStep(77) == 0);
  on_compute = nullptr;
}

int ended_inside = -1;

void end_step_78(void*, size_t, void*) { ended_inside = DS_EndStep(78); }

void give_own_memory(TF_OpKernelContext*, TF_Tensor* out, TF_DataType dtype, const int64_t* dims,
                     int count, TF_Status* status) {
  alignas(64) static float numbers[2] = {1, 2};
  TF_Tensor* memory =
      TF_NewTensor(dtype, dims, count, numbers, sizeof numbers, end_step_78, nullptr);
  TF_TensorBitcastFrom(memory, dtype, out, dims, count, status);
  TF_DeleteTensor(memory);
}

// The end of a step frees memory of a plugin, whose deallocator may use the host.
void test_deallocator_at_the_end_of_a_step() {
  Status status;
  DS_KernelCall facts = call();
  facts.step_id = 78;
  on_compute = [](TF_OpKernelContext* ctx) {
    Status inner;
    const int64_t dims[] = {2};
    TF_StringView name = view("tmp");
    TF_TemporaryVariable(ctx, TF_FLOAT, dims, 1, &name, give_own_memory, inner);
    CHECK(inner.ok());
  };
  DS_Kernel* kernel =
      must_make({"MakeTemp", {}, {arg("ref", TF_FLOAT, true)}, {}}, {"MakeTemp", {}, {}});
  TF_Tensor* output = nullptr;
  DS_RunKernel(kernel, &facts, nullptr, 0, &output, 1, status);
  CHECK(status.ok() && output != nullptr);
  TF_DeleteTensor(output);
  DS_DeleteKernel(kernel);
  CHECK(ended_inside == -1 && DS_EndStep(78) == 1 && ended_inside == 0);
  on_compute = nullptr;
}

}  // namespace

int main() {
  for (const char* op : {"Update", "Ref", "Locks", "MakeTemp", "EndTemp"}) register_op(op);
  test_embedder();
  test_assign();
  test_update();
  test_locks();
  test_lock_deadline();
  test_references();
  test_forwarded_references();
  test_temporary();
  test_deallocator_at_the_end_of_a_step();
  DS_LiveObjects live{};
  live.struct_size = DS_LIVE_OBJECTS_STRUCT_SIZE;
  DS_GetLiveObjects(&live);
  CHECK(live.tensors == 0 && live.memory_blocks == 0 && live.kernels == 0 && live.handles == 0);
  return help::report();
}

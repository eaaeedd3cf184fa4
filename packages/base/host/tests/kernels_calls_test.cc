// Running kernels: inputs, outputs, facts, failures. Built with sanitizers.
#include <stdexcept>

#include "kernels_help.h"

// Absurd sizes are asked for on purpose: the host must see NULL, as without sanitizers.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace {

using namespace help;

// Runs the scripted kernel of `op` once; outputs that are not taken are deleted.
struct Run {
  Run(const Op& op, const Node& node, const std::vector<TF_Tensor*>& given,
      const DS_KernelCall* facts, std::function<void(TF_OpKernelContext*)> body) {
    on_compute = std::move(body);
    DS_Kernel* kernel = must_make(op, node);
    outputs.resize(op.outputs.size());
    DS_RunKernel(kernel, facts, given.data(), static_cast<int>(given.size()), outputs.data(),
                 static_cast<int>(outputs.size()), status);
    DS_DeleteKernel(kernel);
    on_compute = nullptr;
  }
  ~Run() {
    for (TF_Tensor* output : outputs) TF_DeleteTensor(output);
  }

  Status status;
  std::vector<TF_Tensor*> outputs;
};

const Op kPair{"Pair", {arg("a", TF_FLOAT), arg("b", TF_FLOAT)}, {arg("y", TF_FLOAT)}, {}};

void add_pair(TF_OpKernelContext* ctx) {
  Status status;
  TF_Tensor* a = nullptr;
  TF_Tensor* b = nullptr;
  TF_GetInput(ctx, 0, &a, status);
  TF_GetInputByName(ctx, "b", &b, status);
  const int64_t dims[] = {TF_Dim(a, 0)};
  TF_Tensor* y = TF_AllocateOutput(ctx, 0, TF_FLOAT, dims, 1, 0, status);
  CHECK(status.ok() && y != nullptr);
  for (int64_t k = 0; k < dims[0]; ++k) {
    static_cast<float*>(TF_TensorData(y))[k] =
        static_cast<float*>(TF_TensorData(a))[k] + static_cast<float*>(TF_TensorData(b))[k];
  }
  for (TF_Tensor* one : {a, b, y}) TF_DeleteTensor(one);
}

void test_sum(TF_Tensor* a, TF_Tensor* b) {
  Run run(kPair, {"Pair", {}, {}}, {a, b}, nullptr, add_pair);
  CHECK(run.status.ok() && floats_of(run.outputs[0]) == std::vector<float>({11, 22}));
}

void test_inputs(TF_Tensor* a, TF_Tensor* b) {
  Run run(kPair, {"Pair", {}, {}}, {a, b}, nullptr, [](TF_OpKernelContext* ctx) {
    Status status;
    TF_Tensor* untouched = nullptr;
    CHECK(TF_NumInputs(ctx) == 2 && TF_NumOutputs(ctx) == 1);
    CHECK(TF_NumInputs(nullptr) == 0 && TF_NumOutputs(nullptr) == 0);
    for (const int bad : {-1, 2, 1 << 30}) {
      TF_GetInput(ctx, bad, &untouched, status);
      CHECK(status.says(TF_OUT_OF_RANGE, "there is no input") && untouched == nullptr);
      CHECK(TF_InputDatatype(ctx, bad) == 0 && TF_ExpectedOutputDataType(ctx, bad) == 0);
      CHECK(!TF_IsHostMemoryInput(ctx, bad, status) && status.code() == TF_OUT_OF_RANGE);
      CHECK(!TF_IsHostMemoryOutput(ctx, bad, status) && status.code() == TF_OUT_OF_RANGE);
      CHECK(!TF_IsRefInput(ctx, bad, status) && status.code() == TF_OUT_OF_RANGE);
    }
    TF_GetInput(ctx, 0, nullptr, status);
    CHECK(status.says(TF_INVALID_ARGUMENT, "tensor must not be NULL"));
    TF_GetInput(nullptr, 0, &untouched, status);
    CHECK(status.says(TF_INVALID_ARGUMENT, "ctx must not be NULL"));
    TF_GetInputByName(ctx, "nobody", &untouched, status);
    CHECK(status.says(TF_INVALID_ARGUMENT, "op 'Pair' has no input argument 'nobody'"));
    TF_GetInputByName(ctx, nullptr, &untouched, status);
    CHECK(status.code() == TF_INVALID_ARGUMENT);
    CHECK(TF_InputDatatype(ctx, 1) == TF_FLOAT && TF_ExpectedOutputDataType(ctx, 0) == TF_FLOAT);
    CHECK(TF_InputDatatype(nullptr, 1) == 0 && TF_ExpectedOutputDataType(nullptr, 0) == 0);
    CHECK(TF_IsHostMemoryInput(ctx, 1, status) && TF_IsHostMemoryOutput(ctx, 0, status));
    CHECK(!TF_IsRefInput(ctx, 0, status) && status.ok());
    add_pair(ctx);
  });
  CHECK(run.status.ok());
}

void test_ranges(TF_Tensor* a, TF_Tensor* b) {
  const Op op{"Ranges",
              {arg_by("first", 4, "T"), arg_by("many", 4, "T") + field(5, "N"),
               arg_by("list", 6, "L")},
              {arg("n", TF_INT64) + field(5, "N")},
              {attr_def("T", "type"), attr_def("N", "int"), attr_def("L", "list(type)"),
               attr_def("_", "int")}};
  const Node node{"Ranges",
                  {{"T", attr::type(TF_FLOAT)},
                   {"N", attr::integer(2)},
                   {"L", attr::types({TF_FLOAT})}},
                  {"x", "y:1", "^z"}};
  register_op("Ranges");
  Run run(op, node, {a, b, a, b}, nullptr, [](TF_OpKernelContext* ctx) {
    Status status;
    TF_InputRange_Args args{};
    args.struct_size = TF_InputRange_Args_STRUCT_SIZE;
    args.status = status;
    TF_InputRange(ctx, "many", &args);
    CHECK(status.ok() && args.start == 1 && args.stop == 3);
    TF_InputRange(ctx, "list", &args);
    CHECK(status.ok() && args.start == 3 && args.stop == 4);
    TF_InputRange(ctx, "absent", &args);
    CHECK(status.code() == TF_INVALID_ARGUMENT && args.start == 3);
    TF_InputRange(nullptr, "list", &args);
    CHECK(status.code() == TF_INVALID_ARGUMENT);
    TF_InputRange(ctx, "list", nullptr);
    args.struct_size = TF_InputRange_Args_STRUCT_SIZE - 1;
    args.start = 99;
    TF_InputRange(ctx, "many", &args);
    CHECK(args.start == 99);
    args = {TF_InputRange_Args_STRUCT_SIZE + 64, nullptr, 0, 0, nullptr};
    TF_InputRange(ctx, "many", &args);
    CHECK(args.stop == 3);
    TF_Tensor* none = nullptr;
    TF_GetInputByName(ctx, "many", &none, status);
    CHECK(status.says(TF_INVALID_ARGUMENT, "input argument 'many' stands for 2 inputs"));
    CHECK(text_of(TF_GetOpKernelRequestedInput(ctx, 1)) == "y:1");
    CHECK(text_of(TF_GetOpKernelRequestedInput(ctx, 2)) == "^z");
    CHECK(TF_GetOpKernelRequestedInput(ctx, 3).data == nullptr);
    CHECK(TF_GetOpKernelRequestedInput(nullptr, 0).data == nullptr);
    CHECK(TF_NumOutputs(ctx) == 2 && TF_ExpectedOutputDataType(ctx, 1) == TF_INT64);
    for (const int i : {0, 1}) {
      TF_DeleteTensor(TF_AllocateOutput(ctx, i, TF_INT64, nullptr, 0, 8, status));
    }
    CHECK(status.ok());
  });
  // The op has one output argument, which stands for two outputs of the node.
  CHECK(run.status.says(TF_INVALID_ARGUMENT, "has 2 outputs, 1 were given"));
}

void test_outputs(TF_Tensor* a, TF_Tensor* b) {
  Run run(kPair, {"Pair", {}, {}}, {a, b}, nullptr, [](TF_OpKernelContext* ctx) {
    Status status;
    const int64_t dims[] = {3, 2};
    CHECK(TF_GetMutableOutput(ctx, 0, status) == nullptr);
    CHECK(status.says(TF_FAILED_PRECONDITION, "output 0 is not set yet"));
    CHECK(TF_AllocateOutput(ctx, 5, TF_FLOAT, dims, 2, 24, status) == nullptr);
    CHECK(status.says(TF_OUT_OF_RANGE, "there is no output 5: the node has 1"));
    CHECK(TF_AllocateOutput(ctx, 0, TF_INT32, dims, 2, 24, status) == nullptr);
    CHECK(status.says(TF_INVALID_ARGUMENT, "output 0 must have dtype float, not int32"));
    const int64_t bad[] = {-1};
    CHECK(TF_AllocateOutput(ctx, 0, TF_FLOAT, bad, 1, 24, status) == nullptr);
    CHECK(status.says(TF_INVALID_ARGUMENT, "no tensor has that dtype and those dimensions"));
    CHECK(TF_AllocateOutput(ctx, 0, TF_FLOAT, nullptr, 2, 24, status) == nullptr && !status.ok());
    CHECK(TF_AllocateOutput(ctx, 0, TF_FLOAT, dims, -1, 24, status) == nullptr && !status.ok());
    CHECK(TF_AllocateOutput(nullptr, 0, TF_FLOAT, dims, 2, 24, status) == nullptr && !status.ok());
    TF_Tensor* wrong = tensor<int32_t>(TF_INT32, {1}, {1});
    TF_SetOutput(ctx, 0, wrong, status);
    CHECK(status.says(TF_INVALID_ARGUMENT, "output 0 must have dtype float, not int32"));
    TF_DeleteTensor(wrong);
    TF_SetOutput(ctx, 0, nullptr, status);
    CHECK(status.says(TF_INVALID_ARGUMENT, "tensor must not be NULL"));
    TF_SetOutput(ctx, -1, nullptr, status);
    CHECK(status.code() == TF_OUT_OF_RANGE);
    TF_Tensor* first = TF_AllocateOutput(ctx, 0, TF_FLOAT, dims, 2, 24, status);
    CHECK(TF_TensorByteSize(first) == 24 && TF_Dim(first, 0) == 3);
    TF_Tensor* other = floats({7, 8});
    TF_SetOutput(ctx, 0, other, status);
    TF_Tensor* now = TF_GetMutableOutput(ctx, 0, status);
    CHECK(status.ok() && TF_TensorData(now) == TF_TensorData(other));
    CHECK(TF_GetMutableOutput(nullptr, 0, status) == nullptr);
    for (TF_Tensor* one : {first, other, now}) TF_DeleteTensor(one);
  });
  CHECK(run.status.ok() && floats_of(run.outputs[0]) == std::vector<float>({7, 8}));
}

// Asks to forward input 0 or 1 to the output, and answers which it was.
int forwarded(const std::vector<TF_Tensor*>& given, const DS_KernelCall* facts, bool keep_one) {
  int which = -9;
  Run run(kPair, {"Pair", {}, {}}, given, facts, [&](TF_OpKernelContext* ctx) {
    Status status;
    const int64_t dims[] = {1, 2};
    const int candidates[] = {0, 1};
    TF_Tensor* held = nullptr;
    if (keep_one) TF_GetInput(ctx, 0, &held, status);
    TF_Tensor* out =
        TF_ForwardInputOrAllocateOutput(ctx, candidates, 2, 0, dims, 2, &which, status);
    CHECK(status.ok());
    TF_DeleteTensor(out);
    TF_DeleteTensor(held);
    const int bad[] = {0, 2};
    CHECK(TF_ForwardInputOrAllocateOutput(ctx, bad, 2, 0, dims, 2, nullptr, status) == nullptr);
    CHECK(status.code() == TF_OUT_OF_RANGE);
    CHECK(TF_ForwardInputOrAllocateOutput(ctx, nullptr, 1, 0, dims, 2, nullptr, status) == nullptr);
    CHECK(TF_ForwardInputOrAllocateOutput(ctx, bad, 1, 9, dims, 2, nullptr, status) == nullptr);
    CHECK(status.code() == TF_OUT_OF_RANGE);
    CHECK(TF_ForwardInputOrAllocateOutput(nullptr, bad, 1, 0, dims, 2, nullptr, status) == nullptr);
  });
  CHECK(run.status.ok() && TF_NumDims(run.outputs[0]) == 2);
  if (which >= 0) {
    CHECK(TF_TensorData(run.outputs[0]) == TF_TensorData(given[static_cast<std::size_t>(which)]));
  }
  return which;
}

void test_forwarding(TF_Tensor* a, TF_Tensor* b) {
  DS_KernelCall facts = call();
  CHECK(forwarded({a, b}, nullptr, false) == -1);
  const TF_Bool both[] = {1, 1};
  facts.overwritable = both;
  CHECK(forwarded({a, b}, &facts, false) == 0);
  CHECK(forwarded({a, b}, &facts, true) == 1);  // the kernel holds input 0 itself
  CHECK(forwarded({a, a}, &facts, false) == -1);
  const TF_Bool second[] = {0, 1};
  facts.overwritable = second;
  CHECK(forwarded({a, b}, &facts, false) == 1);
  TF_Tensor* more = DS_ShareTensor(b);
  CHECK(forwarded({a, b}, &facts, false) == -1);
  TF_DeleteTensor(more);
  TF_Tensor* larger = floats({1, 2, 3});
  facts.overwritable = both;
  CHECK(forwarded({larger, b}, &facts, false) == 1);
  TF_DeleteTensor(larger);
}

void test_temporaries(TF_Tensor* a, TF_Tensor* b) {
  Run run(kPair, {"Pair", {}, {}}, {a, b}, nullptr, [](TF_OpKernelContext* ctx) {
    Status status;
    const int64_t dims[] = {5};
    TF_AllocatorAttributes where{TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE, 1};
    TF_Tensor* one = TF_AllocateTemp(ctx, TF_INT16, dims, 1, &where, status);
    CHECK(status.ok() && TF_TensorByteSize(one) == 10);
    TF_DeleteTensor(one);
    one = TF_AllocateTemp(ctx, TF_STRING, dims, 1, nullptr, status);
    CHECK(status.ok() && TF_TensorByteSize(one) == 120);
    TF_DeleteTensor(one);
    where.struct_size = 0;
    CHECK(TF_AllocateTemp(ctx, TF_INT16, dims, 1, &where, status) == nullptr);
    CHECK(status.says(TF_INVALID_ARGUMENT, "alloc_attrs->struct_size must be set to"));
    CHECK(TF_AllocateTemp(ctx, static_cast<TF_DataType>(77), dims, 1, nullptr, status) == nullptr);
    CHECK(TF_AllocateTemp(nullptr, TF_INT16, dims, 1, nullptr, status) == nullptr && !status.ok());
    const int64_t huge[] = {int64_t{1} << 60};
    CHECK(TF_AllocateTemp(ctx, TF_INT8, huge, 1, nullptr, status) == nullptr && !status.ok());
    add_pair(ctx);
  });
  CHECK(run.status.ok());
}

void test_facts(TF_Tensor* a, TF_Tensor* b) {
  const Bytes functions(std::string("functions"));
  const Bytes config(std::string("config"));
  DS_KernelCall facts = call();
  facts.step_id = 7;
  facts.frame_id = 8;
  facts.iter_id = 9;
  facts.graph_def_version = 1286;
  facts.device_id = 3;
  facts.function_library = functions;
  facts.config = config;
  facts.container = "box";
  facts.stream = &facts;
  Run run(kPair, {"Pair", {}, {}, "here"}, {a, b}, &facts, [&](TF_OpKernelContext* ctx) {
    Status status;
    CHECK(TF_StepId(ctx) == 7 && TF_GetStepId(ctx) == 7 && TF_GetFrameId(ctx) == 8);
    CHECK(TF_GetIterId(ctx) == 9 && TF_GetGraphDefVersion(ctx) == 1286 && TF_GetDeviceId(ctx) == 3);
    CHECK(text_of(TF_GetDeviceName(ctx)) == "/job:localhost/replica:0/task:0/device:CPU:0");
    CHECK(text_of(TF_GetOpKernelName(ctx)) == "here");
    CHECK(text_of(TF_GetResourceMgrDefaultContainerName(ctx)) == "box");
    TF_Buffer* out = TF_NewBuffer();
    TF_GetSerializedFunctionDefLibrary(ctx, out, status);
    CHECK(status.ok() && out->length == 9 && std::memcmp(out->data, "functions", 9) == 0);
    TF_GetSerializedConfigProto(ctx, out, status);
    CHECK(status.says(TF_INVALID_ARGUMENT, "the output buffer holds data already"));
    TF_DeleteBuffer(out);
    out = TF_NewBuffer();
    TF_GetSerializedConfigProto(ctx, out, status);
    CHECK(status.ok() && take(out) == "config");
    TF_GetSerializedConfigProto(ctx, nullptr, status);
    CHECK(status.code() == TF_INVALID_ARGUMENT);
    CHECK(TF_GetStream(ctx, status) == reinterpret_cast<SP_Stream>(&facts) && status.ok());
    add_pair(ctx);
  });
  CHECK(run.status.ok());
  facts.struct_size = 0;
  Run bad(kPair, {"Pair", {}, {}}, {a, b}, &facts, add_pair);
  CHECK(bad.status.says(TF_INVALID_ARGUMENT, "call->struct_size must be set"));
  facts.struct_size = sizeof(size_t) + sizeof(int64_t);  // an older, shorter struct
  facts.struct_size += sizeof(uint64_t) - 1;  // and one that ends inside frame_id
  Run old(kPair, {"Pair", {}, {}}, {a, b}, &facts, [](TF_OpKernelContext* ctx) {
    CHECK(TF_StepId(ctx) == 7 && TF_GetFrameId(ctx) == 0 && TF_GetIterId(ctx) == 0);
    add_pair(ctx);
  });
  CHECK(old.status.ok());
}

void test_without_facts(TF_Tensor* a, TF_Tensor* b) {
  Run run(kPair, {"Pair", {}, {}}, {a, b}, nullptr, [](TF_OpKernelContext* ctx) {
    Status status;
    CHECK(TF_StepId(ctx) == 0 && TF_GetFrameId(ctx) == 0 && TF_GetDeviceId(ctx) == 0);
    CHECK(text_of(TF_GetResourceMgrDefaultContainerName(ctx)) == "localhost");
    TF_Buffer* out = TF_NewBuffer();
    TF_GetSerializedFunctionDefLibrary(ctx, out, status);
    CHECK(status.ok() && take(out).empty());
    CHECK(TF_GetStream(ctx, status) == nullptr);
    CHECK(status.says(TF_UNIMPLEMENTED, "TF_GetStream: device /job:localhost"));
    out = TF_NewBuffer();
    TF_GetSerializedResourceHandleProto(ctx, 0, out, status);
    CHECK(status.says(TF_INVALID_ARGUMENT, "the tensor is no resource"));
    TF_DeleteBuffer(out);
    const TF_RendezvousThunk thunk = TF_GetRendezvous(ctx);
    TF_RendezvousSend_Params send{};
    send.status = status;
    thunk.send_func(thunk.rendezvous, &send);
    CHECK(status.says(TF_UNIMPLEMENTED, "TF_GetRendezvous: this call is part of no run"));
    TF_Code received = TF_OK;
    TF_RendezvousAsyncRecv_Params receive{};
    receive.on_done = {&received, [](void* out_code, TF_RendezvousDoneCallback_Params* answer) {
                         *static_cast<TF_Code*>(out_code) = TF_GetCode(answer->status);
                       }};
    thunk.async_recv_func(thunk.rendezvous, &receive);
    CHECK(received == TF_UNIMPLEMENTED);
    thunk.start_abort_func(thunk.rendezvous, status);
    thunk.send_func(nullptr, nullptr);
    thunk.async_recv_func(nullptr, nullptr);
    add_pair(ctx);
  });
  CHECK(run.status.ok());
  CHECK(TF_StepId(nullptr) == 0 && TF_GetDeviceId(nullptr) == -1 && TF_GetIterId(nullptr) == 0);
  CHECK(TF_GetFrameId(nullptr) == 0 && TF_GetGraphDefVersion(nullptr) == 0);
  CHECK(TF_GetDeviceName(nullptr).data == nullptr && TF_GetOpKernelName(nullptr).len == 0);
  CHECK(TF_GetResourceMgrDefaultContainerName(nullptr).data == nullptr);
}

void test_failures(TF_Tensor* a, TF_Tensor* b) {
  const std::string title = "node 'node' (op Pair, kernel 'Scripted' of the host program)";
  Run nothing(kPair, {"Pair", {}, {}}, {a, b}, nullptr, [](TF_OpKernelContext*) {});
  CHECK(nothing.status.says(TF_INTERNAL, (title + ": it returned without setting output 0").c_str()));
  Run reported(kPair, {"Pair", {}, {}}, {a, b}, nullptr, [](TF_OpKernelContext* ctx) {
    Status why;
    add_pair(ctx);
    TF_OpKernelContext_Failure(ctx, why);
    TF_SetStatus(why, TF_DATA_LOSS, "bits fell out");
    TF_OpKernelContext_Failure(ctx, why);
    TF_SetStatus(why, TF_ABORTED, "second");
    TF_OpKernelContext_Failure(ctx, why);
    TF_OpKernelContext_Failure(nullptr, why);
  });
  CHECK(reported.status.says(TF_DATA_LOSS, (title + ": bits fell out").c_str()));
  CHECK(reported.outputs[0] == nullptr);
  Run bare(kPair, {"Pair", {}, {}}, {a, b}, nullptr,
           [](TF_OpKernelContext* ctx) { TF_OpKernelContext_Failure(ctx, nullptr); });
  CHECK(bare.status.says(TF_INTERNAL, "it failed and gave no status"));
  Run threw(kPair, {"Pair", {}, {}}, {a, b}, nullptr,
            [](TF_OpKernelContext*) { throw std::runtime_error("bang"); });
  const std::string text = title + ": its compute function threw a C++ exception: bang";
  CHECK(threw.status.says(TF_INTERNAL, text.c_str()));
  Run odd(kPair, {"Pair", {}, {}}, {a, b}, nullptr, [](TF_OpKernelContext*) { throw 3; });
  CHECK(odd.status.says(TF_INTERNAL, "of unknown type"));
}

void test_wrong_calls(TF_Tensor* a) {
  Status status;
  TF_Tensor* ints = tensor<int32_t>(TF_INT32, {1}, {1});
  DS_Kernel* kernel = must_make(kPair, {"Pair", {}, {}});
  TF_Tensor* out[2] = {a, a};
  TF_Tensor* in[2] = {a, ints};
  DS_RunKernel(kernel, nullptr, in, 2, out, 1, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "input 1 has dtype int32, it must be float") && out[0] == nullptr);
  in[1] = nullptr;
  DS_RunKernel(kernel, nullptr, in, 2, out, 1, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "input 1 has no value"));
  DS_RunKernel(kernel, nullptr, in, 1, out, 1, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "has 2 inputs, 1 were given"));
  DS_RunKernel(kernel, nullptr, nullptr, 2, out, 1, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "has 2 inputs, 0 were given"));
  DS_RunKernel(kernel, nullptr, in, 2, out, 2, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "has 1 outputs, 2 were given") && out[1] == nullptr);
  DS_RunKernel(nullptr, nullptr, in, 2, out, 1, status);
  CHECK(status.says(TF_INVALID_ARGUMENT, "kernel must not be NULL"));
  CHECK(DS_KernelNumInputs(kernel) == 2 && DS_KernelNumOutputs(kernel) == 1);
  CHECK(DS_KernelInputType(kernel, 1) == TF_FLOAT && DS_KernelInputType(kernel, 2) == 0);
  CHECK(DS_KernelOutputType(kernel, 0) == TF_FLOAT && DS_KernelOutputType(nullptr, 0) == 0);
  CHECK(DS_KernelInputOnHost(kernel, 0) == 1 && DS_KernelOutputOnHost(kernel, 0) == 1);
  CHECK(DS_KernelInputOnHost(kernel, -1) == 0 && DS_KernelOutputOnHost(nullptr, 0) == 0);
  CHECK(DS_KernelNumInputs(nullptr) == 0 && DS_KernelNumOutputs(nullptr) == 0);
  DS_DeleteKernel(kernel);
  DS_DeleteKernel(nullptr);
  TF_DeleteTensor(ints);
}

}  // namespace

int main() {
  register_op("Pair");
  TF_Tensor* a = floats({1, 2});
  TF_Tensor* b = floats({10, 20});
  for (auto* test : {test_sum, test_inputs, test_ranges, test_outputs, test_forwarding,
                     test_temporaries, test_facts, test_without_facts, test_failures}) {
    test(a, b);
  }
  test_wrong_calls(a);
  TF_DeleteTensor(a);
  TF_DeleteTensor(b);
  CHECK(created == deleted && created > 0);
  DS_LiveObjects live{};
  live.struct_size = DS_LIVE_OBJECTS_STRUCT_SIZE;
  DS_GetLiveObjects(&live);
  CHECK(live.tensors == 0 && live.memory_blocks == 0 && live.kernels == 0 && live.handles == 0);
  return help::report();
}

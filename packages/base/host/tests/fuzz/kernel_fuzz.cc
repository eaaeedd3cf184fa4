// Kernels made from fuzzed NodeDefs: every query of construction and of a call, with fuzzed arguments.
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "drystone/kernels.h"
#include "drystone/kernels_experimental.h"
#include "drystone/ops.h"
#include "drystone_host/kernels.h"
#include "fuzz_input.h"

namespace {

Input* in = nullptr;
constexpr const char* kAttrs[] = {"T", "i", "f", "b", "s", "shape", "t", "list", "func", "none", "N"};

const char* attr() { return kAttrs[in->below(sizeof kAttrs / sizeof *kAttrs)]; }

void query_lists(TF_OpKernelConstruction* ctx, TF_Status* s) {
  std::int64_t room[16];
  const int most = static_cast<int>(in->below(9));
  TF_OpKernelConstruction_GetAttrInt64List(ctx, attr(), room, most, s);
  TF_OpKernelConstruction_GetAttrInt32List(ctx, attr(), reinterpret_cast<std::int32_t*>(room), most, s);
  TF_OpKernelConstruction_GetAttrFloatList(ctx, attr(), reinterpret_cast<float*>(room), most, s);
  TF_OpKernelConstruction_GetAttrTypeList(ctx, attr(), reinterpret_cast<TF_DataType*>(room), most, s);
  TF_OpKernelConstruction_GetAttrBoolList(ctx, attr(), reinterpret_cast<TF_Bool*>(room), most, s);
  TF_OpKernelConstruction_GetAttrTensorShape(ctx, attr(), room, static_cast<std::size_t>(most), s);
  char* values[8];
  std::size_t lengths[8];
  char storage[32];
  TF_OpKernelConstruction_GetAttrStringList(ctx, attr(), values, lengths, most > 8 ? 8 : most, storage,
                                            in->below(33), s);
  TF_OpKernelConstruction_GetAttrString(ctx, attr(), storage, in->below(33), s);
  std::array<TF_Tensor*, 8> tensors{};
  TF_OpKernelConstruction_GetAttrTensorList(ctx, attr(), tensors.data(), most > 8 ? 8 : most, s);
  for (TF_Tensor* t : tensors) TF_DeleteTensor(t);
}

void* create(TF_OpKernelConstruction* ctx) {
  TF_Status* s = TF_NewStatus();
  std::int32_t list = 0;
  std::int32_t total = 0;
  for (int k = 0; k < 8; ++k) {
    TF_OpKernelConstruction_HasAttr(ctx, attr(), s);
    TF_OpKernelConstruction_GetAttrSize(ctx, attr(), &list, &total, s);
    TF_DataType type;
    TF_OpKernelConstruction_GetAttrType(ctx, attr(), &type, s);
    std::int64_t number;
    TF_OpKernelConstruction_GetAttrInt64(ctx, attr(), &number, s);
    float real;
    TF_OpKernelConstruction_GetAttrFloat(ctx, attr(), &real, s);
    TF_Bool flag;
    TF_OpKernelConstruction_GetAttrBool(ctx, attr(), &flag, s);
    query_lists(ctx, s);
    TF_Tensor* tensor = nullptr;
    TF_OpKernelConstruction_GetAttrTensor(ctx, attr(), &tensor, s);
    TF_DeleteTensor(tensor);
    TF_DeleteBuffer(TF_OpKernelConstruction_GetAttrFunction(ctx, attr(), s));
  }
  TF_DeleteBuffer(TF_OpKernelConstruction_GetNodeDef(ctx, s));
  if (in->below(8) == 0) {
    TF_SetStatus(s, TF_INVALID_ARGUMENT, "as fuzzed");
    TF_OpKernelConstruction_Failure(ctx, s);
  }
  TF_DeleteStatus(s);
  return nullptr;
}

std::vector<std::int64_t> dims() {
  std::vector<std::int64_t> out(in->below(4));
  for (auto& dim : out) dim = in->below(6) == 0 ? -static_cast<int>(in->below(3)) : in->below(5);
  return out;
}

void outputs(TF_OpKernelContext* ctx, TF_Status* s) {
  const auto shape = dims();
  const int index = static_cast<int>(in->below(5)) - 1;
  const auto type = static_cast<TF_DataType>(in->below(35));
  const int rank = static_cast<int>(shape.size());
  switch (in->below(4)) {
    case 0:
      TF_DeleteTensor(TF_AllocateOutput(ctx, index, type, shape.data(), rank, in->below(200), s));
      break;
    case 1: {
      const int candidates[] = {static_cast<int>(in->below(4)) - 1, 0};
      int forwarded = 0;
      TF_DeleteTensor(TF_ForwardInputOrAllocateOutput(ctx, candidates, static_cast<int>(in->below(3)),
                                                      index, shape.data(), rank, &forwarded, s));
      break;
    }
    case 2: {
      TF_Tensor* input = nullptr;
      TF_GetInput(ctx, static_cast<int>(in->below(5)) - 1, &input, s);
      TF_SetOutput(ctx, index, input, s);
      TF_DeleteTensor(input);
      break;
    }
    default:
      TF_DeleteTensor(TF_AllocateTemp(ctx, type, shape.data(), rank, nullptr, s));
  }
}

void compute(void*, TF_OpKernelContext* ctx) {
  TF_Status* s = TF_NewStatus();
  for (int k = static_cast<int>(in->below(6)); k > 0; --k) {
    outputs(ctx, s);
    TF_InputRange_Args range{};
    range.struct_size = in->below(4) == 0 ? in->number() : TF_InputRange_Args_STRUCT_SIZE;
    range.status = s;
    TF_InputRange(ctx, in->below(2) ? "x" : "none", &range);
    (void)TF_InputDatatype(ctx, static_cast<int>(in->below(5)) - 1);
    (void)TF_ExpectedOutputDataType(ctx, static_cast<int>(in->below(5)) - 1);
    TF_Tensor* tensor = nullptr;
    TF_GetInputByName(ctx, in->below(2) ? "x" : "none", &tensor, s);
    TF_DeleteTensor(tensor);
  }
  if (in->below(8) == 0) {
    TF_SetStatus(s, TF_ABORTED, "as fuzzed");
    TF_OpKernelContext_Failure(ctx, s);
  }
  TF_DeleteStatus(s);
}

void register_all() {
  TF_Status* s = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("Fuzzed");
  for (const char* spec : {"T: {float, int32, string}", "N: int >= 0 = 1", "i: int = 3", "f: float = 1.5",
                           "b: bool = true", "s: string = 'text'", "shape: shape = {}",
                           "t: tensor = { dtype: DT_FLOAT }", "list: list(int) = [1, 2]"}) {
    TF_OpDefinitionBuilderAddAttr(op, spec);
  }
  TF_OpDefinitionBuilderAddInput(op, "x: N * T");
  TF_OpDefinitionBuilderAddOutput(op, "y: T");
  TF_OpDefinitionBuilderAddOutput(op, "z: N * T");
  TF_RegisterOpDefinition(op, s);
  TF_RegisterKernelBuilder("fuzzed", TF_NewKernelBuilder("Fuzzed", "CPU", create, compute, nullptr), s);
  if (TF_GetCode(s) != TF_OK) __builtin_trap();
  TF_DeleteStatus(s);
}

void run(DS_Kernel* kernel, TF_Status* s) {
  std::vector<TF_Tensor*> inputs;
  for (std::size_t k = in->below(4); k > 0; --k) {
    const std::int64_t shape[] = {static_cast<std::int64_t>(in->below(4))};
    constexpr TF_DataType kTypes[] = {TF_FLOAT, TF_INT32, TF_STRING};
    inputs.push_back(TF_AllocateTensor(kTypes[in->below(3)], shape, 1, 24 * 4));
  }
  std::vector<TF_Tensor*> results(in->below(5), nullptr);
  DS_RunKernel(kernel, nullptr, inputs.data(), static_cast<int>(inputs.size()), results.data(),
               static_cast<int>(results.size()), s);
  for (TF_Tensor* t : inputs) TF_DeleteTensor(t);
  for (TF_Tensor* t : results) TF_DeleteTensor(t);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool once = [] {
    register_all();
    return true;
  }();
  (void)once;
  Input input(data, size);
  in = &input;
  const std::string node = input.text(255);
  TF_Buffer buffer{node.data(), node.size(), nullptr};
  TF_Status* s = TF_NewStatus();
  const std::int64_t id = DS_FindKernel(&buffer, nullptr, "CPU", s);
  DS_Kernel* kernel = DS_NewKernel(id, &buffer, nullptr, "/device:CPU:0", s);
  if (kernel != nullptr) run(kernel, s);
  DS_DeleteKernel(kernel);
  TF_DeleteStatus(s);
  return 0;
}

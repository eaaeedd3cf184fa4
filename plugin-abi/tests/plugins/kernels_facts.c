/* A kernel that writes down what a host answers, to be compared between hosts: op `Facts`, whose
 * attribute `path` names the file. One line per question: "WHAT CODE ANSWER". Nothing is asked that
 * ends the process of a host that aborts on bad indexes, nor what TensorFlow's wheels do not export
 * (kernels_experimental.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drystone/kernels.h"
#include "drystone/ops.h"

enum { kRoom = 8 };

static const char* const kAttrs[] = {"s",    "i",      "big",  "f",  "b",  "t",  "shape", "unknown",
                                     "part", "tensor", "func", "ls", "li", "lf", "lb",    "lt",
                                     "lsh",  "lten",   "none", "nos", "absent", "standard"};
enum { kAttrCount = sizeof kAttrs / sizeof kAttrs[0] };

static FILE* open_file(TF_OpKernelConstruction* ctx) {
  char path[512] = "";
  TF_Status* status = TF_NewStatus();
  TF_OpKernelConstruction_GetAttrString(ctx, "path", path, sizeof path - 1, status);
  TF_DeleteStatus(status);
  return fopen(path, "w");
}

static void sizes(FILE* out, TF_OpKernelConstruction* ctx, TF_Status* status) {
  for (int k = 0; k < kAttrCount; ++k) {
    int32_t list = 77, total = 77;
    bool has;
    TF_SetStatus(status, TF_OK, "");
    has = TF_OpKernelConstruction_HasAttr(ctx, kAttrs[k], status);
    fprintf(out, "HasAttr %s %d %d\n", kAttrs[k], TF_GetCode(status), has);
    TF_OpKernelConstruction_GetAttrSize(ctx, kAttrs[k], &list, &total, status);
    fprintf(out, "GetAttrSize %s %d %d %d\n", kAttrs[k], TF_GetCode(status), list, total);
  }
}

static void scalars(FILE* out, TF_OpKernelConstruction* ctx, TF_Status* status) {
  for (int k = 0; k < kAttrCount; ++k) {
    const char* name = kAttrs[k];
    TF_DataType type = TF_INT8;
    int32_t i32 = 77;
    int64_t i64 = 77;
    float real = 77;
    TF_Bool flag = 77;
    char text[kRoom] = "-------";
    TF_OpKernelConstruction_GetAttrType(ctx, name, &type, status);
    fprintf(out, "GetAttrType %s %d %d\n", name, TF_GetCode(status), type);
    TF_OpKernelConstruction_GetAttrInt32(ctx, name, &i32, status);
    fprintf(out, "GetAttrInt32 %s %d %d\n", name, TF_GetCode(status), i32);
    TF_OpKernelConstruction_GetAttrInt64(ctx, name, &i64, status);
    fprintf(out, "GetAttrInt64 %s %d %lld\n", name, TF_GetCode(status), (long long)i64);
    TF_OpKernelConstruction_GetAttrFloat(ctx, name, &real, status);
    fprintf(out, "GetAttrFloat %s %d %g\n", name, TF_GetCode(status), real);
    TF_OpKernelConstruction_GetAttrBool(ctx, name, &flag, status);
    fprintf(out, "GetAttrBool %s %d %d\n", name, TF_GetCode(status), flag);
    TF_OpKernelConstruction_GetAttrString(ctx, name, text, 3, status);
    fprintf(out, "GetAttrString %s %d %s\n", name, TF_GetCode(status), text);
  }
}

static void lists(FILE* out, TF_OpKernelConstruction* ctx, TF_Status* status) {
  for (int k = 0; k < kAttrCount; ++k) {
    const char* name = kAttrs[k];
    TF_DataType types[kRoom] = {TF_INT8, TF_INT8, TF_INT8};
    int32_t i32[kRoom] = {7, 7, 7};
    int64_t i64[kRoom] = {7, 7, 7};
    float reals[kRoom] = {7, 7, 7};
    TF_Bool flags[kRoom] = {7, 7, 7};
    char* texts[kRoom] = {NULL};
    size_t lengths[kRoom] = {7, 7, 7};
    char storage[kRoom];
    TF_OpKernelConstruction_GetAttrTypeList(ctx, name, types, 2, status);
    fprintf(out, "TypeList %s %d %d %d\n", name, TF_GetCode(status), types[1], types[2]);
    TF_OpKernelConstruction_GetAttrInt32List(ctx, name, i32, 2, status);
    fprintf(out, "Int32List %s %d %d %d\n", name, TF_GetCode(status), i32[1], i32[2]);
    TF_OpKernelConstruction_GetAttrInt64List(ctx, name, i64, 2, status);
    fprintf(out, "Int64List %s %d %d %d\n", name, TF_GetCode(status), (int)i64[1], (int)i64[2]);
    TF_OpKernelConstruction_GetAttrFloatList(ctx, name, reals, 2, status);
    fprintf(out, "FloatList %s %d %g %g\n", name, TF_GetCode(status), reals[1], reals[2]);
    TF_OpKernelConstruction_GetAttrBoolList(ctx, name, flags, 2, status);
    fprintf(out, "BoolList %s %d %d %d\n", name, TF_GetCode(status), flags[1], flags[2]);
    TF_OpKernelConstruction_GetAttrStringList(ctx, name, texts, lengths, 3, storage, 4, status);
    fprintf(out, "StringList %s %d %d %d\n", name, TF_GetCode(status), (int)lengths[0],
            (int)lengths[2]);
    TF_OpKernelConstruction_GetAttrStringList(ctx, name, texts, lengths, 3, storage, 3, status);
    fprintf(out, "StringList short %s %d\n", name, TF_GetCode(status));
  }
}

static void messages(FILE* out, TF_OpKernelConstruction* ctx, TF_Status* status) {
  for (int k = 0; k < kAttrCount; ++k) {
    TF_Tensor* tensors[2] = {NULL, NULL};
    TF_Buffer* bytes = NULL;
    TF_OpKernelConstruction_GetAttrTensor(ctx, kAttrs[k], tensors, status);
    fprintf(out, "GetAttrTensor %s %d %d\n", kAttrs[k], TF_GetCode(status), tensors[0] != NULL);
    if (tensors[0] != NULL) TF_DeleteTensor(tensors[0]);
    tensors[0] = NULL;
    TF_OpKernelConstruction_GetAttrTensorList(ctx, kAttrs[k], tensors, 2, status);
    fprintf(out, "TensorList %s %d %d\n", kAttrs[k], TF_GetCode(status), tensors[1] != NULL);
    for (int i = 0; i < 2; ++i) {
      if (tensors[i] != NULL) TF_DeleteTensor(tensors[i]);
    }
    bytes = TF_OpKernelConstruction_GetAttrFunction(ctx, kAttrs[k], status);
    fprintf(out, "GetAttrFunction %s %d %d\n", kAttrs[k], TF_GetCode(status),
            TF_GetCode(status) == TF_OK ? (int)bytes->length : -1);
    if (TF_GetCode(status) == TF_OK) TF_DeleteBuffer(bytes);
  }
}

static void* create(TF_OpKernelConstruction* ctx) {
  FILE* out = open_file(ctx);
  TF_Status* status = TF_NewStatus();
  TF_StringView name = TF_OpKernelConstruction_GetName(ctx);
  if (out == NULL) return NULL;
  fprintf(out, "GetName %.*s\n", (int)name.len, name.data);
  sizes(out, ctx, status);
  scalars(out, ctx, status);
  lists(out, ctx, status);
  messages(out, ctx, status);
  TF_DeleteStatus(status);
  return out;
}

static void ranges(FILE* out, TF_OpKernelContext* ctx, TF_Status* status) {
  const char* const names[] = {"x", "many", "nobody"};
  for (int k = 0; k < 3; ++k) {
    TF_InputRange_Args args;
    memset(&args, 0, sizeof args);
    args.struct_size = TF_InputRange_Args_STRUCT_SIZE;
    args.start = args.stop = 77;
    args.status = status;
    TF_InputRange(ctx, names[k], &args);
    fprintf(out, "InputRange %s %d %d %d\n", names[k], TF_GetCode(status),
            TF_GetCode(status) == TF_OK ? args.start : -1,
            TF_GetCode(status) == TF_OK ? args.stop : -1);
  }
}

static void text(FILE* out, const char* what, TF_StringView view) {
  fprintf(out, "%s %.*s\n", what, (int)view.len, view.data);
}

static void facts(FILE* out, TF_OpKernelContext* ctx, TF_Status* status) {
  fprintf(out, "NumInputs %d NumOutputs %d\n", TF_NumInputs(ctx), TF_NumOutputs(ctx));
  fprintf(out, "InputDatatype %d %d\n", TF_InputDatatype(ctx, 0), TF_InputDatatype(ctx, 1));
  fprintf(out, "ExpectedOutputDataType %d\n", TF_ExpectedOutputDataType(ctx, 0));
  fprintf(out, "IsHostMemory %d", TF_IsHostMemoryInput(ctx, 0, status));
  fprintf(out, " %d\n", TF_IsHostMemoryOutput(ctx, 0, status));
  text(out, "GetOpKernelName", TF_GetOpKernelName(ctx));
  text(out, "GetDeviceName", TF_GetDeviceName(ctx));
  text(out, "RequestedInput", TF_GetOpKernelRequestedInput(ctx, 0));
  text(out, "DefaultContainer", TF_GetResourceMgrDefaultContainerName(ctx));
  fprintf(out, "GetDeviceId %d FrameId %d IterId %d\n", TF_GetDeviceId(ctx),
          (int)TF_GetFrameId(ctx), (int)TF_GetIterId(ctx));
  fprintf(out, "StepId agrees %d\n", TF_StepId(ctx) == TF_GetStepId(ctx));
  fprintf(out, "GetStream %d", TF_GetStream(ctx, status) == NULL);
  fprintf(out, " %d\n", TF_GetCode(status));
}

static void tensors(FILE* out, TF_OpKernelContext* ctx, TF_Status* status) {
  const int64_t dims[] = {2};
  TF_Tensor* x = NULL;
  TF_Tensor* y = NULL;
  TF_GetInput(ctx, -1, &x, status);
  fprintf(out, "GetInput -1 %d\n", TF_GetCode(status));
  TF_GetInput(ctx, 9, &x, status);
  fprintf(out, "GetInput 9 %d\n", TF_GetCode(status));
  TF_GetInput(ctx, 0, &x, status);
  fprintf(out, "GetInput 0 %d %d\n", TF_GetCode(status), (int)TF_TensorElementCount(x));
  TF_SetOutput(ctx, 5, x, status);
  fprintf(out, "SetOutput 5 %d\n", TF_GetCode(status));
  TF_SetOutput(ctx, -1, x, status);
  fprintf(out, "SetOutput -1 %d\n", TF_GetCode(status));
  TF_DeleteTensor(x);
  x = TF_AllocateTemp(ctx, TF_INT16, dims, 1, NULL, status);
  fprintf(out, "AllocateTemp %d %d\n", TF_GetCode(status), (int)TF_TensorByteSize(x));
  TF_DeleteTensor(x);
  y = TF_AllocateOutput(ctx, 0, TF_FLOAT, dims, 1, 2 * sizeof(float), status);
  fprintf(out, "AllocateOutput %d %d\n", TF_GetCode(status), (int)TF_TensorByteSize(y));
  memset(TF_TensorData(y), 0, 2 * sizeof(float));
  TF_DeleteTensor(y);
  y = TF_GetMutableOutput(ctx, 0, status);
  fprintf(out, "GetMutableOutput %d %d\n", TF_GetCode(status), (int)TF_TensorElementCount(y));
  TF_DeleteTensor(y);
}

static void compute(void* state, TF_OpKernelContext* ctx) {
  FILE* out = state;
  TF_Status* status = TF_NewStatus();
  ranges(out, ctx, status);
  facts(out, ctx, status);
  tensors(out, ctx, status);
  fflush(out);
  TF_DeleteStatus(status);
}

static void destroy(void* state) {
  if (state != NULL) fclose(state);
}

static void define_op(TF_Status* status) {
  static const char* const attrs[] = {
      "path: string",  "s: string",        "i: int",          "big: int",
      "f: float",      "b: bool",          "t: type",         "shape: shape",
      "unknown: shape", "part: shape",     "tensor: tensor",  "func: func",
      "ls: list(string)", "li: list(int)", "lf: list(float)", "lb: list(bool)",
      "lt: list(type)", "lsh: list(shape)", "lten: list(tensor)", "none: list(int)",
      "nos: list(string)", "standard: int = 41", "N: int"};
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("Facts");
  for (size_t k = 0; k < sizeof attrs / sizeof attrs[0]; ++k) {
    TF_OpDefinitionBuilderAddAttr(op, attrs[k]);
  }
  TF_OpDefinitionBuilderAddInput(op, "x: float");
  TF_OpDefinitionBuilderAddInput(op, "many: N * int32");
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_RegisterOpDefinition(op, status);
}

TF_CAPI_EXPORT extern int facts_code;
int facts_code = -1;

void TF_InitKernel(void) {
  TF_Status* status = TF_NewStatus();
  define_op(status);
  if (TF_GetCode(status) == TF_OK) {
    TF_RegisterKernelBuilder(
        "Facts", TF_NewKernelBuilder("Facts", "CPU", create, compute, destroy), status);
  }
  facts_code = (int)TF_GetCode(status);
  TF_DeleteStatus(status);
}

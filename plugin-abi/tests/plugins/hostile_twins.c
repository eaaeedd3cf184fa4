/* Kernels of TensorFlow's own ops Neg, Split and MatMul, which go before ours, that give what these ops do not: BAD chooses. */
#include "drystone/platform_strings.h"
#include "hostile_kernels.h"

TF_PLATFORM_STRINGS()

enum {
  kShape,
  kRank,
  kType,
  kIndex,
  kNone,
  kInput,
  kFew,
  kNegative,
  kScalar,
  kMuch,
  kTwice,
  kRight,
};

static TF_Tensor* bad_output(TF_OpKernelContext* ctx, const TF_Tensor* x, TF_Status* status) {
  const int64_t three[1] = {3}, two[2] = {2, 3}, negative[1] = {-6}, much[1] = {(int64_t)1 << 40};
  const int rank = TF_NumDims(x);
  int64_t twice[8];
  for (int k = 0; k < rank; ++k) twice[k] = TF_Dim(x, k) * (k == 0 && BAD == kTwice ? 2 : 1);
  TF_Tensor* other = NULL;
  switch (BAD) {
    case kShape: return TF_AllocateOutput(ctx, 0, TF_FLOAT, three, 1, 12, status);
    case kRank: return TF_AllocateOutput(ctx, 0, TF_FLOAT, two, 2, 24, status);
    case kType: other = TF_AllocateTensor(TF_INT32, three, 1, 12); TF_SetOutput(ctx, 0, other, status); return other;
    case kIndex: return TF_AllocateOutput(ctx, 7, TF_FLOAT, three, 1, 12, status);
    case kInput: TF_GetInput(ctx, 3, &other, status); return NULL;
    case kFew: TF_SetOutput(ctx, 0, x, status); return NULL;
    case kNegative: return TF_AllocateOutput(ctx, 0, TF_FLOAT, negative, 1, 24, status);
    case kScalar: return TF_AllocateOutput(ctx, 0, TF_FLOAT, NULL, 0, 4, status);
    case kMuch: return TF_AllocateOutput(ctx, 0, TF_FLOAT, much, 1, 4, status);
    case kTwice: return TF_AllocateOutput(ctx, 0, TF_FLOAT, twice, rank, 2 * TF_TensorByteSize(x), status);
    case kRight: return TF_AllocateOutput(ctx, 0, TF_FLOAT, twice, rank, TF_TensorByteSize(x), status);
    default: return NULL;
  }
}

static void twin(void* state, TF_OpKernelContext* ctx) {
  (void)state;
  TF_Status* status = TF_NewStatus();
  TF_Tensor* x = NULL;
  TF_GetInput(ctx, TF_NumInputs(ctx) - 1, &x, status);
  TF_Tensor* const y = bad_output(ctx, x, status);
  if (y != NULL) memset(TF_TensorData(y), 0, TF_TensorByteSize(y));
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteTensor(x);
  TF_DeleteTensor(y);
  TF_DeleteStatus(status);
}

static void add(const char* op) {
  TF_Status* status = TF_NewStatus();
  TF_KernelBuilder* kernel = TF_NewKernelBuilder(op, "CPU", NULL, twin, NULL);
  TF_KernelBuilder_TypeConstraint(kernel, "T", TF_FLOAT, status);
  TF_KernelBuilder_Priority(kernel, 1000);
  TF_RegisterKernelBuilder("ZooTwin", kernel, status);
  TF_DeleteStatus(status);
}

TF_CAPI_EXPORT void TF_InitKernel(void) {
  add("Neg");
  add("Split");
  add("MatMul");
  (void)create, (void)destroy, (void)begin, (void)end;
}

/* Calls every function of the kernel interface with NULL and nonsense while it registers. A host
 * that survives answers each with a status or a neutral value; what it answered wrongly is in
 * `kernels_nulls_findings`. */
#include <string.h>

#include "drystone/kernels.h"
#include "drystone/kernels_experimental.h"

TF_CAPI_EXPORT extern int kernels_nulls_findings;
TF_CAPI_EXPORT extern const char* kernels_nulls_first;
int kernels_nulls_findings = 0;
const char* kernels_nulls_first = "";

static TF_Status* status;

static void expect(int holds, const char* what) {
  if (holds) return;
  if (kernels_nulls_findings++ == 0) kernels_nulls_first = what;
}

/* The call before must have set INVALID_ARGUMENT. */
static void refused(const char* what) {
  expect(TF_GetCode(status) == TF_INVALID_ARGUMENT, what);
  expect(strstr(TF_Message(status), what) == TF_Message(status), "message names the function");
  TF_SetStatus(status, TF_OK, "");
}
#define REFUSED(FUNCTION, ...) \
  do {                         \
    FUNCTION(__VA_ARGS__);     \
    refused(#FUNCTION);        \
  } while (0)

static void attributes(void) {
  int32_t i32 = 0;
  int64_t i64 = 0;
  TF_DataType type = TF_FLOAT;
  REFUSED(TF_OpKernelConstruction_GetAttrSize, NULL, "a", &i32, &i32, status);
  REFUSED(TF_OpKernelConstruction_GetAttrType, NULL, "a", &type, status);
  REFUSED(TF_OpKernelConstruction_GetAttrInt32, NULL, "a", &i32, status);
  REFUSED(TF_OpKernelConstruction_GetAttrInt64, NULL, "a", &i64, status);
  REFUSED(TF_OpKernelConstruction_GetAttrFloat, NULL, "a", NULL, status);
  REFUSED(TF_OpKernelConstruction_GetAttrBool, NULL, "a", NULL, status);
  REFUSED(TF_OpKernelConstruction_GetAttrString, NULL, "a", NULL, 0, status);
  REFUSED(TF_OpKernelConstruction_GetAttrTensor, NULL, "a", NULL, status);
  REFUSED(TF_OpKernelConstruction_GetAttrTypeList, NULL, "a", NULL, 0, status);
  REFUSED(TF_OpKernelConstruction_GetAttrInt32List, NULL, "a", NULL, -1, status);
  REFUSED(TF_OpKernelConstruction_GetAttrInt64List, NULL, NULL, NULL, 0, status);
  REFUSED(TF_OpKernelConstruction_GetAttrFloatList, NULL, "a", NULL, 0, status);
  REFUSED(TF_OpKernelConstruction_GetAttrBoolList, NULL, "a", NULL, 0, status);
  REFUSED(TF_OpKernelConstruction_GetAttrStringList, NULL, "a", NULL, NULL, 0, NULL, 0, status);
  REFUSED(TF_OpKernelConstruction_GetAttrTensorList, NULL, "a", NULL, 0, status);
  REFUSED(TF_OpKernelConstruction_GetAttrTensorShape, NULL, "a", NULL, 0, status);
  REFUSED(TF_OpKernelConstruction_GetAttrFunction, NULL, "a", status);
  REFUSED(TF_OpKernelConstruction_GetNodeDef, NULL, status);
  REFUSED(TF_OpKernelConstruction_HasAttr, NULL, "a", status);
  TF_OpKernelConstruction_Failure(NULL, NULL);
  expect(TF_OpKernelConstruction_GetName(NULL).len == 0, "GetName");
}

static void inputs_and_outputs(void) {
  TF_Tensor* tensor = NULL;
  REFUSED(TF_GetInput, NULL, 0, &tensor, status);
  REFUSED(TF_GetInputByName, NULL, "a", &tensor, status);
  REFUSED(TF_SetOutput, NULL, 0, NULL, status);
  REFUSED(TF_GetMutableOutput, NULL, 0, status);
  REFUSED(TF_AllocateOutput, NULL, 0, TF_FLOAT, NULL, 0, 0, status);
  REFUSED(TF_ForwardInputOrAllocateOutput, NULL, NULL, 5, 0, NULL, 0, NULL, status);
  REFUSED(TF_AllocateTemp, NULL, TF_FLOAT, NULL, 0, NULL, status);
  REFUSED(TF_IsHostMemoryInput, NULL, 0, status);
  REFUSED(TF_IsHostMemoryOutput, NULL, 0, status);
  REFUSED(TF_IsRefInput, NULL, 0, status);
  expect(TF_NumInputs(NULL) == 0 && TF_NumOutputs(NULL) == 0, "NumInputs");
  expect((int)TF_InputDatatype(NULL, 0) == 0, "InputDatatype");
  expect((int)TF_ExpectedOutputDataType(NULL, 0) == 0, "ExpectedOutputDataType");
  TF_InputRange(NULL, NULL, NULL);
  TF_OpKernelContext_Failure(NULL, NULL);
  expect(tensor == NULL, "an out-parameter was left alone");
}

static void facts(void) {
  REFUSED(TF_GetSerializedFunctionDefLibrary, NULL, NULL, status);
  REFUSED(TF_GetSerializedConfigProto, NULL, NULL, status);
  REFUSED(TF_GetSerializedResourceHandleProto, NULL, 0, NULL, status);
  REFUSED(TF_GetStream, NULL, status);
  expect(TF_StepId(NULL) == 0 && TF_GetStepId(NULL) == 0, "StepId");
  expect(TF_GetFrameId(NULL) == 0 && TF_GetIterId(NULL) == 0, "FrameId");
  expect(TF_GetDeviceId(NULL) == -1 && TF_GetGraphDefVersion(NULL) == 0, "DeviceId");
  expect(TF_GetDeviceName(NULL).len == 0 && TF_GetOpKernelName(NULL).len == 0, "names");
  expect(TF_GetOpKernelRequestedInput(NULL, 0).len == 0, "RequestedInput");
  expect(TF_GetResourceMgrDefaultContainerName(NULL).len == 0, "DefaultContainerName");
  expect(TF_GetRendezvous(NULL).send_func != NULL, "Rendezvous");
  TF_IncNumDeferredOps(NULL);
  TF_DecNumDeferredOps(NULL);
  TF_RunAsyncOpKernelDoneCallback(NULL);
}

static void variables(void) {
  TF_VariableInputLockHolder* holder = NULL;
  TF_Tensor* tensor = NULL;
  REFUSED(TF_AssignVariable, NULL, 0, 0, true, NULL, status);
  REFUSED(TF_AssignRefVariable, NULL, 0, 0, 0, true, true, NULL, status);
  REFUSED(TF_AssignUpdateVariable, NULL, 0, 0, 0, 0, NULL, NULL, status);
  REFUSED(TF_TemporaryVariable, NULL, TF_FLOAT, NULL, 0, NULL, NULL, status);
  REFUSED(TF_DestroyTemporaryVariable, NULL, 0, NULL, status);
  REFUSED(TF_MaybeLockVariableInputMutexesInOrder, NULL, true, true, NULL, 3, NULL, &holder,
          status);
  REFUSED(TF_GetInputTensorFromVariable, NULL, 0, true, true, true, NULL, &tensor, status);
  REFUSED(TF_AddNVariant, NULL, NULL, status);
  REFUSED(TF_ZerosLikeVariant, NULL, NULL, status);
  TF_OpKernelContext_ForwardRefInputToRefOutput(NULL, 0, 0);
  TF_ReleaseVariableInputLockHolder(NULL);
  expect(holder == NULL && tensor == NULL, "an out-parameter was left alone");
}

static void compute(void* state, TF_OpKernelContext* ctx) {
  (void)state;
  (void)ctx;
}

static void builders(void) {
  TF_KernelBuilder* builder = TF_NewKernelBuilder("NullsOp", "CPU", NULL, compute, NULL);
  expect(builder != NULL, "NewKernelBuilder");
  expect(TF_NewKernelBuilder(NULL, NULL, NULL, NULL, NULL) == NULL, "NewKernelBuilder of NULL");
  expect(TF_NewAsyncKernelBuilder("A", "CPU", NULL, NULL, NULL) == NULL, "NewAsyncKernelBuilder");
  REFUSED(TF_KernelBuilder_TypeConstraint, NULL, "T", TF_FLOAT, status);
  REFUSED(TF_KernelBuilder_TypeConstraint, builder, NULL, TF_FLOAT, status);
  TF_KernelBuilder_TypeConstraint(builder, "T", (TF_DataType)1000, status);
  expect(TF_GetCode(status) == TF_UNIMPLEMENTED, "TypeConstraint of an unknown dtype");
  TF_KernelBuilder_HostMemory(NULL, NULL);
  TF_KernelBuilder_Priority(NULL, 0);
  TF_KernelBuilder_Label(NULL, NULL);
  TF_DeleteKernelBuilder(NULL);
  REFUSED(TF_RegisterKernelBuilder, NULL, NULL, status);
  TF_RegisterKernelBuilderWithKernelDef("junk", "n", builder, status);
  refused("TF_RegisterKernelBuilderWithKernelDef");
}

void TF_InitKernel(void) {
  status = TF_NewStatus();
  attributes();
  inputs_and_outputs();
  facts();
  variables();
  builders();
  TF_DeleteStatus(status);
}

// A plugin as one writes it for TensorFlow: its include paths, its names, an op and a kernel.
// Nothing in this file knows of drystone.
#include <cstring>

#include "tensorflow/c/kernels.h"
#include "tensorflow/c/kernels_experimental.h"
#include "tensorflow/c/ops.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"
#include "tensorflow/core/platform/platform_strings.h"

TF_PLATFORM_STRINGS()

namespace {

struct Doubler {
  float factor;
};

void* Create(TF_OpKernelConstruction* ctx) {
  TF_Status* status = TF_NewStatus();
  auto* kernel = new Doubler{2.0f};
  TF_OpKernelConstruction_GetAttrFloat(ctx, "factor", &kernel->factor, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelConstruction_Failure(ctx, status);
  TF_DeleteStatus(status);
  return kernel;
}

void Compute(void* kernel, TF_OpKernelContext* ctx) {
  TF_Status* status = TF_NewStatus();
  TF_Tensor* input = nullptr;
  TF_GetInput(ctx, 0, &input, status);
  if (TF_GetCode(status) == TF_OK) {
    int64_t dims[8] = {};
    const int rank = TF_NumDims(input);
    for (int k = 0; k < rank && k < 8; ++k) dims[k] = TF_Dim(input, k);
    TF_Tensor* output = TF_AllocateOutput(ctx, 0, TF_FLOAT, dims, rank,
                                          TF_TensorByteSize(input), status);
    const auto* from = static_cast<const float*>(TF_TensorData(input));
    auto* to = static_cast<float*>(TF_TensorData(output));
    for (int64_t k = 0; k < TF_TensorElementCount(input); ++k) {
      to[k] = from[k] * static_cast<Doubler*>(kernel)->factor;
    }
    TF_DeleteTensor(output);
    TF_DeleteTensor(input);
  }
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteStatus(status);
}

void Delete(void* kernel) { delete static_cast<Doubler*>(kernel); }

void Shape(TF_ShapeInferenceContext* ctx, TF_Status* status) {
  TF_ShapeHandle* handle = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(ctx, 0, handle, status);
  if (TF_GetCode(status) == TF_OK) TF_ShapeInferenceContextSetOutput(ctx, 0, handle, status);
  TF_DeleteShapeHandle(handle);
}

}  // namespace

extern "C" void TF_InitKernel() {
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("ExampleScale");
  TF_OpDefinitionBuilderAddInput(op, "x: float");
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_OpDefinitionBuilderAddAttr(op, "factor: float = 2.0");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, Shape);
  TF_RegisterOpDefinition(op, status);
  TF_KernelBuilder* kernel =
      TF_NewKernelBuilder("ExampleScale", "CPU", &Create, &Compute, &Delete);
  TF_RegisterKernelBuilder("ExampleScale", kernel, status);
  TF_DeleteStatus(status);
}

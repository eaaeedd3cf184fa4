// A shape function that throws.
#include <stdexcept>

#include "drystone/ops.h"

namespace {

void throws(TF_ShapeInferenceContext* ctx, TF_Status*) {
  TF_NewShapeHandle();  // left behind
  if (TF_ShapeInferenceContextNumInputs(ctx) == 1) throw std::runtime_error("out of cheese");
  throw 7;
}

}  // namespace

extern "C" TF_CAPI_EXPORT void TF_InitKernel() {
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("Test>Throws");
  TF_OpDefinitionBuilderAddAttr(op, "N: int >= 0");
  TF_OpDefinitionBuilderAddInput(op, "x: N * float");
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, throws);
  TF_RegisterOpDefinition(op, status);
  TF_DeleteStatus(status);
}

/* Registers COUNT kernels of one op (-DKIND=1), of as many ops (2), with as many types (3), or as many ops without
 * kernels (4). The op is called NAME, or NAME with a number. */
#include <stdio.h>

#include "drystone/kernels.h"
#include "drystone/ops.h"
#include "drystone/platform_strings.h"

TF_PLATFORM_STRINGS()

enum { kOneOp = 1, kManyOps, kConstraints, kNoKernels };

static void compute(void* state, TF_OpKernelContext* ctx) { (void)state, (void)ctx; }

static void add_op(const char* name, TF_Status* status) {
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(name);
  TF_OpDefinitionBuilderAddInput(op, "x: float");
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_RegisterOpDefinition(op, status);
}

static void add_kernel(const char* name, int k, TF_Status* status) {
  char text[32];
  TF_KernelBuilder* kernel = TF_NewKernelBuilder(name, "CPU", NULL, compute, NULL);
  snprintf(text, sizeof text, "l%d", k);
  if (KIND == kConstraints) TF_KernelBuilder_TypeConstraint(kernel, text, TF_FLOAT, status);
  else TF_KernelBuilder_Label(kernel, text);
  TF_RegisterKernelBuilder(name, kernel, status);
}

TF_CAPI_EXPORT void TF_InitKernel(void) {
  TF_Status* status = TF_NewStatus();
  char name[64];
  for (int k = 0; k < COUNT; ++k) {
    const int has_own = KIND == kManyOps || KIND == kNoKernels;
    snprintf(name, sizeof name, has_own ? NAME "%d" : NAME, k);
    if (has_own || k == 0) add_op(name, status);
    if (KIND != kNoKernels) add_kernel(name, k, status);
    if (TF_GetCode(status) != TF_OK) fprintf(stderr, "not registered: %s\n", TF_Message(status));
  }
  TF_DeleteStatus(status);
}

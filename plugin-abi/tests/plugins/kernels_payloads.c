/* A kernel of an op `Test>Payloads(x: float) -> y: float` that always fails, with payloads of its own:
 * text, bytes that are no UTF-8, an escape sequence, and one under a key of the host's; with -DMANY
 * also more than errors keep. */
#include <stdio.h>
#include <string.h>

#include "drystone/kernels.h"
#include "drystone/ops.h"
#include "drystone/platform_strings.h"

TF_PLATFORM_STRINGS()

#ifdef MANY
static void set_many(TF_Status* status) {
  char key[200];
  static char value[5000];
  int k;
  for (k = 0; k < 40; ++k) {
    snprintf(key, sizeof key, "acme/n%02d", k);
    TF_SetPayload(status, key, "1");
  }
  memset(value, 'v', sizeof value - 1);
  TF_SetPayload(status, "acme/long", value);
  memset(key, 'k', sizeof key - 1);
  key[sizeof key - 1] = '\0';
  TF_SetPayload(status, key, "1");
}
#endif

static void compute(void* kernel, TF_OpKernelContext* call) {
  TF_Status* status = TF_NewStatus();
  (void)kernel;
  TF_SetStatus(status, TF_OUT_OF_RANGE, "row 17 is no number");
  TF_SetPayload(status, "acme/row", "17");
  TF_SetPayload(status, "acme/raw", "\xff\xfe");
  TF_SetPayload(status, "acme/shown", "a\x1b[31mb\nc");
  TF_SetPayload(status, "drystone/node", "somebody else");
#ifdef MANY
  set_many(status);
#endif
  TF_OpKernelContext_Failure(call, status);
  TF_DeleteStatus(status);
}

TF_CAPI_EXPORT void TF_InitKernel(void) {
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("Test>Payloads");
  TF_OpDefinitionBuilderAddInput(op, "x: float");
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_RegisterOpDefinition(op, status);
  TF_RegisterKernelBuilder(
      "Payloads", TF_NewKernelBuilder("Test>Payloads", "CPU", NULL, compute, NULL), status);
  TF_DeleteStatus(status);
}

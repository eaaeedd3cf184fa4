/* The entry point: registers everything, and reports what could not be registered. */
#include "drystone/kernels.h"
#include "drystone/logging.h"
#include "drystone/platform_strings.h"
#include "kernels.h"

/* Record what processor and which ABI version this library was built for. Once per library. */
TF_PLATFORM_STRINGS()

static void attempt(const char* what, void (*registration)(TF_Status*)) {
  TF_Status* status = TF_NewStatus();
  registration(status);
  if (TF_GetCode(status) != TF_OK) {
    TF_Log(TF_ERROR, "%s was not registered: %s", what, TF_Message(status));
  }
  TF_DeleteStatus(status);
}

/* The library's only export. It has no status: errors go to the log, and the host keeps those of
 * the single registrations. */
TF_CAPI_EXPORT void TF_InitKernel(void) {
  attempt("ExampleWeightedSum", register_weighted_sum);
  attempt("ExampleTotal", register_total);
  attempt("Relu", register_relu);
  attempt("ExampleSend", register_send);
  attempt("ExampleRecv", register_recv);
}

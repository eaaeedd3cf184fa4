/* The kernels of the example plugin-abi/examples/kernels_c/meeting.c, alone. */
#include "drystone/kernels.h"
#include "drystone/platform_strings.h"
#include "kernels.h"

TF_PLATFORM_STRINGS()

TF_CAPI_EXPORT void TF_InitKernel(void) {
  TF_Status* status = TF_NewStatus();
  register_send(status);
  register_recv(status);
  TF_DeleteStatus(status);
}

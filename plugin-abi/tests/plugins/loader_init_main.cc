// A plugin written for TensorFlow that prepares the platform before it registers anything, and
// reads strings by way of TensorFlow's internal header.
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
#include "tensorflow/core/platform/ctstring_internal.h"
#include "tensorflow/core/platform/platform_strings.h"

TF_PLATFORM_STRINGS()

extern "C" TF_CAPI_EXPORT void TF_InitKernel() {
  TF_InitMain(nullptr, nullptr, nullptr);
  int count = 1;
  char name[] = "plugin";
  char* names[] = {name, nullptr};
  char** words = names;
  TF_InitMain("usage", &count, &words);
  TF_TString text;
  TF_TString_Init(&text);
  TF_TString_Copy(&text, "PreparedOp", 10);
  if (count == 1 && words == names && TF_TString_GetSize(&text) == 10) {
    TF_Status* status = TF_NewStatus();
    TF_RegisterOpDefinition(TF_NewOpDefinitionBuilder(TF_TString_GetDataPointer(&text)), status);
    TF_DeleteStatus(status);
  }
  TF_TString_Dealloc(&text);
}

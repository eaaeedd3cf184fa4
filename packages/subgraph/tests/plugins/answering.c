/* A subgraph backend of Neg whose executables answer what they must not, by HOW: 0 nothing wrong, 1 another
 * shape, 2 another dtype, 3 no output, 4 more outputs than there are, 5 one output fewer, 6 one rank more,
 * 7 another number in a dimension. */
#include <stdlib.h>
#include <string.h>

#include "drystone/platform_strings.h"
#include "drystone/subgraph.h"

TF_PLATFORM_STRINGS()

static unsigned char wants(const DS_SubgraphBackend* b, void* s, const DS_SubgraphNode* node) {
  (void)b, (void)s;
  return strcmp(node->op, "Neg") == 0;
}

static void* compile(const DS_SubgraphBackend* b, const DS_SubgraphRegion* region, TF_Status* status) {
  (void)b, (void)region, (void)status;
  return malloc(1);
}

static TF_Tensor* made(TF_DataType dtype, const int64_t* dims, int rank) {
  size_t bytes = TF_DataTypeSize(dtype);
  for (int k = 0; k < rank; ++k) bytes *= (size_t)dims[k];
  TF_Tensor* out = TF_AllocateTensor(dtype, dims, rank, bytes);
  memset(TF_TensorData(out), 0, bytes);
  return out;
}

/* Minus the input. */
static TF_Tensor* right(const TF_Tensor* input) {
  const int64_t dims[1] = {TF_Dim(input, 0)};
  TF_Tensor* out = made(TF_FLOAT, dims, 1);
  for (int64_t k = 0; k < dims[0]; ++k) ((float*)TF_TensorData(out))[k] = -((float*)TF_TensorData(input))[k];
  return out;
}

static void execute(const DS_SubgraphBackend* b, void* executable, TF_Tensor* const* inputs, int32_t num_inputs,
                    TF_Tensor** outputs, int32_t num_outputs, TF_Status* status) {
  (void)b, (void)executable, (void)num_inputs, (void)status;
  const int64_t size = TF_Dim(inputs[0], 0), dims[2] = {size + 1, 1};
  for (int32_t k = 0; k < num_outputs; ++k) outputs[k] = right(inputs[0]);
  if (HOW == 0) return;
  TF_DeleteTensor(outputs[num_outputs - 1]);
  outputs[num_outputs - 1] = NULL;
  switch (HOW) {
    case 1: outputs[num_outputs - 1] = made(TF_FLOAT, dims, 1); break;
    case 2: outputs[num_outputs - 1] = made(TF_INT64, &size, 1); break;
    case 4:
      outputs[num_outputs - 1] = right(inputs[0]);
      outputs[num_outputs] = right(inputs[0]);
      break;
    case 6: outputs[num_outputs - 1] = made(TF_FLOAT, (int64_t[2]){size, 1}, 2); break;
    case 7: outputs[num_outputs - 1] = made(TF_FLOAT, (int64_t[1]){0}, 1); break;
    default: break;
  }
}

static void destroy(const DS_SubgraphBackend* b, void* executable) {
  (void)b;
  free(executable);
}

TF_CAPI_EXPORT void DS_InitSubgraph(DS_SubgraphRegistrationParams* params, TF_Status* status) {
  (void)status;
  params->backend->name = NAME;
  params->selector_fns->select = wants;
  params->fns->compile = compile;
  params->fns->execute = execute;
  params->fns->destroy_executable = destroy;
}

/* A subgraph backend of sums: x + w, where w is packed once. It fails for x below zero, and waits until
 * it is told to go on for x from a million on. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drystone/platform_strings.h"
#include "drystone/subgraph.h"

TF_PLATFORM_STRINGS()

typedef struct {
  int64_t elements;
  int weight; /* the input that is packed, or -1 */
  float* packed;
} Sum;

static int alive, waiting, told;

/* How many executables there are. */
__attribute__((visibility("default"))) int live(void) { return __atomic_load_n(&alive, __ATOMIC_SEQ_CST); }

/* Whether an executable waits; tell all to go on. */
__attribute__((visibility("default"))) int waits(void) { return __atomic_load_n(&waiting, __ATOMIC_SEQ_CST); }
__attribute__((visibility("default"))) void go_on(void) { __atomic_store_n(&told, 1, __ATOMIC_SEQ_CST); }

static void wait_to_be_told(TF_Status* status) {
  const struct timespec millisecond = {0, 1000000};
  __atomic_store_n(&waiting, 1, __ATOMIC_SEQ_CST);
  for (int k = 0; k < 10000 && !__atomic_load_n(&told, __ATOMIC_SEQ_CST); ++k) nanosleep(&millisecond, NULL);
  if (!__atomic_load_n(&told, __ATOMIC_SEQ_CST)) TF_SetStatus(status, TF_DEADLINE_EXCEEDED, "nobody said to go on");
}

static unsigned char wants(const DS_SubgraphBackend* b, void* s, const DS_SubgraphNode* node) {
  (void)b;
  (void)s;
  return strcmp(node->op, "AddV2") == 0;
}

static void pack(Sum* sum, const TF_Tensor* weight) {
  memcpy(sum->packed, TF_TensorData(weight), (size_t)sum->elements * sizeof(float));
}

static void* compile(const DS_SubgraphBackend* b, const DS_SubgraphRegion* region, TF_Status* status) {
  (void)b;
  if (region->num_nodes != 1 || region->num_inputs != 2) {
    TF_SetStatus(status, TF_UNIMPLEMENTED, "one sum of two values");
    return NULL;
  }
  const size_t rank = (size_t)region->inputs[0]->rank;
  if (region->inputs[1]->rank != region->inputs[0]->rank ||
      memcmp(region->inputs[0]->dims, region->inputs[1]->dims, rank * sizeof(int64_t)) != 0) {
    TF_SetStatus(status, TF_UNIMPLEMENTED, "two values of one shape");
    return NULL;
  }
  Sum* sum = calloc(1, sizeof *sum);
  sum->elements = 1;
  sum->weight = -1;
  for (int k = 0; k < region->inputs[0]->rank; ++k) sum->elements *= region->inputs[0]->dims[k];
  for (int k = 0; k < 2; ++k) {
    if (!region->inputs[k]->is_weight) continue;
    sum->weight = k;
    sum->packed = malloc((size_t)sum->elements * sizeof(float) + 1);
    pack(sum, region->inputs[k]->value);
  }
  __atomic_add_fetch(&alive, 1, __ATOMIC_SEQ_CST);
  return sum;
}

static void execute(const DS_SubgraphBackend* b, void* executable, TF_Tensor* const* inputs,
                    int32_t num_inputs, TF_Tensor** outputs, int32_t num_outputs, TF_Status* status) {
  (void)b;
  (void)num_inputs;
  (void)num_outputs;
  const Sum* sum = executable;
  const float* from[2];
  for (int k = 0; k < 2; ++k) {
    from[k] = k == sum->weight ? sum->packed : TF_TensorData(inputs[k]);
  }
  if (sum->elements > 0 && from[0][0] >= 1e6f) wait_to_be_told(status);
  int64_t dims[8];
  for (int k = 0; k < TF_NumDims(inputs[0]); ++k) dims[k] = TF_Dim(inputs[0], k);
  outputs[0] = TF_AllocateTensor(TF_FLOAT, dims, TF_NumDims(inputs[0]),
                                 (size_t)sum->elements * sizeof(float));
  float* out = TF_TensorData(outputs[0]);
  for (int64_t i = 0; i < sum->elements; ++i) {
    if (from[0][i] < 0) TF_SetStatus(status, TF_INVALID_ARGUMENT, "x is below zero");
    out[i] = from[0][i] + from[1][i];
  }
}

static void update(const DS_SubgraphBackend* b, void* executable, TF_Tensor* const* inputs,
                   int32_t num_inputs, const unsigned char* changed, TF_Status* status) {
  (void)b;
  (void)status;
  for (int32_t k = 0; k < num_inputs; ++k) {
    if (changed[k]) pack(executable, inputs[k]);
  }
}

static void destroy(const DS_SubgraphBackend* b, void* executable) {
  (void)b;
  free(((Sum*)executable)->packed);
  free(executable);
  __atomic_sub_fetch(&alive, 1, __ATOMIC_SEQ_CST);
}

TF_CAPI_EXPORT void DS_InitSubgraph(DS_SubgraphRegistrationParams* params, TF_Status* status) {
  (void)status;
  params->backend->name = NAME;
  params->selector_fns->select = wants;
  params->fns->compile = compile;
  params->fns->execute = execute;
  params->fns->destroy_executable = destroy;
  if (UPDATES) params->fns->update = update;
}

/* A pass and a subgraph backend of Neg that do wrong one by one: zoo_choose() says what. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "drystone/passes.h"
#include "drystone/platform_strings.h"
#include "drystone/subgraph.h"

TF_PLATFORM_STRINGS()

enum {
  kGood,
  kGraphNowhere,
  kGraphEndless,
  kGraphFreed,
  kGraphForNobody,
  kGraphNone,
  kFailsWithEscapes,
  kFlagsPast,
  kFlagsPastInReview,
  kAttrsNowhere,
  kAttrsFreed,
  kAttrsForNobody,
  kAttrsNone,
  kOutputNowhere,
  kOutputFreed,
  kOutputOdd,
  kStatusDeleted,
  kInputDeleted,
  kInputMoved,
};

static int chosen;
static void* const nowhere = (void*)0x10;

TF_CAPI_EXPORT void zoo_choose(int what);

void zoo_choose(int what) { chosen = what; }

static void free_bytes(void* data, size_t length) {
  (void)length;
  free(data);
}

static void keep(void* data, size_t length, void* argument) { (void)data, (void)length, (void)argument; }

static void give(TF_Buffer* out, int is_nowhere, int is_freed, int is_for_nobody, size_t length) {
  char* const data = malloc(16);
  memset(data, 0xFF, 16);
  *out = (TF_Buffer){is_nowhere ? nowhere : data, length, free_bytes};
  if (is_for_nobody) out->data_deallocator = (void (*)(void*, size_t))(intptr_t)0x10;
  if (is_freed || is_nowhere) free(data);
}

/* ---- the pass ---- */

static void run(void* context, const DS_PassCall* call, TF_Status* status) {
  (void)context;
  if (chosen == kFailsWithEscapes) return TF_SetStatus(status, TF_INTERNAL, "\x1b[2J\x1b]0;gone\x07 no");
  if (chosen == kStatusDeleted) TF_DeleteStatus(status);
  if (chosen == kGood || chosen > kGraphNone) return;
  give(call->results[0], chosen == kGraphNowhere, chosen == kGraphFreed, chosen == kGraphForNobody,
       chosen == kGraphEndless ? (size_t)1 << 40 : 9);
}

TF_CAPI_EXPORT void DS_InitPasses(DS_PassRegistrationParams* params, TF_Status* status) {
  (void)params;
  const DS_Pass pass = {.struct_size = DS_PASS_STRUCT_SIZE, .name = "zoo", .run = run};
  DS_RegisterPass(&pass, status);
}

/* ---- the backend ---- */

static unsigned char wants(const DS_SubgraphBackend* b, void* s, const DS_SubgraphNode* node) {
  (void)b, (void)s;
  return strcmp(node->op, "Neg") == 0;
}

static void filter(const DS_SubgraphBackend* b, void* s, const DS_SubgraphNode* const* nodes, int32_t count,
                   unsigned char* flags) {
  (void)b, (void)s, (void)nodes;
  if (chosen == kFlagsPast) flags[count + 3] = 0;
}

static void review(const DS_SubgraphBackend* b, const DS_SubgraphRegion* region, unsigned char* flags,
                   TF_Buffer* attrs, TF_Status* status) {
  (void)b, (void)status;
  if (chosen == kFlagsPastInReview) flags[region->num_nodes] = 7;
  if (chosen < kAttrsNowhere || chosen > kAttrsNone) return;
  give(attrs, chosen == kAttrsNowhere, chosen == kAttrsFreed, chosen == kAttrsForNobody, 9);
}

static void* compile(const DS_SubgraphBackend* b, const DS_SubgraphRegion* region, TF_Status* status) {
  (void)b, (void)region, (void)status;
  return malloc(1);
}

static TF_Tensor* made_of(void* data, int64_t size) {
  return TF_NewTensor(TF_FLOAT, &size, 1, data, (size_t)size * sizeof(float), keep, NULL);
}

static void execute(const DS_SubgraphBackend* b, void* executable, TF_Tensor* const* inputs, int32_t num_inputs,
                    TF_Tensor** outputs, int32_t num_outputs, TF_Status* status) {
  (void)b, (void)executable, (void)num_inputs, (void)num_outputs;
  const int64_t size = TF_Dim(inputs[0], 0);
  if (chosen == kStatusDeleted) TF_DeleteStatus(status);
  if (chosen == kOutputNowhere) {
    outputs[0] = made_of((void*)0x1000, size);
    return;
  }
  float* const data = aligned_alloc(64, 64 * (((size_t)size * sizeof(float) + 8) / 64 + 1));
  float* const at = chosen == kOutputOdd ? data + 1 : data;
  for (int64_t k = 0; k < size; ++k) at[k] = -((const float*)TF_TensorData(inputs[0]))[k];
  outputs[0] = made_of(at, size);
  if (chosen == kInputDeleted) TF_DeleteTensor(inputs[0]);
  if (chosen == kInputMoved) TF_DeleteTensor(TF_TensorMaybeMove(inputs[0]));
  if (chosen == kOutputFreed) free(data);
}

static void destroy(const DS_SubgraphBackend* b, void* executable) {
  (void)b;
  free(executable);
}

TF_CAPI_EXPORT void DS_InitSubgraph(DS_SubgraphRegistrationParams* params, TF_Status* status) {
  (void)status;
  params->backend->name = "zoo";
  params->selector_fns->select = wants;
  params->selector_fns->filter = filter;
  params->fns->review = review;
  params->fns->compile = compile;
  params->fns->execute = execute;
  params->fns->destroy_executable = destroy;
}

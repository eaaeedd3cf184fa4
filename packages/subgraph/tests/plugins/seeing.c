/* A subgraph backend of Neg, Exp and calls, which writes down what it is shown and compiles nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drystone/platform_strings.h"
#include "drystone/subgraph.h"

TF_PLATFORM_STRINGS()

#define SHARED __attribute__((visibility("default")))

typedef struct {
  char devices[256]; /* of inputs, then of outputs, each followed by a semicolon */
  size_t functions_size;
  char functions[4096];
} Seen;

/* What was last shown to accept, and to compile. */
SHARED Seen accepted, compiled;

static void look(Seen* seen, const TF_SubgraphRegion* region) {
  memset(seen, 0, sizeof *seen);
  for (int k = 0; k < region->num_inputs + region->num_outputs; ++k) {
    const TF_SubgraphValue* value =
        k < region->num_inputs ? region->inputs[k] : region->outputs[k - region->num_inputs];
    const size_t used = strlen(seen->devices);
    if (!DRYSTONE_HAS_MEMBER(TF_SubgraphValue, value, device)) return;
    snprintf(seen->devices + used, sizeof seen->devices - used, "%s;", value->device);
  }
  if (!DRYSTONE_HAS_MEMBER(TF_SubgraphRegion, region, functions_size)) return;
  if ((region->functions == NULL) != (region->functions_size == 0)) abort();
  if (region->functions_size > sizeof seen->functions) abort();
  seen->functions_size = region->functions_size;
  if (region->functions != NULL) memcpy(seen->functions, region->functions, region->functions_size);
}

static unsigned char wants(const TP_SubgraphBackend* b, void* s, const TF_SubgraphNode* node) {
  (void)b;
  (void)s;
  return strcmp(node->op, "Neg") == 0 || strcmp(node->op, "Exp") == 0 || strstr(node->op, "Call") != NULL;
}

static unsigned char accept(const TP_SubgraphBackend* b, const TF_SubgraphRegion* region, TF_Status* status) {
  (void)b;
  (void)status;
  look(&accepted, region);
  return 1;
}

static void* compile(const TP_SubgraphBackend* b, const TF_SubgraphRegion* region, TF_Status* status) {
  (void)b;
  look(&compiled, region);
  TF_SetStatus(status, TF_UNIMPLEMENTED, "it only looks");
  return NULL;
}

static void execute(const TP_SubgraphBackend* b, void* executable, TF_Tensor* const* inputs, int32_t num_inputs,
                    TF_Tensor** outputs, int32_t num_outputs, TF_Status* status) {
  (void)b;
  (void)executable;
  (void)inputs;
  (void)num_inputs;
  (void)outputs;
  (void)num_outputs;
  TF_SetStatus(status, TF_UNIMPLEMENTED, "nothing was compiled");
}

static void destroy(const TP_SubgraphBackend* b, void* executable) {
  (void)b;
  (void)executable;
}

TF_CAPI_EXPORT void TF_InitSubgraph(TF_SubgraphRegistrationParams* params, TF_Status* status) {
  (void)status;
  params->backend->name = "seeing";
  params->selector_fns->select = wants;
  params->fns->accept = accept;
  params->fns->compile = compile;
  params->fns->execute = execute;
  params->fns->destroy_executable = destroy;
}

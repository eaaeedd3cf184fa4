/* A subgraph backend of Neg, Exp, AddN and calls, which writes down what it is shown, answers reviews as it
 * is told, and compiles nothing. FNS_SIZE: what it says of its functions. */
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
  size_t attrs_size;
  char attrs[1024];
} Seen;

/* What was last shown to accept, and to compile. */
SHARED Seen accepted, compiled;

/* What to answer: nodes to leave out, between spaces, and how many of the last; attributes; a failure. */
SHARED struct {
  char leave_out[256];
  int32_t last;
  int32_t attrs_size;
  char attrs[1024];
  char failure[64];
} told;

/* Reviews, and buffers that were freed. */
SHARED int reviews, freed;

static void look(Seen* seen, const DS_SubgraphRegion* region) {
  memset(seen, 0, sizeof *seen);
  for (int k = 0; k < region->num_inputs + region->num_outputs; ++k) {
    const DS_SubgraphValue* value =
        k < region->num_inputs ? region->inputs[k] : region->outputs[k - region->num_inputs];
    const size_t used = strlen(seen->devices);
    if (!DRYSTONE_HAS_MEMBER(DS_SubgraphValue, value, device)) return;
    snprintf(seen->devices + used, sizeof seen->devices - used, "%s;", value->device);
  }
  if (!DRYSTONE_HAS_MEMBER(DS_SubgraphRegion, region, functions_size)) return;
  if ((region->functions == NULL) != (region->functions_size == 0)) abort();
  if (region->functions_size > sizeof seen->functions) abort();
  seen->functions_size = region->functions_size;
  if (region->functions != NULL) memcpy(seen->functions, region->functions, region->functions_size);
  if (!DRYSTONE_HAS_MEMBER(DS_SubgraphRegion, region, attrs_size)) return;
  if ((region->attrs == NULL) != (region->attrs_size == 0)) abort();
  if (region->attrs_size > sizeof seen->attrs) abort();
  seen->attrs_size = region->attrs_size;
  if (region->attrs != NULL) memcpy(seen->attrs, region->attrs, region->attrs_size);
}

static unsigned char wants(const DS_SubgraphBackend* b, void* s, const DS_SubgraphNode* node) {
  (void)b;
  (void)s;
  return strstr(" Neg Exp AddN ", node->op) != NULL || strstr(node->op, "Call") != NULL;
}

static unsigned char accept(const DS_SubgraphBackend* b, const DS_SubgraphRegion* region, TF_Status* status) {
  (void)b;
  (void)status;
  look(&accepted, region);
  return 1;
}

static void free_attrs(void* data, size_t length) {
  (void)length;
  free(data);
  ++freed;
}

static void review(const DS_SubgraphBackend* b, const DS_SubgraphRegion* region, unsigned char* keep,
                   TF_Buffer* attrs, TF_Status* status) {
  (void)b;
  ++reviews;
  for (int k = 0; k < region->num_nodes; ++k) {
    char name[64];
    snprintf(name, sizeof name, " %s ", region->nodes[k]->name);
    if (strstr(told.leave_out, name) != NULL || k >= region->num_nodes - told.last) keep[k] = 0;
  }
  if (told.attrs_size != 0) {
    attrs->data = memcpy(malloc((size_t)told.attrs_size), told.attrs, (size_t)told.attrs_size);
    attrs->length = (size_t)told.attrs_size;
    attrs->data_deallocator = free_attrs;
  }
  if (told.failure[0] != 0) TF_SetStatus(status, TF_UNAVAILABLE, told.failure);
}

static void* compile(const DS_SubgraphBackend* b, const DS_SubgraphRegion* region, TF_Status* status) {
  (void)b;
  look(&compiled, region);
  TF_SetStatus(status, TF_UNIMPLEMENTED, "it only looks");
  return NULL;
}

static void execute(const DS_SubgraphBackend* b, void* executable, TF_Tensor* const* inputs, int32_t num_inputs,
                    TF_Tensor** outputs, int32_t num_outputs, TF_Status* status) {
  (void)b;
  (void)executable;
  (void)inputs;
  (void)num_inputs;
  (void)outputs;
  (void)num_outputs;
  TF_SetStatus(status, TF_UNIMPLEMENTED, "nothing was compiled");
}

static void destroy(const DS_SubgraphBackend* b, void* executable) {
  (void)b;
  (void)executable;
}

TF_CAPI_EXPORT void DS_InitSubgraph(DS_SubgraphRegistrationParams* params, TF_Status* status) {
  (void)status;
  params->backend->name = NAME;
  params->selector_fns->select = wants;
  params->fns->struct_size = FNS_SIZE;
  params->fns->accept = accept;
  params->fns->compile = compile;
  params->fns->execute = execute;
  params->fns->destroy_executable = destroy;
  params->fns->review = review;
}

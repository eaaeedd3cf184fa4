/* A subgraph backend of Neg, one of whose functions does not return: -DHANGS=select, accept, compile or execute. */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "drystone/platform_strings.h"
#include "drystone/subgraph.h"

TF_PLATFORM_STRINGS()

#define SHOWN_(name) #name
#define SHOWN(name) SHOWN_(name)

static void enter(const char* function) {
  if (strcmp(function, SHOWN(HANGS)) != 0 || write(1, "inside\n", 7) != 7) return;
  for (int k = 0; k < 90; ++k) sleep(1);
}

static unsigned char wants(const DS_SubgraphBackend* b, void* s, const DS_SubgraphNode* node) {
  (void)b;
  (void)s;
  enter("select");
  return strcmp(node->op, "Neg") == 0;
}

static unsigned char accept(const DS_SubgraphBackend* b, const DS_SubgraphRegion* region, TF_Status* status) {
  (void)b;
  (void)region;
  (void)status;
  enter("accept");
  return 1;
}

static void* compile(const DS_SubgraphBackend* b, const DS_SubgraphRegion* region, TF_Status* status) {
  (void)b;
  (void)region;
  (void)status;
  enter("compile");
  return &enter;
}

static void execute(const DS_SubgraphBackend* b, void* executable, TF_Tensor* const* inputs, int32_t num_inputs,
                    TF_Tensor** outputs, int32_t num_outputs, TF_Status* status) {
  (void)b;
  (void)executable;
  (void)inputs;
  (void)num_inputs;
  (void)outputs;
  (void)num_outputs;
  enter("execute");
  TF_SetStatus(status, TF_UNIMPLEMENTED, "it computes nothing");
}

static void destroy(const DS_SubgraphBackend* b, void* executable) {
  (void)b;
  (void)executable;
}

TF_CAPI_EXPORT void DS_InitSubgraph(DS_SubgraphRegistrationParams* params, TF_Status* status) {
  (void)status;
  params->backend->name = "hanging";
  params->selector_fns->select = wants;
  params->fns->struct_size = DS_SUBGRAPH_FNS_STRUCT_SIZE;
  params->fns->accept = accept;
  params->fns->compile = compile;
  params->fns->execute = execute;
  params->fns->destroy_executable = destroy;
}

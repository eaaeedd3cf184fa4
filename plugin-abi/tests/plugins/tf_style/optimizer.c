/* A graph optimizer as one writes it for TensorFlow, in C: it hands the graph on. */
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/experimental/grappler/grappler.h"
#include "tensorflow/c/tf_buffer.h"

static void free_bytes(void* data, size_t length) {
  (void)length;
  free(data);
}

static void* create(void) { return malloc(1); }

static void optimize(void* optimizer, const TF_Buffer* graph, const TF_GrapplerItem* item,
                     TF_Buffer* out, TF_Status* status) {
  (void)optimizer;
  int values = 0;
  size_t storage = 0;
  TF_GetNodesToPreserveListSize(item, &values, &storage, status);
  if (TF_GetCode(status) != TF_OK) return;
  TF_GraphProperties* const properties = TF_NewGraphProperties(item);
  TF_InferStatically(properties, 0, 0, 0, 0, status);
  TF_DeleteGraphProperties(properties);
  void* const copy = malloc(graph->length);
  memcpy(copy, graph->data, graph->length);
  out->data = copy;
  out->length = graph->length;
  out->data_deallocator = free_bytes;
}

static void destroy(void* optimizer) { free(optimizer); }

void TF_InitGraph(TP_OptimizerRegistrationParams* params, TF_Status* status) {
  params->struct_size = TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->major_version = GO_MAJOR;
  params->minor_version = GO_MINOR;
  params->patch_version = GO_PATCH;
  params->device_type = "CPU";
  params->optimizer_configs->struct_size = TP_OPTIMIZER_CONFIGS_STRUCT_SIZE;
  params->optimizer_configs->remapping = TF_TriState_Off;
  params->optimizer->struct_size = TP_OPTIMIZER_STRUCT_SIZE;
  params->optimizer->create_func = create;
  params->optimizer->optimize_func = optimize;
  params->optimizer->destroy_func = destroy;
  TF_SetStatus(status, TF_OK, "");
}

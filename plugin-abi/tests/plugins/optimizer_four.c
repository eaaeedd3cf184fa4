/* An optimizer in the form of TensorFlow 2.5: optimize_func of four arguments, configs of 88 bytes,
 * and the item by TF_GetGrapplerItem. */
#include "drystone/optimizer.h"
#include "optimizer_help.h"

static void optimize(void* optimizer, TF_Buffer* graph, TF_Buffer* optimized, TF_Status* status) {
  (void)optimizer;
  const TF_GrapplerItem* const item = TF_GetGrapplerItem(graph, status);
  if (TF_GetCode(status) != TF_OK) return;
  copy_graph(graph, optimized);
  report_item(item, "y", status);
}

void TF_InitGraph(TP_OptimizerRegistrationParams* params, TF_Status* status) {
  (void)status;
  params->device_type = "FOUR";
  params->optimizer_configs->struct_size = 88;
  void (*four)(void*, TF_Buffer*, TF_Buffer*, TF_Status*) = optimize;
  memcpy(&params->optimizer->optimize_func, &four, sizeof four);
}

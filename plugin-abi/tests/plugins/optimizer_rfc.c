/* Optimizers in the forms of RFC 318's own text, with its functions that have no status.
 *
 *   DEVICE     its device type, a string literal
 *   ARGUMENTS  3: (optimizer, graph, optimized), or 4: and a status
 *   JUNK       what a caller without a status leaves in its place, an expression
 *   FAILS      with 4 arguments: answer an error instead
 *
 * The RFC's structs are as long as those of TensorFlow 2.5, and its examples state no size. */
#include "drystone/optimizer.h"
#include "optimizer_help.h"

/* What callers without a status may leave where one is looked for. */
static inline TF_Status* gone(void) {
  TF_Status* status = TF_NewStatus();
  TF_DeleteStatus(status);
  return status;
}
static long words[16] = {1, 2, 3};

/* Renames node x to w, which is fed by another name only if the item knew of it. */
static void rewrite(TF_Buffer* graph, TF_Buffer* optimized) {
  TF_Status* const junk = (TF_Status*)(JUNK);
  TF_Status* const own = TF_NewStatus();
  TF_GrapplerItem* const item = TF_GetGrapplerItem(graph, junk);
  int count = 0, bytes = 0;
  TF_GetFetchNodesSize(item, &count, &bytes);
  char storage[64];
  char* values[8];
  size_t lengths[8];
  TF_GetFetchNodesList(item, values, lengths, count, storage, sizeof storage, own);
  TF_GraphProperties* const properties = TF_NewGraphProperties(item);
  TF_InferStatically(properties, 1, 0, 0, 0, own);
  int there = 0;
  TF_GetOutputPropertiesSize(properties, "y", &there);
  TF_Buffer* list[1] = {TF_NewBuffer()};
  TF_GetOutputPropertiesList(properties, "y", list, 1, junk);
  TF_FunctionLibraryDefinition* const library = TF_NewFunctionLibraryDefinition(graph, junk);
  TF_Buffer* const op = TF_NewBuffer();
  TF_LookUpOpDef(library, "Neg", op, own);
  char name[64];
  snprintf(name, sizeof name, "saw_%d_%d_%d_%d", count, there, list[0]->length > 0, op->length > 0);
  if (TF_GetCode(own) == TF_OK) append_node(graph, name, "NoOp", optimized);
  TF_DeleteBuffer(op);
  TF_DeleteBuffer(list[0]);
  TF_DeleteFunctionLibraryDefinition(library);
  TF_DeleteGraphProperties(properties);
  TF_DeleteStatus(own);
}

#if ARGUMENTS == 3
static void optimize(void* optimizer, TF_Buffer* graph, TF_Buffer* optimized) {
  (void)optimizer;
  rewrite(graph, optimized);
}
#else
static void optimize(void* optimizer, TF_Buffer* graph, TF_Buffer* optimized, TF_Status* status) {
  (void)optimizer;
#ifdef FAILS
  TF_SetStatus(status, TF_ABORTED, "not today");
  (void)rewrite;
  (void)graph;
  (void)optimized;
#else
  (void)status;
  rewrite(graph, optimized);
#endif
}
#endif

/* Unused by some values of JUNK. */
TF_CAPI_EXPORT void* junk_kinds[] = {(void*)gone, (void*)words};

void TF_InitGraphPlugin(TP_OptimizerRegistrationParams* params, TF_Status* status) {
  (void)status;
  enum { kRemapping = 12, kMemoryOptimization = 15, kAutoParallel = 16 };
  int* toggles = (int*)((char*)params->configs + 16);
  params->device_type = DEVICE;
  toggles[kRemapping] = TF_TriState_Off;
  toggles[kMemoryOptimization] = TF_TriState_On;
  toggles[kAutoParallel] = TF_TriState_Off;
  void (*own)(void) = (void (*)(void))optimize;
  memcpy(&params->optimizer->optimize_func, &own, sizeof own);
}

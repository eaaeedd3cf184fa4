/* What this small host offers to plugins: statuses, buffers, builders that only count. */
#include <stdarg.h>
#include <stdbool.h>

#include "drystone/buffer.h"
#include "drystone/env.h"
#include "drystone/kernels.h"
#include "drystone/logging.h"
#include "drystone/ops.h"
#include "drystone/optimizer.h"
#include "guarded.h"
#include "old_host.h"

struct TF_Status {
  TF_Code code;
  char message[256];
};

TF_Status* TF_NewStatus(void) { return calloc(1, sizeof(TF_Status)); }
void TF_DeleteStatus(TF_Status* status) { free(status); }
TF_Code TF_GetCode(const TF_Status* status) { return status->code; }
const char* TF_Message(const TF_Status* status) { return status->message; }
void TF_SetStatus(TF_Status* status, TF_Code code, const char* message) {
  status->code = code;
  snprintf(status->message, sizeof status->message, "%s", code == TF_OK ? "" : message);
}

void TF_Log(TF_LogLevel level, const char* format, ...) { (void)level, (void)format; }
void TF_VLog(int level, const char* format, ...) { (void)level, (void)format; }
uint64_t TF_NowSeconds(void) { return 1; }

/* Optimizer services: one node to preserve, no properties. */
void TF_GetNodesToPreserveListSize(const TF_GrapplerItem* item, int* count, size_t* storage,
                                   TF_Status* status) {
  (void)item;
  *count = 1;
  *storage = 4;
  TF_SetStatus(status, TF_OK, "");
}
TF_GraphProperties* TF_NewGraphProperties(const TF_GrapplerItem* item) {
  (void)item;
  return calloc(1, 1);
}
void TF_DeleteGraphProperties(TF_GraphProperties* properties) { free(properties); }
void TF_InferStatically(TF_GraphProperties* properties, TF_Bool assume_valid_feeds,
                        TF_Bool aggressive, TF_Bool inputs, TF_Bool outputs, TF_Status* status) {
  (void)properties, (void)assume_valid_feeds, (void)aggressive, (void)inputs, (void)outputs;
  TF_SetStatus(status, TF_OK, "");
}

/* Builders: what is registered is counted. */
int registered_ops = 0;
int registered_kernels = 0;

TF_OpDefinitionBuilder* TF_NewOpDefinitionBuilder(const char* name) {
  expect(name != NULL, "an op without a name");
  return calloc(1, 1);
}
void TF_OpDefinitionBuilderAddInput(TF_OpDefinitionBuilder* builder, const char* spec) {
  (void)builder, (void)spec;
}
void TF_OpDefinitionBuilderAddOutput(TF_OpDefinitionBuilder* builder, const char* spec) {
  (void)builder, (void)spec;
}
void TF_OpDefinitionBuilderAddAttr(TF_OpDefinitionBuilder* builder, const char* spec) {
  (void)builder, (void)spec;
}
void TF_OpDefinitionBuilderSetShapeInferenceFunction(
    TF_OpDefinitionBuilder* builder, void (*function)(TF_ShapeInferenceContext*, TF_Status*)) {
  (void)builder, (void)function;
}
void TF_RegisterOpDefinition(TF_OpDefinitionBuilder* builder, TF_Status* status) {
  free(builder);
  ++registered_ops;
  TF_SetStatus(status, TF_OK, "");
}
TF_KernelBuilder* TF_NewKernelBuilder(const char* op, const char* device,
                                      void* (*create)(TF_OpKernelConstruction*),
                                      void (*compute)(void*, TF_OpKernelContext*),
                                      void (*destroy)(void*)) {
  (void)op, (void)device, (void)create, (void)destroy;
  expect(compute != NULL, "a kernel without a compute function");
  return calloc(1, 1);
}
void TF_RegisterKernelBuilder(const char* name, TF_KernelBuilder* builder, TF_Status* status) {
  (void)name;
  free(builder);
  ++registered_kernels;
  TF_SetStatus(status, TF_OK, "");
}

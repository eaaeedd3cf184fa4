/* Optimizers that misuse what they are given, or give what is none: one for each value of BAD.
 * Where nothing else is said they answer the graph as it was. */
#include <stdlib.h>
#include <string.h>

#include "drystone/buffer.h"
#include "drystone/optimizer.h"
#include "drystone/platform_strings.h"
#include "drystone/status.h"

enum {
  kNowhere = 1,   /* its graph lies where nothing is */
  kTooLong,       /* is longer than its memory */
  kFreed,         /* lies in memory that it has freed */
  kNoFunction,    /* has a deallocator that is none */
  kDeletesOutput, /* deletes the host's buffer for it */
  kFreesGraph,
  kDamagesGraph, /* writes over the graph that it was given */
  kDeletesProperties,
  kDeletesLibrary,
  kDeletesBuffer, /* twice, each of them */
  kFreesTwice,
  kDeletesStatus,      /* the host's */
  kDeletesFirstStatus, /* the one of its entry function */
};

TF_PLATFORM_STRINGS()

static void release(void* data, size_t length) {
  (void)length;
  free(data);
}

static void delete_twice(const TF_Buffer* graph, const TF_GrapplerItem* item, TF_Status* status) {
  TF_GraphProperties* properties = TF_NewGraphProperties(item);
  TF_FunctionLibraryDefinition* library = TF_NewFunctionLibraryDefinition(graph, status);
  TF_Buffer* buffer = TF_NewBuffer();
  char* volatile block = malloc(100);
  int count = 0;
  TF_DeleteGraphProperties(properties);
  TF_DeleteFunctionLibraryDefinition(library);
  TF_DeleteBuffer(buffer);
  free(block);
  if (BAD == kDeletesProperties) {
    TF_DeleteGraphProperties(properties);
    TF_GetInputPropertiesListSize(properties, "y", &count, status);
  }
  if (BAD == kDeletesLibrary) {
    TF_DeleteFunctionLibraryDefinition(library);
    TF_LookUpOpDef(library, "Neg", buffer, status);
  }
  if (BAD == kDeletesBuffer) TF_DeleteBuffer(buffer);
  if (BAD == kFreesTwice) free(block);
  if (TF_GetCode(status) == TF_INVALID_ARGUMENT) TF_SetStatus(status, TF_OK, "");
}

static void optimize(void* self, const TF_Buffer* graph, const TF_GrapplerItem* item, TF_Buffer* out,
                     TF_Status* status) {
  (void)self;
  char* data = malloc(graph->length + 1);
  memcpy(data, graph->data, graph->length);
  TF_SetStatus(status, TF_OK, "");
  out->data = data;
  out->length = graph->length;
  out->data_deallocator = release;
  switch (BAD) {
    case kNowhere: out->data = (void*)0x20; out->data_deallocator = NULL; break;
    case kTooLong: out->length = (size_t)1 << 40; break;
    case kFreed: free(data); out->data_deallocator = NULL; break;
    case kNoFunction: out->data_deallocator = (void (*)(void*, size_t))0x99; break;
    case kDeletesOutput: TF_DeleteBuffer(out); break;
    case kFreesGraph: free((void*)(size_t)graph->data); break;
    case kDamagesGraph: memset((void*)(size_t)graph->data, 0, graph->length); break;
    case kDeletesStatus: TF_DeleteStatus(status); break;
    case kDeletesFirstStatus: break;
    default: delete_twice(graph, item, status);
  }
}

TF_CAPI_EXPORT void TF_InitGraph(TP_OptimizerRegistrationParams* params, TF_Status* status) {
  params->struct_size = TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->device_type = DEVICE;
  params->optimizer->struct_size = TP_OPTIMIZER_STRUCT_SIZE;
  params->optimizer->optimize_func = &optimize;
  params->optimizer_configs->struct_size = TP_OPTIMIZER_CONFIGS_STRUCT_SIZE;
  TF_SetStatus(status, TF_OK, "");
  if (BAD == kDeletesFirstStatus) TF_DeleteStatus(status);
}

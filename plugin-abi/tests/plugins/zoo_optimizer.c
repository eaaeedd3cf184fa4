/* Optimizers that load well and misbehave when they are called, one for each value of BAD. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drystone/buffer.h"
#include "drystone/optimizer.h"
#include "drystone/platform_strings.h"
#include "drystone/status.h"

enum {
  kWrongValues = 1, /* a Relu becomes a Tanh */
  kCrashesOnLayers, /* dies of a graph with a BiasAdd */
  kExitsWithZero,   /* ends the process as if all were well */
  kHangsOnLayers,
  kCrashesAtExit,
  kLosesNodes, /* gives a name that must stay to nobody */
  kTurnsOff,   /* does nothing, and turns passes off */
};

TF_PLATFORM_STRINGS()

static const char* find(const char* text, size_t length, const char* wanted, size_t size) {
  for (size_t k = 0; k + size <= length; ++k) {
    if (memcmp(text + k, wanted, size) == 0) return text + k;
  }
  return NULL;
}

static void crash(void) { raise(SIGSEGV); }

static void replace_all(char* data, size_t length, const char* from, const char* to, size_t size) {
  const char* at = data;
  while ((at = find(at, length - (size_t)(at - data), from, size)) != NULL) {
    memcpy(data + (at - data), to, size);
    at += size;
  }
}

static void release(void* data, size_t length) {
  (void)length;
  free(data);
}

static void optimize(void* self, const TF_Buffer* graph, const TF_GrapplerItem* item, TF_Buffer* out,
                     TF_Status* status) {
  (void)self;
  (void)item;
  const int has_layer = find(graph->data, graph->length, "BiasAdd", 7) != NULL;
  if (BAD == kCrashesOnLayers && has_layer) crash();
  if (BAD == kHangsOnLayers && has_layer) {
    for (;;) pause();
  }
  if (BAD == kExitsWithZero) exit(0);
  char* data = malloc(graph->length + 1);
  memcpy(data, graph->data, graph->length);
  /* Field 2 of a node is its op; both names have as many letters. */
  if (BAD == kWrongValues) {
    replace_all(data, graph->length, "\x12\x04Relu", "\x12\x04Tanh", 6);
  }
  if (BAD == kLosesNodes) replace_all(data, graph->length, "product", "prodigy", 7);
  out->data = data;
  out->length = graph->length;
  out->data_deallocator = release;
  TF_SetStatus(status, TF_OK, "");
}

TF_CAPI_EXPORT void TF_InitGraph(TP_OptimizerRegistrationParams* params, TF_Status* status) {
  if (BAD == kCrashesAtExit) atexit(crash);
  params->struct_size = TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->device_type = "CPU";
  params->optimizer->struct_size = TP_OPTIMIZER_STRUCT_SIZE;
  params->optimizer->optimize_func = &optimize;
  params->optimizer_configs->struct_size = TP_OPTIMIZER_CONFIGS_STRUCT_SIZE;
  if (BAD == kTurnsOff) {
    params->optimizer_configs->remapping = TF_TriState_Off;
    params->optimizer_configs->constant_folding = TF_TriState_Off;
  }
  TF_SetStatus(status, TF_OK, "");
}

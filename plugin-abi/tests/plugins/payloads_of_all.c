/* Functions of plugins that fail with a payload of their own, and the parts of a message: a kernel and a
 * shape function of an op `Test>Failing(x: float) -> y: float` (IN_SHAPE: the shape function), a filesystem
 * `failing://`, whose stat fails, and a subgraph backend of Neg, whose executables fail (IN_COMPILE: to be
 * made). Each is there where its entry function is called. */
#include <stdlib.h>
#include <string.h>

#include "drystone/filesystem.h"
#include "drystone/kernels.h"
#include "drystone/ops.h"
#include "drystone/platform_strings.h"
#include "drystone/subgraph.h"

TF_PLATFORM_STRINGS()

#ifndef BACKEND
#define BACKEND "failing"
#endif

static void fail(TF_Status* status) {
  TF_SetStatus(status, TF_OUT_OF_RANGE, "rows must be sorted: row 17 is not");
  TF_SetPayload(status, "acme/row", "17");
  TF_SetPayload(status, DS_PAYLOAD_CHECK, "rows must be sorted");
  TF_SetPayload(status, DS_PAYLOAD_FOUND, "row 17 is smaller than row 16");
  TF_SetPayload(status, DS_PAYLOAD_NEEDED, "rows in rising order");
}

/* ---- a kernel and a shape function ---- */

static void compute(void* kernel, TF_OpKernelContext* call) {
  TF_Status* status = TF_NewStatus();
  (void)kernel;
  fail(status);
  TF_OpKernelContext_Failure(call, status);
  TF_DeleteStatus(status);
}

static void infer(TF_ShapeInferenceContext* ctx, TF_Status* status) {
#ifdef IN_SHAPE
  (void)ctx;
  fail(status);
#else
  TF_ShapeInferenceContextSetUnknownShape(ctx, status);
#endif
}

TF_CAPI_EXPORT void TF_InitKernel(void) {
  TF_Status* status = TF_NewStatus();
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("Test>Failing");
  TF_OpDefinitionBuilderAddInput(op, "x: float");
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, infer);
  TF_RegisterOpDefinition(op, status);
  TF_RegisterKernelBuilder("Failing", TF_NewKernelBuilder("Test>Failing", "CPU", NULL, compute, NULL),
                           status);
  TF_DeleteStatus(status);
}

/* ---- a filesystem ---- */

static void* allocate(size_t size) { return calloc(1, size); }

static void init(TF_Filesystem* filesystem, TF_Status* status) {
  (void)filesystem;
  TF_SetStatus(status, TF_OK, "");
}

static void cleanup(TF_Filesystem* filesystem) { (void)filesystem; }

static void look(const TF_Filesystem* filesystem, const char* path, TF_FileStatistics* found,
                 TF_Status* status) {
  (void)filesystem, (void)path, (void)found;
  fail(status);
}

TF_CAPI_EXPORT void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  TF_FilesystemPluginOps* ops = allocate(sizeof *ops);
  info->plugin_memory_allocate = allocate;
  info->plugin_memory_free = free;
  info->num_schemes = 1;
  info->ops = ops;
  TF_SetFilesystemVersionMetadata(ops);
  ops->scheme = strcpy(allocate(16), "failing");
  ops->filesystem_ops = allocate(sizeof(TF_FilesystemOps));
  ops->filesystem_ops->init = init;
  ops->filesystem_ops->cleanup = cleanup;
  ops->filesystem_ops->stat = look;
}

/* ---- a subgraph backend ---- */

static unsigned char wants(const DS_SubgraphBackend* b, void* s, const DS_SubgraphNode* node) {
  (void)b, (void)s;
  return strcmp(node->op, "Neg") == 0;
}

static void* compile(const DS_SubgraphBackend* b, const DS_SubgraphRegion* region, TF_Status* status) {
  (void)b, (void)region;
#ifdef IN_COMPILE
  fail(status);
  return NULL;
#else
  (void)status;
  return malloc(1);
#endif
}

static void execute(const DS_SubgraphBackend* b, void* executable, TF_Tensor* const* inputs,
                    int32_t num_inputs, TF_Tensor** outputs, int32_t num_outputs, TF_Status* status) {
  (void)b, (void)executable, (void)inputs, (void)num_inputs, (void)outputs, (void)num_outputs;
  fail(status);
}

static void destroy(const DS_SubgraphBackend* b, void* executable) {
  (void)b;
  free(executable);
}

TF_CAPI_EXPORT void DS_InitSubgraph(DS_SubgraphRegistrationParams* params, TF_Status* status) {
  (void)status;
  params->backend->name = BACKEND;
  params->selector_fns->select = wants;
  params->fns->compile = compile;
  params->fns->execute = execute;
  params->fns->destroy_executable = destroy;
}

/* The host library's own interface, for programs that embed it: graph optimizers of plugins.
 *
 * A plugin that exports TF_InitGraph registers one optimizer for one device type when its library
 * is initialised (drystone_host/library.h). A program lists them, makes an item of each graph, and
 * runs an optimizer on it. When to run which, and what to make of the answer, is the program's
 * decision: nothing here looks at devices of nodes or at wishes about passes.
 *
 * All functions may be called from any thread. Since 1.0.
 */
#ifndef DRYSTONE_HOST_OPTIMIZER_H_
#define DRYSTONE_HOST_OPTIMIZER_H_

#include "drystone/buffer.h"
#include "drystone/macros.h"
#include "drystone/optimizer.h"
#include "drystone/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `count` names; values[k] has lengths[k] bytes. All null for no names. */
typedef struct DS_Names {
  const char* const* values;
  const size_t* lengths;
  int count;
} DS_Names;

/* A graph with what a run wants of it. Everything is copied. */
typedef struct DS_ItemSpec {
  size_t struct_size;
  const void* graph; /* serialised GraphDef */
  size_t graph_length;
  DS_Names fetches;  /* "node" or "node:k" */
  DS_Names feeds;
  DS_Names preserve; /* node names that must stay; sorted, each once */
  /* Device that nodes without one state while a plugin sees the graph; taken off its answer again,
   * where the node did not state it itself. NULL: leave devices alone. */
  const char* default_device;
} DS_ItemSpec;
#define DS_ITEM_SPEC_STRUCT_SIZE TF_OFFSET_OF_END(DS_ItemSpec, default_device)

/* Make an item. NULL unless OK; INVALID_ARGUMENT for bytes that are no GraphDef, a negative count,
 * or names without lengths. */
TF_CAPI_EXPORT extern TF_GrapplerItem* DS_NewItem(const DS_ItemSpec* spec, TF_Status* status);

/* Delete an item; NULL is accepted. Properties made of it can be read on, not inferred again. */
TF_CAPI_EXPORT extern void DS_DeleteItem(TF_GrapplerItem* item);

/* Run the optimizer of a device type (of several, the one that declared no order, or else the first
 * by path): create, optimize, destroy. 1 when it gave another graph,
 * which is written into the empty buffer `out`; 0 when it gave the same graph or failed.
 *
 * NOT_FOUND  no optimizer is registered for the device type
 * INTERNAL   the plugin threw an exception, or gave nothing, or bytes that are no GraphDef
 * other      what the plugin answered
 * The message names the plugin's file. */
TF_CAPI_EXPORT extern int DS_RunOptimizer(const char* device_type, const TF_GrapplerItem* item,
                                          TF_Buffer* out, TF_Status* status);

/* The same for one of several optimizers of a device type: that of `library`, the path of its file
 * as DS_ListOptimizers has it. */
TF_CAPI_EXPORT extern int DS_RunOptimizerOf(const char* library, const char* device_type,
                                            const TF_GrapplerItem* item, TF_Buffer* out,
                                            TF_Status* status);

/* The same, which ends after `most_ms` milliseconds, unless that is 0, with DEADLINE_EXCEEDED, and with
 * CANCELLED where the embedder wants to go on (DS_SetAttention): the call is left on a thread of its
 * own then. Until it returns there, calls of the library's optimizers fail with UNAVAILABLE. `library`
 * may be NULL, which is as DS_RunOptimizer has it. Since 1.0. */
TF_CAPI_EXPORT extern int DS_RunOptimizerWithin(const char* library, const char* device_type,
                                                const TF_GrapplerItem* item, int64_t most_ms,
                                                TF_Buffer* out, TF_Status* status);

/* Write an array to `json`, an empty buffer: for each optimizer, sorted by device type, "device",
 * "library" (its file), "entry" (the symbol), "version" (three integers), "sizes" ("params",
 * "configs", "optimizer", as the plugin stated them), "arguments" of its optimize_func (5, or 4 in
 * the form of TensorFlow 2.5), "configs": the wishes that are not Default, as "on" or "off",
 * "ordered" (whether it has DS_OrderOptimizer), "phase" and "priority". */
TF_CAPI_EXPORT extern void DS_ListOptimizers(TF_Buffer* json, TF_Status* status);

/* What the host asks its embedder. Set struct_size; a member beyond it, or NULL, is not offered. */
typedef struct DS_OptimizerServices {
  size_t struct_size;
  void* context; /* handed to every call */
  /* Infer properties of `graph`, which is the item's with its default device. `flags` are those of
   * TF_InferStatically, in order, as bits 0 to 3. Fill `out` with a serialised OpPerformanceList:
   * for each node its name in `node`, and in `op` the properties of `inputs` and `outputs`. May be
   * called from any thread, and must not call DS_SetOptimizerServices. */
  void (*infer)(void* context, const TF_Buffer* graph, const DS_Names* feeds, int flags,
                TF_Buffer* out, TF_Status* status);
} DS_OptimizerServices;
#define DS_OPTIMIZER_SERVICES_STRUCT_SIZE TF_OFFSET_OF_END(DS_OptimizerServices, infer)

#define DS_INFER_ASSUME_VALID_FEEDS 1
#define DS_INFER_AGGRESSIVE 2
#define DS_INFER_INPUT_VALUES 4
#define DS_INFER_OUTPUT_VALUES 8

/* Offer services from now on; NULL withdraws them. Returns when no call of the former ones is under
 * way any more, so whatever they use may be taken down afterwards. */
TF_CAPI_EXPORT extern void DS_SetOptimizerServices(const DS_OptimizerServices* services);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_HOST_OPTIMIZER_H_ */

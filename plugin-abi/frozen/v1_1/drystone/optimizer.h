/* Graph optimizer: a plugin's own transformation of whole graphs.
 *
 * Since ABI 1.0. A library offers one optimizer by exporting TF_InitGraph. The host calls it once,
 * right after the library was opened, with structs that the host allocated and preset; the plugin
 * fills them in and returns. From then on the host calls `optimize_func` for every graph that has a
 * node on the plugin's device type: with the whole graph as GraphDef bytes, once per signature of a
 * session (and once per body of a function that the graph calls), never on the way of a run.
 *
 * Protos cross as serialised bytes in TF_Buffers, so plugin and host need not share a protobuf
 * library. Their schema is the one of drystone-plugin-abi (`drystone_abi/protos`), wire-compatible
 * with TensorFlow's: a plugin may carry its own, older copy as long as it keeps unknown fields.
 *
 * Versions. GO_MAJOR.GO_MINOR.GO_PATCH is this interface's version. The host presets its own and
 * refuses a plugin that states another MAJOR. Members are only ever appended; what a side knows is
 * told by `struct_size`, which the host presets to its own size and the plugin may set to the size
 * that it was compiled with (0 is refused; a smaller or larger one is served as far as both know
 * the members). Look at DRYSTONE_HAS_MEMBER before touching a member newer than this file's first
 * release, and never write past the size that is stated: the host finds out and refuses.
 *
 * Threads. TF_InitGraph runs on one thread. optimize_func may be called from several threads at
 * once, each with an optimizer object and an item of its own. All functions here may be called from
 * any thread; one TF_GraphProperties must not be used by two at once.
 *
 * Statuses. Every `status` here is set to OK or to an error by the function that takes it. A NULL
 * status is tolerated and the error then lost. NULL for any other pointer is INVALID_ARGUMENT
 * unless said otherwise.
 *
 * Names of the proposal that this interface began as (RFC 318) are here as well wherever both can
 * exist side by side; see the section "The RFC's names" at the end.
 */
#ifndef DRYSTONE_OPTIMIZER_H_
#define DRYSTONE_OPTIMIZER_H_

#include "drystone/buffer.h"
#include "drystone/macros.h"
#include "drystone/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface. It was 0.0.1 in every TensorFlow release from 2.5 to 2.21, although
 * layouts changed: sizes, not this number, tell those apart. */
#define GO_MAJOR 0
#define GO_MINOR 0
#define GO_PATCH 1

/* ---- What a plugin fills in ------------------------------------------------------------------ */

/* A wish about one of the host's own passes. Default: leave it to the user's configuration. Off: do
 * not run it while this plugin's optimizer is active. On: it may run. A wish never overrides a user
 * who turned the pass off, and among several plugins one Off decides. */
typedef enum TF_TriState {
  TF_TriState_Default = 0,
  TF_TriState_Off,
  TF_TriState_On,
} TF_TriState;

/* Toggles that a plugin requests of the host's passes, one member each. All Default when the host presets it; a plugin
 * sets the few that it cares about. A value outside TF_TriState counts as Default.
 *
 * Layout: 92 bytes since TensorFlow 2.10. Releases before had no member
 * auto_mixed_precision_onednn_bfloat16 and so 88 bytes, with every later member 4 bytes earlier: a
 * host that is given struct_size 88 must read that layout. */
typedef struct TP_OptimizerConfigs {
  size_t struct_size; /* preset by the host to TP_OPTIMIZER_CONFIGS_STRUCT_SIZE */
  void* ext;          /* reserved: leave it NULL */
  TF_TriState disable_model_pruning; /* the reverse of all others: On turns pruning off */
  TF_TriState implementation_selector;
  TF_TriState function_optimization;
  TF_TriState common_subgraph_elimination;
  TF_TriState arithmetic_optimization;
  TF_TriState debug_stripper;
  TF_TriState constant_folding;
  TF_TriState shape_optimization;
  TF_TriState auto_mixed_precision;
  TF_TriState auto_mixed_precision_onednn_bfloat16; /* not in the 88-byte layout */
  TF_TriState auto_mixed_precision_mkl; /* the former's older name; still a switch of its own */
  TF_TriState pin_to_host_optimization;
  TF_TriState layout_optimizer;
  TF_TriState remapping;
  TF_TriState loop_optimization;
  TF_TriState dependency_optimization;
  TF_TriState auto_parallel;
  TF_TriState memory_optimization;
  TF_TriState scoped_allocator_optimization;
} TP_OptimizerConfigs;
#define TP_OPTIMIZER_CONFIGS_STRUCT_SIZE \
  TF_OFFSET_OF_END(TP_OptimizerConfigs, scoped_allocator_optimization)

/* What optimize_func may ask about the graph beside its bytes: which nodes are fetched, which must
 * stay. Made and deleted by the host, valid during one optimize_func only. Never changed, so the
 * functions that read one may be called from several threads. */
typedef struct TF_GrapplerItem TF_GrapplerItem;

/* The optimizer's functions. */
typedef struct TP_Optimizer {
  size_t struct_size; /* preset by the host to TP_OPTIMIZER_STRUCT_SIZE */
  void* ext;          /* reserved: leave it NULL */

  /* Optional. Makes the plugin's state for one run of the optimizer; called before each
   * optimize_func. The result is handed through untouched and may be NULL, also to mean nothing
   * (there is no status: report trouble from optimize_func). Not set: `optimizer` is NULL. */
  void* (*create_func)(void);

  /* Required. Reads a GraphDef from `graph`, writes the GraphDef to go on with into `optimized`.
   *
   * graph      The bytes belong to the host and end with the call. Every node states a device: one
   *            that had none was given the host's CPU, which the host takes off again afterwards.
   * item       Lives as long as the call. See TF_GetNodesToPreserveList and so on.
   * optimized  Arrives empty (data NULL). Set all three members; the host frees it with the
   *            deallocator that the plugin gave. A byte-equal copy of `graph` says "nothing to do"
   *            and costs the host no parsing.
   * status     Arrives OK. Any other code says that the plugin failed; `optimized` is then ignored
   *            (and freed), and the host goes on with the graph as it was.
   *
   * The result is checked: it must parse, keep every fetched and preserved node, and use only ops
   * that the host knows or that this plugin registered. Otherwise it is dropped with a warning that
   * names the plugin. Must not throw: a C++ exception that gets out is caught and is a failure.
   */
  void (*optimize_func)(void* optimizer, const TF_Buffer* graph, const TF_GrapplerItem* item,
                        TF_Buffer* optimized, TF_Status* status);

  /* Frees what create_func made; called exactly once for each, failed runs included. Required when
   * create_func is set, optional otherwise. */
  void (*destroy_func)(void* optimizer);
} TP_Optimizer;
#define TP_OPTIMIZER_STRUCT_SIZE TF_OFFSET_OF_END(TP_Optimizer, destroy_func)

/* What TF_InitGraph is given. The two pointers lead to the structs above, also allocated by the
 * host: fill in what they point to and leave the pointers alone (a changed one is refused). */
typedef struct TP_OptimizerRegistrationParams {
  size_t struct_size; /* preset by the host to TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE */
  void* ext;          /* reserved: leave it NULL */

  /* Preset to the host's GO_MAJOR, GO_MINOR and GO_PATCH. Set them to those that the plugin was
   * compiled with; a MAJOR other than the host's is refused. */
  int32_t major_version;
  int32_t minor_version;
  int32_t patch_version;

  /* Required. The device type whose graphs this optimizer is for, such as "CPU", "GPU" or a name of
   * the plugin's own: NUL-terminated, copied before TF_InitGraph's caller goes on. Letters, digits
   * and underscores, the first no digit. One optimizer per device type: the second is refused,
   * unless it has DS_OrderOptimizer. The device itself need not be a plugin's. */
  const char* device_type;

  /* Each pointer has two names: TensorFlow's and, for sources written to the RFC, `configs`. */
  union {
    TP_OptimizerConfigs* optimizer_configs;
    TP_OptimizerConfigs* configs;
  };
  TP_Optimizer* optimizer;
} TP_OptimizerRegistrationParams;
#define TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE \
  TF_OFFSET_OF_END(TP_OptimizerRegistrationParams, optimizer)

/* The entry symbol: defined and exported by the plugin, called once by the host. Set `status` to an
 * error to refuse registration (a missing licence, an unfit machine); its message is shown. */
TF_CAPI_EXPORT extern void TF_InitGraph(TP_OptimizerRegistrationParams* params, TF_Status* status);

/* ---- Order: what TensorFlow does not have --------------------------------------------------- */

/* Where an optimizer runs among the host's passes, and among other optimizers. */
typedef struct DS_OptimizerOrder {
  size_t struct_size; /* preset by the host to DS_OPTIMIZER_ORDER_STRUCT_SIZE */
  void* ext;          /* reserved: leave it NULL */

  /* "start": before the host's passes. "end", the preset: after them. "before NAME" or "after
   * NAME": at a pass of the host, such as "before remapping", which need not be on. NUL-terminated,
   * copied before DS_OrderOptimizer's caller goes on. Anything else is refused. */
  const char* phase;

  /* Among the optimizers of one phase higher ones run first, equal ones by the path of their file.
   * Preset to 0. */
  int32_t priority;
} DS_OptimizerOrder;
#define DS_OPTIMIZER_ORDER_STRUCT_SIZE TF_OFFSET_OF_END(DS_OptimizerOrder, priority)

/* An optional second entry symbol of a library that exports TF_InitGraph: called once, before it.
 * A library that exports it shares its device type with others: the rule of one optimizer per
 * device type holds among those that declare nothing. A status other than OK refuses the
 * registration. TensorFlow does not look for it, so a plugin that has it loads there as well. */
TF_CAPI_EXPORT extern void DS_OrderOptimizer(DS_OptimizerOrder* order, TF_Status* status);

/* ---- The item: what must not be touched ------------------------------------------------------ */

/* Lists of names come in two steps: ask for the number of names and the bytes that they take
 * together, allocate, and ask for the list.
 *
 *   int count;  size_t bytes;
 *   TF_GetNodesToPreserveListSize(item, &count, &bytes, status);
 *   char** values = malloc(count * sizeof *values);  size_t* lengths = ...;  void* storage = ...;
 *   TF_GetNodesToPreserveList(item, values, lengths, count, storage, bytes, status);
 *
 * values[k] then points into `storage`, at lengths[k] bytes that are NOT NUL-terminated. At most
 * `num_values` names are written; a negative number is INVALID_ARGUMENT. A storage too small for
 * the names asked for is INVALID_ARGUMENT, and nothing is written past it. */

/* Nodes that must be there, under their name, after the optimizer ran: fetches, feeds, nodes that
 * the user asked to keep, initialisers, and nodes whose state outlives a run. Node names, without
 * output index; each once, sorted. */
TF_CAPI_EXPORT extern void TF_GetNodesToPreserveListSize(const TF_GrapplerItem* item,
                                                         int* num_values, size_t* storage_size,
                                                         TF_Status* status);
TF_CAPI_EXPORT extern void TF_GetNodesToPreserveList(const TF_GrapplerItem* item, char** values,
                                                     size_t* lengths, int num_values,
                                                     void* storage, size_t storage_size,
                                                     TF_Status* status);

/* Names that the run will fetch, in the order and spelling of the request: "node" or "node:1". */
TF_CAPI_EXPORT extern void TF_GetFetchNodesListSize(const TF_GrapplerItem* item, int* num_values,
                                                    size_t* storage_size, TF_Status* status);
TF_CAPI_EXPORT extern void TF_GetFetchNodesList(const TF_GrapplerItem* item, char** values,
                                                size_t* lengths, int num_values, void* storage,
                                                size_t storage_size, TF_Status* status);

/* ---- Properties: dtypes, shapes and constants of the item's graph ---------------------------- */

/* What is known of the inputs and outputs of each node of the item's graph, as it was when
 * optimize_func was called: nodes that the plugin changed meanwhile must not be looked up. */
typedef struct TF_GraphProperties TF_GraphProperties;

/* Make and delete; NULL for a NULL item or without memory. The item must outlive it. Deleting NULL
 * does nothing. */
TF_CAPI_EXPORT extern TF_GraphProperties* TF_NewGraphProperties(const TF_GrapplerItem* item);
TF_CAPI_EXPORT extern void TF_DeleteGraphProperties(TF_GraphProperties* properties);

/* Infer shapes; must come before the lists below, which know nothing until then. May be called
 * again, with other flags.
 *
 * assume_valid_feeds            trust the shapes that fed nodes state; otherwise everything about a
 *                               fed tensor but its dtype is unknown
 * aggressive_shape_inference    trust annotations in the graph where inference finds nothing
 * include_input_tensor_values   known constants come with the properties of inputs
 * include_output_tensor_values  and with those of outputs
 *
 * UNAVAILABLE when the host was embedded without inference, FAILED_PRECONDITION when the item is
 * gone. */
TF_CAPI_EXPORT extern void TF_InferStatically(TF_GraphProperties* properties,
                                              TF_Bool assume_valid_feeds,
                                              TF_Bool aggressive_shape_inference,
                                              TF_Bool include_input_tensor_values,
                                              TF_Bool include_output_tensor_values,
                                              TF_Status* status);

/* Number of inputs and outputs of the node of that name. 0, with OK, for a node that is not in the
 * item's graph. */
TF_CAPI_EXPORT extern void TF_GetInputPropertiesListSize(TF_GraphProperties* properties,
                                                         const char* name, int* num_values,
                                                         TF_Status* status);
TF_CAPI_EXPORT extern void TF_GetOutputPropertiesListSize(TF_GraphProperties* properties,
                                                          const char* name, int* num_values,
                                                          TF_Status* status);

/* The properties of the node's first `num_values` inputs or outputs: list[k] is a buffer that the
 * caller made with TF_NewBuffer, and is filled with a serialised OpInfo.TensorProperties {dtype,
 * shape, value}. In the shape a dimension of -1 is unknown; equal numbers of -2 and below are
 * dimensions that are unknown but provably equal. More values than the node has is
 * INVALID_ARGUMENT. */
TF_CAPI_EXPORT extern void TF_GetInputPropertiesList(TF_GraphProperties* properties,
                                                     const char* name, TF_Buffer** list,
                                                     int num_values, TF_Status* status);
TF_CAPI_EXPORT extern void TF_GetOutputPropertiesList(TF_GraphProperties* properties,
                                                      const char* name, TF_Buffer** list,
                                                      int num_values, TF_Status* status);

/* ---- Op definitions -------------------------------------------------------------------------- */

/* Op definitions by name: those of the functions in one graph, over all ops that the host knows. */
typedef struct TF_FunctionLibraryDefinition TF_FunctionLibraryDefinition;

/* Read the function library of a GraphDef. Keeps no reference to the buffer. NULL when it fails;
 * INVALID_ARGUMENT for bytes that are no GraphDef. Deleting NULL does nothing. */
TF_CAPI_EXPORT extern TF_FunctionLibraryDefinition* TF_NewFunctionLibraryDefinition(
    const TF_Buffer* graph, TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteFunctionLibraryDefinition(
    TF_FunctionLibraryDefinition* library);

/* Write the serialised OpDef of `name` into the empty buffer `out`: complete, with the defaults of
 * its attributes. NOT_FOUND for an unknown name. */
TF_CAPI_EXPORT extern void TF_LookUpOpDef(TF_FunctionLibraryDefinition* library, const char* name,
                                          TF_Buffer* out, TF_Status* status);

/* ---- TensorFlow 2.5 -------------------------------------------------------------------------- */

/* In TensorFlow 2.5 the item was no argument of optimize_func, which had four: (optimizer, graph,
 * optimized, status), and was asked for with this function instead. Functions of either form are
 * served: every argument that the host gives is what each form takes it for.
 *
 * The item of the optimize_func that was given this very graph buffer and has not returned;
 * INVALID_ARGUMENT for any other buffer. The item stays the host's. */
TF_CAPI_EXPORT extern TF_GrapplerItem* TF_GetGrapplerItem(TF_Buffer* graph, TF_Status* status);

/* ---- The RFC's names -------------------------------------------------------------------------
 *
 * Here: the entry symbol, the size macro in its spelling, `configs` above, and the size queries
 * under their first names. Not declared here, because one name cannot have two meanings, but served
 * where a library was built with them: its optimize_func of three or four arguments, its lists of
 * void*, its functions without a status. */

/* The RFC's name of TF_InitGraph, with the same contract, except that configs whose size it leaves
 * as it finds it have the RFC's 88 bytes: a library that uses the struct above states its size. Of a
 * library that exports both, only TF_InitGraph is called. */
TF_CAPI_EXPORT extern void TF_InitGraphPlugin(TP_OptimizerRegistrationParams* params,
                                              TF_Status* status);
#define TP_OPTIMIZER_REGISTRARION_PARAMS_STRUCT_SIZE TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE

/* As the ...ListSize functions, with int sizes and no status: both results are 0 on failure, and
 * where the bytes do not fit an int. */
TF_CAPI_EXPORT extern void TF_GetNodesToPreserveSize(const TF_GrapplerItem* item, int* num_values,
                                                     int* storage_size);
TF_CAPI_EXPORT extern void TF_GetFetchNodesSize(const TF_GrapplerItem* item, int* num_values,
                                                int* storage_size);
TF_CAPI_EXPORT extern void TF_GetInputPropertiesSize(TF_GraphProperties* properties,
                                                     const char* name, int* num_values);
TF_CAPI_EXPORT extern void TF_GetOutputPropertiesSize(TF_GraphProperties* properties,
                                                      const char* name, int* num_values);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_OPTIMIZER_H_ */

/* drystone/subgraph.h: a backend that takes regions of graphs, from a plugin.
 *
 * Entry symbol: DS_InitSubgraph, called once. A drystone interface, as the prefix DS_ says:
 * TensorFlow has none; the terms are those of MXNet's subgraph API. Since 1.0.
 *
 * A backend says node by node what it wants (select, select_input, select_output, filter). Regions
 * grow by that, and the host sees to it that they are connected, apart from one another, and leave
 * no cycle. A region becomes one operator. The host runs it, or what `compile` makes of it.
 *
 * Sizes: each struct begins with struct_size. Structs of the plugin are preset by the host and
 * overwritten by the plugin with the size that it was compiled with; members beyond it count as
 * null; zero is an error. Structs that the host hands over state the host's size: look at
 * DRYSTONE_HAS_MEMBER before reading a member newer than this file's first release.
 * Memory: what the host hands over lives until the function returns, unless said otherwise.
 * Statuses: the last argument is fresh and OK; set it on failure. A backend that fails while a graph
 * is partitioned is left out, with a warning; where it fails to compile or to execute, the host runs
 * the region. No failure here fails a run.
 * Threads: functions of one selector, and of one executable, never overlap; all others may.
 */
#ifndef DRYSTONE_SUBGRAPH_H_
#define DRYSTONE_SUBGRAPH_H_

#include <stddef.h>
#include <stdint.h>

#include "drystone/buffer.h"
#include "drystone/datatype.h"
#include "drystone/macros.h"
#include "drystone/status.h"
#include "drystone/tensor.h"

/* Version of this interface. A host refuses another major version; minor and patch are recorded. */
#define DS_SUBGRAPH_MAJOR 0
#define DS_SUBGRAPH_MINOR 2
#define DS_SUBGRAPH_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What the host hands over ---------------------------------------------------------------- */

/* A node. */
typedef struct DS_SubgraphNode {
  size_t struct_size;
  void* ext; /* reserved */
  const char* name;
  const char* op;
  const char* device;     /* the one asked for, "" for none */
  const void* node_def;   /* a serialised NodeDef: attributes, and names of inputs */
  size_t node_def_size;
  int32_t num_inputs;     /* data inputs */
  const int32_t* inputs;  /* in a region, two numbers for each: which node of the region, and which
                           * of its outputs; or -1, and which input of the region. Else NULL */
  int32_t num_outputs;
  const TF_DataType* output_types;
} DS_SubgraphNode;
#define DS_SUBGRAPH_NODE_STRUCT_SIZE TF_OFFSET_OF_END(DS_SubgraphNode, output_types)

/* What goes into a region, or comes out of it; every value once. */
typedef struct DS_SubgraphValue {
  size_t struct_size;
  void* ext;            /* reserved */
  const char* source;   /* the tensor's name in the graph; "" in compile */
  TF_DataType dtype;
  int32_t rank;         /* -1: unknown; in compile, inputs have known shapes */
  const int64_t* dims;  /* below 0: unknown */
  TF_Tensor* value;     /* of an input that is a constant or a weight, in compile; else NULL. To be
                         * read only; a plugin that keeps it keeps a tensor that shares its memory */
  unsigned char is_weight; /* the value is a variable's: it may change between calls */
  int32_t node;         /* of what comes out: the node of the region that computes it, */
  int32_t output;       /* and which of its outputs it is; node -1: input `output` as it is */
  const char* device;   /* the one that the node asked for which computes it, "" for none, and in
                         * compile. Since 0.2 */
} DS_SubgraphValue;
#define DS_SUBGRAPH_VALUE_STRUCT_SIZE TF_OFFSET_OF_END(DS_SubgraphValue, device)

/* A region: its nodes in an order in which each comes after those that it reads. */
typedef struct DS_SubgraphRegion {
  size_t struct_size;
  void* ext; /* reserved */
  const char* name; /* of the operator that stands for it */
  int32_t num_nodes;
  const DS_SubgraphNode* const* nodes;
  int32_t num_inputs;
  const DS_SubgraphValue* const* inputs;
  int32_t num_outputs;
  const DS_SubgraphValue* const* outputs;
  int32_t threads; /* how many an executable may use; 0: one a core */
  const void* functions; /* a serialised FunctionDefLibrary: the functions that its nodes call, those
                          * that these call, and so on; NULL for none. Since 0.2 */
  size_t functions_size;
  const void* attrs; /* in compile and deserialize: a serialised NodeDef with the attributes that
                      * review put on the operator; NULL for none. Since 0.2 */
  size_t attrs_size;
} DS_SubgraphRegion;
#define DS_SUBGRAPH_REGION_STRUCT_SIZE TF_OFFSET_OF_END(DS_SubgraphRegion, attrs_size)

/* ---- What a plugin fills in ------------------------------------------------------------------ */

/* The backend itself. */
typedef struct DS_SubgraphBackend {
  size_t struct_size;
  void* ext;            /* the plugin's */
  const char* name;     /* required: what users ask for, lives as long as the library */
  int32_t minimum_size; /* regions of fewer nodes stay as they are; 0 counts as 1 */
  const char* version;  /* of what compiles: an executable that another version wrote is
                         * not loaded. NULL: "". Lives as long as the library */
} DS_SubgraphBackend;
#define DS_SUBGRAPH_BACKEND_STRUCT_SIZE TF_OFFSET_OF_END(DS_SubgraphBackend, version)

/* What it wants. Only select is required. A region begins with a node for which select is not 0.
 * From each of its nodes on, what the node reads is offered to select_input, then what reads it to
 * select_output (NULL: select of the new node decides). A node is offered only where it can come in,
 * so what was said yes to is in the region. */
typedef struct DS_SubgraphSelectorFns {
  size_t struct_size;
  void* ext; /* reserved */
  /* A selector for one graph; it serves one region after another. NULL: `selector` is NULL, and no
   * answer depends on an earlier one. */
  void* (*create_selector)(const DS_SubgraphBackend* backend, TF_Status* status);
  void (*destroy_selector)(const DS_SubgraphBackend* backend, void* selector);
  unsigned char (*select)(const DS_SubgraphBackend* backend, void* selector,
                          const DS_SubgraphNode* node);
  unsigned char (*select_input)(const DS_SubgraphBackend* backend, void* selector,
                                const DS_SubgraphNode* node, const DS_SubgraphNode* new_node);
  unsigned char (*select_output)(const DS_SubgraphBackend* backend, void* selector,
                                 const DS_SubgraphNode* node, const DS_SubgraphNode* new_node);
  /* Set keep[k] to 0 for candidates to be dropped; all are preset to 1. */
  void (*filter)(const DS_SubgraphBackend* backend, void* selector,
                 const DS_SubgraphNode* const* candidates, int32_t count, unsigned char* keep);
  /* Another region begins: forget what was seen. */
  void (*reset)(const DS_SubgraphBackend* backend, void* selector);
} DS_SubgraphSelectorFns;
#define DS_SUBGRAPH_SELECTOR_FNS_STRUCT_SIZE TF_OFFSET_OF_END(DS_SubgraphSelectorFns, reset)

/* What it does with regions. All are optional, but compile needs execute and destroy_executable. */
typedef struct DS_SubgraphFns {
  size_t struct_size;
  void* ext; /* reserved */
  /* 0 refuses a region: its nodes stay, for other backends. A status that is not OK says why. */
  unsigned char (*accept)(const DS_SubgraphBackend* backend, const DS_SubgraphRegion* region,
                          TF_Status* status);
  /* An executable of the region for inputs of the given shapes, called once for each set of them,
   * on a thread of its own. NULL, with a status that is not OK: the host runs the region. */
  void* (*compile)(const DS_SubgraphBackend* backend, const DS_SubgraphRegion* region,
                   TF_Status* status);
  /* Compute. `inputs` are all of the region's, to be read only. `outputs` are NULL: set each to a
   * new tensor, which is the host's from then on, of the dtype that the region states. */
  void (*execute)(const DS_SubgraphBackend* backend, void* executable, TF_Tensor* const* inputs,
                  int32_t num_inputs, TF_Tensor** outputs, int32_t num_outputs, TF_Status* status);
  void (*destroy_executable)(const DS_SubgraphBackend* backend, void* executable);
  /* Pack weights again: changed[k] is not 0, and inputs[k] not NULL, for inputs whose value is
   * another since compile, or since the last update. NULL: the region is compiled again. */
  void (*update)(const DS_SubgraphBackend* backend, void* executable, TF_Tensor* const* inputs,
                 int32_t num_inputs, const unsigned char* changed, TF_Status* status);
  /* Both or neither: executables are kept on disk, and compiled ahead of time.
   * Write an executable, which has not run yet, into `bytes`, which is empty: set data, length and
   * data_deallocator (drystone/buffer.h). */
  void (*serialize)(const DS_SubgraphBackend* backend, void* executable, TF_Buffer* bytes,
                    TF_Status* status);
  /* The executable that was written for an equal region (nodes, shapes, values, threads) by a backend of
   * the same version on such a machine, perhaps by another process. `bytes` are as they were written;
   * NULL, with a status that is not OK: the region is compiled. Called as compile is. */
  void* (*deserialize)(const DS_SubgraphBackend* backend, const DS_SubgraphRegion* region,
                       const TF_Buffer* bytes, TF_Status* status);
  /* Called after accept; NULL: the region becomes an operator as it is. Since 0.2.
   * Set keep[k] to 0 for nodes to be left out; all are preset to 1. These stay, for other backends, and
   * the region of those that are kept is offered in its turn, to accept first: they are connected, and
   * no path leaves them and comes back. One that shrinks again and again is refused in the end.
   * With all of them kept, `attrs`, which is empty, may be filled as `bytes` in serialize is, with a
   * serialised NodeDef: its attributes are put on the operator. Names begin with one underscore, like
   * those of TensorFlow's internal attributes; values are strings, numbers, types, shapes, or lists.
   * A status that is not OK refuses the region and says why, and so does an answer of no use. */
  void (*review)(const DS_SubgraphBackend* backend, const DS_SubgraphRegion* region,
                 unsigned char* keep, TF_Buffer* attrs, TF_Status* status);
} DS_SubgraphFns;
#define DS_SUBGRAPH_FNS_STRUCT_SIZE TF_OFFSET_OF_END(DS_SubgraphFns, review)

/* Argument of DS_InitSubgraph. All pointers to structs are the host's and live as long as the
 * library; the plugin fills the structs in and does not replace the pointers. */
typedef struct DS_SubgraphRegistrationParams {
  size_t struct_size;
  void* ext;             /* reserved */
  int32_t major_version; /* preset to the host's DS_SUBGRAPH_MAJOR ...; the plugin writes its own */
  int32_t minor_version;
  int32_t patch_version;
  DS_SubgraphBackend* backend;
  DS_SubgraphSelectorFns* selector_fns;
  DS_SubgraphFns* fns;
} DS_SubgraphRegistrationParams;
#define DS_SUBGRAPH_REGISTRATION_PARAMS_STRUCT_SIZE \
  TF_OFFSET_OF_END(DS_SubgraphRegistrationParams, fns)

/* Entry symbol, exported by the plugin. A status other than OK refuses the backend. A name that is
 * taken is an error. */
TF_CAPI_EXPORT void DS_InitSubgraph(DS_SubgraphRegistrationParams* params, TF_Status* status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_SUBGRAPH_H_ */

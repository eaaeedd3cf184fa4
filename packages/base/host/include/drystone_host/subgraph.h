/* The host library's own interface, for programs that embed it: operators of compiled regions.
 *
 * An operator stands for a region of a graph that a backend (drystone/subgraph.h) compiled. It holds
 * executables, one for each set of input shapes, and the executor calls them without the embedder
 * (InstructionDef.own in plan.proto). What no executable computes, the embedder's kernel does. Since 1.0.
 *
 * Threads: any. Calls of one executable take turns. Numbers are never reused.
 */
#ifndef DRYSTONE_HOST_SUBGRAPH_H_
#define DRYSTONE_HOST_SUBGRAPH_H_

#include <stddef.h>
#include <stdint.h>

#include "drystone/buffer.h"
#include "drystone/datatype.h"
#include "drystone/macros.h"
#include "drystone/status.h"
#include "drystone/subgraph.h"
#include "drystone/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Functions of a backend's, called for embedders that no C++ exception must reach: one that is thrown
 * becomes the status, INTERNAL, or is logged. `fns` has what is called. Since 1.0. */
TF_CAPI_EXPORT extern void DS_CallInitSubgraph(void (*init)(DS_SubgraphRegistrationParams*, TF_Status*),
                                               DS_SubgraphRegistrationParams* params, TF_Status* status);
TF_CAPI_EXPORT extern void* DS_NewSelector(const DS_SubgraphBackend* backend,
                                           const DS_SubgraphSelectorFns* fns, TF_Status* status);
TF_CAPI_EXPORT extern void DS_DestroySelector(const DS_SubgraphBackend* backend,
                                              const DS_SubgraphSelectorFns* fns, void* selector);
/* Of a selector; members that are NULL are as subgraph.h says. */
TF_CAPI_EXPORT extern TF_Bool DS_SelectNode(const DS_SubgraphBackend* backend,
                                            const DS_SubgraphSelectorFns* fns, void* selector,
                                            const DS_SubgraphNode* node, TF_Status* status);
TF_CAPI_EXPORT extern TF_Bool DS_SelectNeighbour(const DS_SubgraphBackend* backend,
                                                 const DS_SubgraphSelectorFns* fns, void* selector,
                                                 const DS_SubgraphNode* node,
                                                 const DS_SubgraphNode* neighbour, TF_Bool is_input,
                                                 TF_Status* status);
TF_CAPI_EXPORT extern void DS_FilterNodes(const DS_SubgraphBackend* backend,
                                          const DS_SubgraphSelectorFns* fns, void* selector,
                                          const DS_SubgraphNode* const* nodes, int32_t count,
                                          unsigned char* keep, TF_Status* status);
TF_CAPI_EXPORT extern void DS_ResetSelector(const DS_SubgraphBackend* backend,
                                            const DS_SubgraphSelectorFns* fns, void* selector,
                                            TF_Status* status);
TF_CAPI_EXPORT extern TF_Bool DS_AcceptRegion(const DS_SubgraphBackend* backend,
                                              const DS_SubgraphFns* fns,
                                              const DS_SubgraphRegion* region, TF_Status* status);
/* `keep` and `attrs` are as in drystone/subgraph.h; `attrs` is the caller's to delete, filled or not. Does
 * nothing where `review` is NULL. */
TF_CAPI_EXPORT extern void DS_ReviewRegion(const DS_SubgraphBackend* backend,
                                           const DS_SubgraphFns* fns,
                                           const DS_SubgraphRegion* region, unsigned char* keep,
                                           TF_Buffer* attrs, TF_Status* status);
/* `bytes`: NULL for `compile`, else what `deserialize` is given. */
TF_CAPI_EXPORT extern void* DS_CompileRegion(const DS_SubgraphBackend* backend,
                                             const DS_SubgraphFns* fns,
                                             const DS_SubgraphRegion* region,
                                             const TF_Buffer* bytes, TF_Status* status);
TF_CAPI_EXPORT extern void DS_SerializeExecutable(const DS_SubgraphBackend* backend,
                                                  const DS_SubgraphFns* fns, void* executable,
                                                  TF_Buffer* bytes, TF_Status* status);
TF_CAPI_EXPORT extern void DS_DestroyExecutable(const DS_SubgraphBackend* backend,
                                                const DS_SubgraphFns* fns, void* executable);

/* A new operator, by number; -1 on failure. `backend` and `fns` live as long as the backend's library.
 * The region has `num_inputs` inputs, of which `weights` are values of variables that may change, and
 * outputs of `output_types`. */
TF_CAPI_EXPORT extern int64_t DS_NewOperator(const DS_SubgraphBackend* backend,
                                             const DS_SubgraphFns* fns, int32_t num_inputs,
                                             const int32_t* weights, int32_t num_weights,
                                             const TF_DataType* output_types, int32_t num_outputs,
                                             TF_Status* status);

/* Forget an operator. Its executables are destroyed, each after the call that is under way. */
TF_CAPI_EXPORT extern void DS_DeleteOperator(int64_t number);

/* Give it an executable, which is the operator's from then on, but for NOT_FOUND; its number, or -1.
 * `shapes`: of each input its rank, then its dimensions. `versions`: of the weights that are packed. */
TF_CAPI_EXPORT extern int64_t DS_AddExecutable(int64_t number, void* executable,
                                               const int64_t* shapes, size_t num_shapes,
                                               const int64_t* versions, TF_Status* status);

/* State what shapes its outputs have: of each its rank, then its dimensions; below 0 for what is unknown.
 * An executable that gives others has failed. */
TF_CAPI_EXPORT extern void DS_ExpectShapes(int64_t number, int64_t executable, const int64_t* shapes,
                                           size_t num_shapes, TF_Status* status);

/* Destroy an executable, after the call that is under way. */
TF_CAPI_EXPORT extern void DS_RemoveExecutable(int64_t number, int64_t executable);

/* Compute, as the executor does: `inputs` are the region's, then for each weight a scalar of int64, its
 * version. 1: the outputs are new tensors. 0: there is no executable for these shapes, or it has failed,
 * or weights have changed that it cannot pack by itself; outputs are NULL. */
TF_CAPI_EXPORT extern TF_Bool DS_RunOperator(int64_t number, TF_Tensor* const* inputs,
                                             int32_t num_inputs, TF_Tensor** outputs,
                                             int32_t num_outputs);

typedef struct DS_ExecutableState {
  size_t struct_size;
  int64_t runs;
  int64_t packs;    /* how often weights were packed */
  uint64_t used;    /* larger for what was used later; 0: never */
  TF_Bool is_alive; /* 0: it has failed, or was removed */
  int64_t arena;    /* of a plan: bytes that its runs share, laid out once; 0: none */
} DS_ExecutableState;
#define DS_EXECUTABLE_STATE_STRUCT_SIZE TF_OFFSET_OF_END(DS_ExecutableState, arena)

/* The host's own backend: its executables are plans (drystone/session.h), so it compiles nothing. A plan
 * runs as part of the run that calls it: under its deadline, and stopped with it. Calls of such an
 * executable may overlap. What its runs take and give back lies in one arena, laid out from the third
 * run, as the shapes stay the same. */
TF_CAPI_EXPORT extern const DS_SubgraphBackend* DS_PlanBackend(void);
TF_CAPI_EXPORT extern const DS_SubgraphFns* DS_PlanFns(void);

/* Zero the struct, set struct_size. */
typedef struct DS_PlanExecutableDef {
  size_t struct_size;
  const TF_Buffer* plan;        /* a serialised PlanDef, copied */
  TF_Tensor* const* constants;  /* that its constants refer to; their memory is shared */
  int32_t num_constants;
  const int32_t* feeds;         /* for each feed of the plan the number of the region's input */
  int32_t num_feeds;
  const int32_t* weights;       /* feeds that are weights: kernels keep what they make of them */
  int32_t num_weights;
  int32_t threads;              /* as in DS_SessionOptions */
  int32_t inter_op_threads;
} DS_PlanExecutableDef;
#define DS_PLAN_EXECUTABLE_DEF_STRUCT_SIZE TF_OFFSET_OF_END(DS_PlanExecutableDef, inter_op_threads)

/* A plan as an executable of that backend, for DS_AddExecutable; NULL on failure, as DS_NewPlan's. */
TF_CAPI_EXPORT extern void* DS_NewPlanExecutable(const DS_PlanExecutableDef* def, TF_Status* status);
/* Delete one that no operator was given. NULL is ignored. */
TF_CAPI_EXPORT extern void DS_DeletePlanExecutable(void* executable);

/* Facts about an executable; `status` is why it failed, OK if it did not, or NOT_FOUND. */
TF_CAPI_EXPORT extern void DS_DescribeExecutable(int64_t number, int64_t executable,
                                                 DS_ExecutableState* state, TF_Status* status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif  /* DRYSTONE_HOST_SUBGRAPH_H_ */

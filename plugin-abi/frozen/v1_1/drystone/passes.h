/* drystone/passes.h: passes over graphs, run at fixed places while a session prepares a graph.
 *
 * Entry symbol: DS_InitPasses, called once. A drystone interface, as the prefix DS_ says:
 * TensorFlow has the registry that these passes are for (OptimizationPassRegistry: groupings,
 * phases), but no C interface to it. Since 1.0.
 *
 * A library registers any number of passes from its entry function. The host runs those of one
 * grouping in ascending order of their phases, within a phase in the order of registration; the
 * first failure ends the preparation and names the pass. Users switch passes on and off, and give
 * them settings, by name. An optimizer (drystone/optimizer.h) is asked about whole graphs of its
 * device type and may fail without harm; a pass has a place in the order of all others, and its
 * failure is one.
 *
 * Graphs cross as serialised GraphDef, as in optimizer.h.
 * Sizes: as in device.h. Statuses: the last argument is fresh and OK; set it on failure.
 * Threads: a pass may be called from several threads at once, with calls of their own.
 */
#ifndef DRYSTONE_PASSES_H_
#define DRYSTONE_PASSES_H_

#include <stddef.h>
#include <stdint.h>

#include "drystone/buffer.h"
#include "drystone/macros.h"
#include "drystone/status.h"

/* Version of this interface. A host refuses another major version; minor and patch are recorded. */
#define DS_PASSES_MAJOR 0
#define DS_PASSES_MINOR 0
#define DS_PASSES_PATCH 1

#ifdef __cplusplus
extern "C" {
#endif

/* Where a session runs passes, in this order. */
typedef enum DS_PassGrouping {
  DS_PassGrouping_PrePlacement = 0,       /* before nodes get their devices */
  DS_PassGrouping_PostPlacement = 1,      /* after they got them */
  DS_PassGrouping_PostRewriteForExec = 2, /* what the fetches do not reach counts no more */
  DS_PassGrouping_PostPartitioning = 3,   /* one graph per device */
} DS_PassGrouping;

/* One call of a pass. All is the host's and ends with the call. */
typedef struct DS_PassCall {
  size_t struct_size;
  void* ext; /* reserved */
  /* The graphs: one, or after partitioning one per device. */
  int32_t num_graphs;
  int32_t is_function_graph; /* 1: the graph is the body of a function */
  const char* const* partitions;  /* the device of each graph; NULL before partitioning */
  const TF_Buffer* const* graphs; /* serialised GraphDef each, functions included */
  /* Where changed graphs go, each with its own deallocator. A buffer that stays empty says that its
   * graph did not change. */
  TF_Buffer* const* results;
  /* Lists that end with NULL: names of tensors, "node:0", which must go on naming the same values;
   * and of devices, NULL after partitioning. */
  const char* const* fetches;
  const char* const* feeds;
  const char* const* devices;
  const char* settings; /* what the user set for this pass: a JSON object, "{}" for nothing */
} DS_PassCall;
#define DS_PASS_CALL_STRUCT_SIZE TF_OFFSET_OF_END(DS_PassCall, settings)

/* A pass. */
typedef struct DS_Pass {
  size_t struct_size;       /* set it to DS_PASS_STRUCT_SIZE */
  void* ext;                /* reserved: NULL */
  const char* name;         /* required and new: letters, digits, "_", "-" and "." */
  DS_PassGrouping grouping;
  int32_t phase;            /* lower ones run first */
  /* A list that ends with NULL, or NULL: a graph with none of these ops is not handed to the pass,
   * nor even serialised for it. */
  const char* const* ops;
  int32_t is_default; /* 0: runs only where the user says so */
  int32_t reserved;
  void* context; /* handed to run; the plugin's, which keeps it for ever */
  void (*run)(void* context, const DS_PassCall* call, TF_Status* status); /* required */
} DS_Pass;
#define DS_PASS_STRUCT_SIZE TF_OFFSET_OF_END(DS_Pass, run)

/* Register a pass: only from DS_InitPasses, while it runs. Everything but `context` is copied.
 *
 * ALREADY_EXISTS       another pass has the name; the message says whose
 * INVALID_ARGUMENT     a name, a grouping or a size that is none, or no run
 * FAILED_PRECONDITION  called from elsewhere */
TF_CAPI_EXPORT extern void DS_RegisterPass(const DS_Pass* pass, TF_Status* status);

/* Argument of DS_InitPasses. */
typedef struct DS_PassRegistrationParams {
  size_t struct_size;
  void* ext;             /* reserved */
  int32_t major_version; /* preset to the host's DS_PASSES_MAJOR ...; the plugin writes its own */
  int32_t minor_version;
  int32_t patch_version;
} DS_PassRegistrationParams;
#define DS_PASS_REGISTRATION_PARAMS_STRUCT_SIZE \
  TF_OFFSET_OF_END(DS_PassRegistrationParams, patch_version)

/* Entry symbol, exported by the plugin. A status other than OK refuses all passes of the library,
 * those registered before it included. */
TF_CAPI_EXPORT extern void DS_InitPasses(DS_PassRegistrationParams* params, TF_Status* status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_PASSES_H_ */

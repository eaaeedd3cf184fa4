/* The host library's own interface, for programs that embed it: ops.
 *
 * A program tells the host which ops (and kernels) it has itself, asks which ones plugins added,
 * and has their shape functions called. Rules for statuses, buffers and NULL: drystone/status.h and
 * drystone/buffer.h. Every function here may be called by any thread.
 */
#ifndef DRYSTONE_HOST_OPS_H_
#define DRYSTONE_HOST_OPS_H_

#include "drystone/buffer.h"
#include "drystone/macros.h"
#include "drystone/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a program tells the host about itself. Set struct_size to DS_OP_SERVICES_STRUCT_SIZE; a
 * member that is NULL, or lies beyond struct_size, stands for an empty answer. */
typedef struct DS_OpServices {
  size_t struct_size;
  void* ext;     /* reserved, NULL */
  void* context; /* handed through */

  /* Write a serialized OpList of the program's ops into `out`: complete definitions, without those
   * of plugins. Asked once, when an op is first looked up; call DS_SetOpServices again when it
   * changes. */
  void (*op_list)(void* context, TF_Buffer* out, TF_Status* status);

  /* Write a serialized KernelList of the program's own kernels into `out`, those of one op or, for
   * NULL, of all. Asked every time. */
  void (*kernel_list)(void* context, const char* op, TF_Buffer* out, TF_Status* status);
} DS_OpServices;
#define DS_OP_SERVICES_STRUCT_SIZE TF_OFFSET_OF_END(DS_OpServices, kernel_list)

/* Attach these services in place of earlier ones; the table is copied. NULL detaches. When it
 * returns no call of the earlier ones is running or will start. TF_FAILED_PRECONDITION for a
 * struct_size of 0, and from within a service. */
TF_CAPI_EXPORT extern void DS_SetOpServices(const DS_OpServices* services, TF_Status* status);

/* Attach a fixed op list: OpList bytes, copied. For programs without callbacks. NULL detaches. */
TF_CAPI_EXPORT extern void DS_SetOpList(const TF_Buffer* op_list, TF_Status* status);

/* Write the serialized OpDef of an op into `out`; TF_NOT_FOUND for an unknown one. */
TF_CAPI_EXPORT extern void DS_FindOp(const char* op, TF_Buffer* out, TF_Status* status);

/* A number that grows whenever a plugin registers an op. */
TF_CAPI_EXPORT extern int64_t DS_OpGeneration(void);

/* Write a serialized OpList of the ops that plugins registered into `out`, sorted by name. */
TF_CAPI_EXPORT extern void DS_PluginOps(TF_Buffer* out, TF_Status* status);

/* Write a JSON array about the same ops into `out`, sorted by name:
 * {"name", "library", "has_shape_function", "stateful", "leaked_handles"}. */
TF_CAPI_EXPORT extern void DS_ListOps(TF_Buffer* out, TF_Status* status);

/* Call the shape function of a plugin's op.
 *
 * `node_def` is a serialized NodeDef, of which op, name and attributes are read. `ranks` holds the
 * rank of each of `num_inputs` inputs, -1 for unknown; `dims` the dimensions of all inputs of known
 * rank, one after the other. A negative dimension is unknown; two with the same number below -1 are
 * known to be equal, and such numbers pass through to outputs.
 *
 * `out` becomes an array of int64_t: number of outputs, then for each its rank (-1 for unknown) and
 * its dimensions. Without a shape function all outputs are of unknown rank. TF_NOT_FOUND where no
 * plugin registered `op`; TF_INVALID_ARGUMENT where node or shapes do not fit the definition; what
 * a shape function sets (or throws) is answered with its code and a message that names op, node and
 * library. */
TF_CAPI_EXPORT extern void DS_InferShapes(const char* op, const TF_Buffer* node_def, int num_inputs,
                                          const int* ranks, const int64_t* dims, TF_Buffer* out,
                                          TF_Status* status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_HOST_OPS_H_ */

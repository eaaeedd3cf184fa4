/* The host library's own interface, for programs that embed it: running kernels over plain memory.
 *
 * Since ABI 1.0. One call does what DS_TensorFromMemory for each input, DS_RunKernel, the accessors of
 * each output and DS_TakeReleased would do one after the other. It is for embedders to whom every call
 * into C is dear, such as Python.
 */
#ifndef DRYSTONE_HOST_ARRAYS_H_
#define DRYSTONE_HOST_ARRAYS_H_

#include "drystone/macros.h"
#include "drystone/status.h"
#include "drystone_host/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Dimensions of an output that fit into an answer. */
#define DS_ARRAY_DIMS 16
/* Words that an answer needs for so many outputs, with room for 16 tokens. */
#define DS_ANSWER_WORDS(NUM_OUTPUTS) (1 + (NUM_OUTPUTS) * (5 + DS_ARRAY_DIMS) + 16)

/* Run `kernel` once. `call` is that of DS_RunKernel; references and resources are not for this function.
 *
 * `inputs` describes the inputs one after the other, each by
 *   dtype, rank, address of the memory, its bytes, a token (not 0), and its dimensions;
 * memory is lent as by DS_TensorFromMemory: until its token is given out.
 * An input that describes no tensor is not lent, nor are those after it.
 *
 * `answer` holds `capacity` words and receives
 *   how many tokens follow at the end;
 *   for each output: TF_Tensor* (the caller's to delete), dtype, rank, address, bytes, and room for
 *   DS_ARRAY_DIMS dimensions, which are not written for a tensor of more;
 *   tokens of memory that no tensor refers to any more, of this call or of earlier ones.
 * On failure there are no outputs, and the tokens follow the first word at once.
 *
 * Returns the status's code. INVALID_ARGUMENT for inputs that describe no tensors, and for an answer
 * of less than DS_ANSWER_WORDS; else what DS_RunKernel says. */
TF_CAPI_EXPORT extern int DS_RunKernelOnArrays(DS_Kernel* kernel, const DS_KernelCall* call,
                                               const int64_t* inputs, int num_inputs,
                                               int64_t* answer, int capacity, TF_Status* status);

/* Memory for arrays that are going to be lent: every block begins at TF_TensorDefaultAlignment(). The
 * result is a table in the layout of NumPy's PyDataMem_Handler, version 1: what PyDataMem_SetHandler
 * takes, in a capsule named "mem_handler". It lives for ever; its functions may be called on any
 * thread. */
TF_CAPI_EXPORT extern const void* DS_ArrayMemory(void);

/* Give back to the system the large blocks that the process keeps for tensors to come, at most 256 MiB.
 * How many bytes that were. Any thread. */
TF_CAPI_EXPORT extern int64_t DS_FreeKeptMemory(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_HOST_ARRAYS_H_ */

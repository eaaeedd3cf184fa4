/* The host library's own interface, for programs that embed it: passes of plugins over graphs.
 *
 * A plugin that exports DS_InitPasses registers passes when its library is initialised
 * (drystone_host/library.h). A program lists them, and runs them where their grouping belongs, in
 * the order of their phases: nothing here does. May be called from any thread. Since 1.0.
 */
#ifndef DRYSTONE_HOST_PASSES_H_
#define DRYSTONE_HOST_PASSES_H_

#include "drystone/buffer.h"
#include "drystone/macros.h"
#include "drystone/passes.h"
#include "drystone/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Write an array to `json`, an empty buffer: for each pass, in the order of registration, "name",
 * "library" (its file), "grouping" (its number), "phase", "ops" and "is_default". */
TF_CAPI_EXPORT extern void DS_ListPasses(TF_Buffer* json, TF_Status* status);

/* Run a pass. The results are the caller's to read and to free.
 *
 * NOT_FOUND  no pass has the name
 * INTERNAL   the plugin threw an exception
 * other      what the plugin answered
 * The message names the pass and the plugin's file. */
TF_CAPI_EXPORT extern void DS_RunPass(const char* name, const DS_PassCall* call,
                                      TF_Status* status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_HOST_PASSES_H_ */

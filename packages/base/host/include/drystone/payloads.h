/* Payloads of statuses: what an error is about, for programs.
 *
 * A status has a message, which is for people and may be worded otherwise in any release, and payloads
 * (TF_SetPayload, TF_ForEachPayload in drystone/status.h), which are for programs: the host attaches
 * those below to what fails, each where it is known. Keys that begin with DS_PAYLOAD_PREFIX are the
 * host's; a plugin attaches the three of drystone/status.h, and others by names of its own such as
 * "acme/row".
 *
 *   static void look(const char* key, const char* value, void* node) {
 *     if (strcmp(key, DS_PAYLOAD_NODE) == 0) *(std::string*)node = value;
 *   }
 *   TF_ForEachPayload(status, look, &node);
 *
 * In Python they are `error.details` (drystone_base/core/payloads.py has the same keys). Since 1.0.
 */
#ifndef DRYSTONE_PAYLOADS_H_
#define DRYSTONE_PAYLOADS_H_

#include "drystone/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the keys below begin with: TF_SetPayload ignores such a key, but for those of drystone/status.h. */
#define DS_PAYLOAD_PREFIX "drystone/"

/* ---- what failed ---- */

/* A stable code, where the host tells one failure of a TF_Code from others: the name of a page of
 * docs/reference/errors, such as "uninitialized-variable". */
#define DS_PAYLOAD_CODE "drystone/code"
/* The function of the C interface that failed, such as "DS_RunPlan". */
#define DS_PAYLOAD_FUNCTION "drystone/function"
/* The names of the node, its op, and the kernel that computes it. */
#define DS_PAYLOAD_NODE "drystone/node"
#define DS_PAYLOAD_OP "drystone/op"
#define DS_PAYLOAD_KERNEL "drystone/kernel"
/* The device of the kernel, or the one that was used. */
#define DS_PAYLOAD_DEVICE "drystone/device"
/* The subgraph backend whose operator was running. */
#define DS_PAYLOAD_BACKEND "drystone/backend"
/* The file of the plugin whose code failed. */
#define DS_PAYLOAD_LIBRARY "drystone/library"
/* The plugin whose optimizer made the node. */
#define DS_PAYLOAD_MADE_BY "drystone/made-by"
/* The functions of the graph that the node was reached through, the innermost first: a JSON array of
 * pairs [function, node that called it]. */
#define DS_PAYLOAD_CALLS "drystone/calls"
/* The tensor, or the variable, that has no value. */
#define DS_PAYLOAD_TENSOR "drystone/tensor"
#define DS_PAYLOAD_VARIABLE "drystone/variable"
/* Of a run that ended without its kernel: what the kernel still owes, "return" or "done" (the callback
 * of an asynchronous one). */
#define DS_PAYLOAD_AWAITED "drystone/awaited"

/* ---- the message, in parts ---- */

/* What failed, where that is more than the names above. Which check failed, what was found and what was
 * needed are DS_PAYLOAD_CHECK, _FOUND and _NEEDED of drystone/status.h, since plugins attach them, too.
 * Without a check, what was found is the message without the names above. */
#define DS_PAYLOAD_WHAT "drystone/what"

/* ---- payloads of plugins ---- */

/* How many payloads of a plugin an error keeps, and how long they may be, in bytes; others are left
 * out, and counted under DS_PAYLOAD_LEFT_OUT. */
#define DS_MOST_PAYLOADS 32
#define DS_MOST_PAYLOAD_KEY 128
#define DS_MOST_PAYLOAD_VALUE 4096
#define DS_PAYLOAD_LEFT_OUT "drystone/left-out"

/* TF_SetPayload for embedders: in their callbacks they may attach the host's keys, too. */
TF_CAPI_EXPORT extern void DS_SetPayload(TF_Status* status, const char* key, const char* value);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_PAYLOADS_H_ */

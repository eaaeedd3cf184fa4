/* Status: how a call across the boundary says whether it worked.
 *
 * Since ABI 1.0. Implemented by the host.
 *
 * Who owns it: the caller of TF_NewStatus must call TF_DeleteStatus. A function that takes a status
 * borrows it for the call and must not keep it.
 * Rules: a function sets the status it is given to OK or to an error before it returns, and leaves
 * its other out-parameters alone when it fails. The caller of a plugin hands over a fresh status for
 * every call, because plugins are known to leave it untouched when they succeed.
 * Threads: one status must not be used by two threads at once.
 * NULL: every function here accepts a NULL status and then does nothing.
 */
#ifndef DRYSTONE_STATUS_H_
#define DRYSTONE_STATUS_H_

#include "drystone/macros.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An opaque status. The two names are one type: TensorFlow renamed it, and kept the symbol names. */
typedef struct TF_Status TF_Status;
typedef struct TF_Status TSL_Status;

/* Canonical codes: those of gRPC and absl. Numbers never change. */
typedef enum TSL_Code {
  TSL_OK = 0,                  /* it worked; the message is empty */
  TSL_CANCELLED = 1,           /* the caller gave up */
  TSL_UNKNOWN = 2,             /* an error of an unknown space */
  TSL_INVALID_ARGUMENT = 3,    /* wrong whatever the state of the system */
  TSL_DEADLINE_EXCEEDED = 4,   /* it took too long */
  TSL_NOT_FOUND = 5,           /* a named thing is not there */
  TSL_ALREADY_EXISTS = 6,      /* a thing of that name is there already */
  TSL_PERMISSION_DENIED = 7,   /* the caller may not */
  TSL_RESOURCE_EXHAUSTED = 8,  /* memory, quota, or a disk is full */
  TSL_FAILED_PRECONDITION = 9, /* wrong in this state of the system */
  TSL_ABORTED = 10,            /* lost a race; may be tried again from further up */
  TSL_OUT_OF_RANGE = 11,       /* past the end, for instance of a file */
  TSL_UNIMPLEMENTED = 12,      /* not offered; the message names the function */
  TSL_INTERNAL = 13,           /* an invariant is broken */
  TSL_UNAVAILABLE = 14,        /* passing trouble: try again */
  TSL_DATA_LOSS = 15,          /* data is corrupt or gone */
  TSL_UNAUTHENTICATED = 16     /* no valid credentials */
} TSL_Code;

typedef TSL_Code TF_Code;
#define TF_OK TSL_OK
#define TF_CANCELLED TSL_CANCELLED
#define TF_UNKNOWN TSL_UNKNOWN
#define TF_INVALID_ARGUMENT TSL_INVALID_ARGUMENT
#define TF_DEADLINE_EXCEEDED TSL_DEADLINE_EXCEEDED
#define TF_NOT_FOUND TSL_NOT_FOUND
#define TF_ALREADY_EXISTS TSL_ALREADY_EXISTS
#define TF_PERMISSION_DENIED TSL_PERMISSION_DENIED
#define TF_RESOURCE_EXHAUSTED TSL_RESOURCE_EXHAUSTED
#define TF_FAILED_PRECONDITION TSL_FAILED_PRECONDITION
#define TF_ABORTED TSL_ABORTED
#define TF_OUT_OF_RANGE TSL_OUT_OF_RANGE
#define TF_UNIMPLEMENTED TSL_UNIMPLEMENTED
#define TF_INTERNAL TSL_INTERNAL
#define TF_UNAVAILABLE TSL_UNAVAILABLE
#define TF_DATA_LOSS TSL_DATA_LOSS
#define TF_UNAUTHENTICATED TSL_UNAUTHENTICATED

/* A new status that is OK; NULL only when memory is exhausted. Delete it with TF_DeleteStatus. */
TF_CAPI_EXPORT extern TF_Status* TF_NewStatus(void);

/* Delete a status made by TF_NewStatus. */
TF_CAPI_EXPORT extern void TF_DeleteStatus(TF_Status* status);

/* Set code and message, and drop all payloads. `message` is copied; NULL means "", and the message
 * of TF_OK is always "". A code outside TF_Code becomes TF_UNKNOWN. */
TF_CAPI_EXPORT extern void TF_SetStatus(TF_Status* status, TF_Code code, const char* message);

/* The parts of a message that says which check failed. A plugin may attach them beside the message:
 * all three, since one part alone is not used. In Python they become `check`, `found` and `needed` of
 * the error. TensorFlow ignores them, so the message must say the same in one sentence:
 *
 *   TF_SetStatus(status, TF_INVALID_ARGUMENT, "depth must divide 32: it is 12");
 *   TF_SetPayload(status, DS_PAYLOAD_CHECK, "depth must divide 32");
 *   TF_SetPayload(status, DS_PAYLOAD_FOUND, "12");
 *   TF_SetPayload(status, DS_PAYLOAD_NEEDED, "1, 2, 4, 8, 16 or 32");
 */
#define DS_PAYLOAD_CHECK "drystone/check"
#define DS_PAYLOAD_FOUND "drystone/found"
#define DS_PAYLOAD_NEEDED "drystone/needed"

/* Attach (or replace) a value under a key, both NUL-terminated and copied: what programs should know
 * of the failure, where the message is for people. Does nothing to a status that is OK, where key or
 * value is NULL, and for keys that begin with "drystone/" other than the three above: those are the
 * host's. */
TF_CAPI_EXPORT extern void TF_SetPayload(TF_Status* status, const char* key, const char* value);

/* Called by TF_ForEachPayload; the strings live only during the call. */
typedef void (*TF_PayloadVisitor)(const char* key, const char* value, void* capture);

/* Call `visitor` for each payload, sorted by key, with `capture` handed through. The visitor must not
 * change this status. */
TF_CAPI_EXPORT extern void TF_ForEachPayload(const TF_Status* status, TF_PayloadVisitor visitor,
                                             void* capture);

/* Set the code that fits an errno value, and the message "CONTEXT; TEXT OF THE ERROR". An errno of 0
 * gives OK. */
TF_CAPI_EXPORT extern void TF_SetStatusFromIOError(TF_Status* status, int error_code,
                                                   const char* context);

/* The code; TF_OK for a NULL status. */
TF_CAPI_EXPORT extern TF_Code TF_GetCode(const TF_Status* status);

/* The message, never NULL. It lives until the status is next changed or deleted. */
TF_CAPI_EXPORT extern const char* TF_Message(const TF_Status* status);

/* The same functions under the names of TensorFlow's newer sources: each does what its TF_ name does. */
TF_CAPI_EXPORT extern TSL_Status* TSL_NewStatus(void);
TF_CAPI_EXPORT extern void TSL_DeleteStatus(TSL_Status* status);
TF_CAPI_EXPORT extern void TSL_SetStatus(TSL_Status* status, TSL_Code code, const char* message);
TF_CAPI_EXPORT extern void TSL_SetPayload(TSL_Status* status, const char* key, const char* value);
typedef TF_PayloadVisitor TSL_PayloadVisitor;
TF_CAPI_EXPORT extern void TSL_ForEachPayload(const TSL_Status* status,
                                              TSL_PayloadVisitor visitor, void* capture);
TF_CAPI_EXPORT extern void TSL_SetStatusFromIOError(TSL_Status* status, int error_code,
                                                    const char* context);
TF_CAPI_EXPORT extern TSL_Code TSL_GetCode(const TSL_Status* status);
TF_CAPI_EXPORT extern const char* TSL_Message(const TSL_Status* status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_STATUS_H_ */

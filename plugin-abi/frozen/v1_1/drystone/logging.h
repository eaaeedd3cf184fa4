/* Logging into the host. Since ABI 1.0.
 *
 * The format is printf's. A message goes where the embedding program sends it (by default to standard
 * error, WARNING and above; TF_CPP_MIN_LOG_LEVEL chooses the lowest level shown, TF_CPP_MAX_VLOG_LEVEL
 * the highest verbose level, both read once). Any thread may call. Messages of any length are kept
 * whole. A NULL format is ignored.
 */
#ifndef DRYSTONE_LOGGING_H_
#define DRYSTONE_LOGGING_H_

#include "drystone/macros.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TF_LogLevel {
  TF_INFO = 0,
  TF_WARNING = 1,
  TF_ERROR = 2,
  TF_FATAL = 3 /* logged like an error: a plugin cannot end the host's process this way */
} TF_LogLevel;

#if defined(__GNUC__) || defined(__clang__)
#define DRYSTONE_PRINTF_(which, first) __attribute__((__format__(__printf__, which, first)))
#else
#define DRYSTONE_PRINTF_(which, first)
#endif

/* Log a message at a level. */
TF_CAPI_EXPORT extern void TF_Log(TF_LogLevel level, const char* format, ...)
    DRYSTONE_PRINTF_(2, 3);

/* Log a verbose message: shown when `level` is at most TF_CPP_MAX_VLOG_LEVEL (0 when unset). */
TF_CAPI_EXPORT extern void TF_VLog(int level, const char* format, ...) DRYSTONE_PRINTF_(2, 3);

/* The same, for messages that only a debug build of the host shows. */
TF_CAPI_EXPORT extern void TF_DVLog(int level, const char* format, ...) DRYSTONE_PRINTF_(2, 3);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_LOGGING_H_ */

/* Macros that a test may define to change filesystem_full.c; empty unless it does. */
#ifndef FILESYSTEM_HOOKS_H_
#define FILESYSTEM_HOOKS_H_

#ifndef ON_CLEANUP_FILE
#define ON_CLEANUP_FILE
#endif
#ifndef ON_READ
#define ON_READ
#endif
#ifndef ON_APPEND
#define ON_APPEND
#endif
#ifndef ON_TELL
#define ON_TELL
#endif
#ifndef ON_CLOSE
#define ON_CLOSE
#endif
#ifndef ON_DATA
#define ON_DATA
#endif
#ifndef ON_LENGTH
#define ON_LENGTH
#endif
#ifndef ON_DELETE
#define ON_DELETE
#endif
#ifndef ON_PATHS
#define ON_PATHS
#endif
#ifndef ON_CLEANUP
#define ON_CLEANUP
#endif
#ifndef ON_OPEN
#define ON_OPEN
#endif
#ifndef ON_STAT
#define ON_STAT
#endif
#ifndef ON_SIZE
#define ON_SIZE
#endif
#ifndef ON_TRANSLATE
#define ON_TRANSLATE
#endif
#ifndef ON_CHILDREN
#define ON_CHILDREN
#endif
#ifndef ON_MATCHING
#define ON_MATCHING
#endif
#ifndef ON_TRANSACTION
#define ON_TRANSACTION
#endif
#ifndef ON_KEYS
#define ON_KEYS
#endif
#ifndef ON_OPTIONS
#define ON_OPTIONS
#endif

/* Members of `table` and `writable` that are set to NULL. */
#ifndef LEAVE_OUT
#define LEAVE_OUT
#endif

#endif /* FILESYSTEM_HOOKS_H_ */

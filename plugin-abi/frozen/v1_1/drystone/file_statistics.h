/* What a filesystem knows about one path.
 *
 * Since ABI 1.0. 24 bytes; the layout is fixed and nothing will be appended: the struct has no size
 * member, and a caller hands over its own.
 *
 * Who owns it: the caller of the function that fills it in. There is nothing in it to free.
 * Zero: a struct of zeros says "an empty file, time unknown".
 */
#ifndef DRYSTONE_FILE_STATISTICS_H_
#define DRYSTONE_FILE_STATISTICS_H_

#include <stdbool.h>
#include <stdint.h>

typedef struct TF_FileStatistics {
  int64_t length;     /* bytes in the file; of a directory: 0, or -1 when the store cannot say */
  int64_t mtime_nsec; /* last change, nanoseconds since 1970-01-01 UTC; 0 when not known */
  bool is_directory;  /* a directory, or a prefix that the store shows like one */
} TF_FileStatistics;

#endif /* DRYSTONE_FILE_STATISTICS_H_ */

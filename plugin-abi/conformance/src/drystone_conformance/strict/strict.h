/* What the source files of the strict device share: see README.md. */
#ifndef STRICT_H_
#define STRICT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drystone/device.h"

#define STRICT_TYPE "STRICT"

enum { kStrictDevices = 2, kStrictName = 96, kStrictRanges = 12, kStrictClocks = 64 };

/* ---- faults (faults.c) ---- */

/* Notes a fault, which the text describes, and prints it. */
void strict_fault(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* The node whose kernel this thread runs; "" outside of one. */
extern _Thread_local const char* strict_node;

/* ---- memory (memory.c) ---- */

/* How much of the work of each stream, by the stream's number, comes before something. Streams beyond the last
 * number are not looked at. */
typedef struct Clock {
  uint64_t done[kStrictClocks];
} Clock;

/* Work that is about to use memory: what came before it, and its place on its stream. */
typedef struct Moment {
  const Clock* before;
  int stream; /* -1: the host's own, or one that is not looked at */
  uint64_t place;
} Moment;

/* A block of device memory. The host knows its address in `seen`, where nothing can be read or written;
 * the device's own code finds the same bytes in `real`. */
typedef struct Block {
  struct Block* next;
  char* seen;
  uint64_t size;
  bool is_live;
  bool is_written;        /* something has been written to it since it was allocated */
  int pending;            /* operations that use it and have not been done */
  int writer;             /* the stream that wrote it last, -1: none; and where on it */
  uint64_t written_at;
  Clock read_at;
  char user[kStrictName]; /* the node that last used it */
} Block;

/* A part of device memory that an operation uses. */
typedef struct Range {
  const char* seen;
  uint64_t size;
  bool is_written;
  Block* block; /* found by strict_claim */
} Range;

void strict_open_memory(int device);
bool strict_allocate(int device, uint64_t size, SP_DeviceMemoryBase* memory);
void strict_free(int device, SP_DeviceMemoryBase* memory);
/* Where the device's own code finds what the host knows by this address; NULL for no device memory. */
void* strict_real(const void* seen);
/* Before an operation is enqueued: finds the blocks of its ranges. False, and a fault, where one is none. */
bool strict_claim(int device, const char* node, Range* ranges, int count);
/* Before it is done, and after: looks whether its blocks are as they must be. NULL or what is wrong. */
const char* strict_before(Range* ranges, int count, const Moment* moment);
const char* strict_after(Range* ranges, int count, const Moment* moment);
/* Whether the host divides what it gets ($STRICT_BFC): blocks are regions then, of which only the whole is known. */
bool strict_divides(void);
/* The node that last used what lies at an address; for when the process is about to end. */
void strict_user_of(const void* seen, char* out);
void strict_usage(int device, SP_AllocatorStats* stats);

/* ---- streams (streams.c) ---- */

typedef struct Work {
  void (*run)(struct Work*); /* on the device's thread */
  void (*end)(struct Work*); /* frees it; may be NULL */
} Work;

/* Puts work on a stream. `work` belongs to the stream from then on, also when it fails. */
void strict_enqueue(SP_Stream stream, const char* node, Work* work, const Range* ranges, int count,
                    TF_Status* status);
int strict_device_of(SP_Stream stream);
/* Around a call of the host with a stream, of which there may be one at a time; kernels put their work beside. */
void strict_begin_call(SP_Stream stream, const char* name);
void strict_end_call(SP_Stream stream);
/* What the host has waited for. */
void strict_host_clock(int device, Clock* clock);
/* A stream that nothing waits for. */
SP_Stream strict_other_stream(int device);
void strict_open_streams(int device);
void strict_fill_streams(SP_StreamExecutor* executor);
void strict_fill_timers(SP_StreamExecutor* executor, SP_TimerFns* functions);

/* ---- figures ---- */

typedef enum StrictFigure {
  STRICT_FAULTS, STRICT_KERNELS, STRICT_COPIES_IN, STRICT_COPIES_OUT, STRICT_WAITS, STRICT_EVENTS,
  STRICT_TIMERS, STRICT_CALLS, STRICT_ALLOCATIONS, STRICT_STREAMS, STRICT_FIGURES
} StrictFigure;
void strict_count(StrictFigure figure);

/* Whether a fault is planted in the node: $STRICT_PLANT is "FAULT:NODE". */
bool strict_is_planted(const char* fault, const char* node);

/* ---- refusals (refuse.c) ---- */

/* Whether the function is the one that refuses what it is asked for: $STRICT_REFUSE. */
bool strict_refuses(const char* function);
void strict_refuse(TF_Status* status);
void strict_fill_refusals(SP_StreamExecutor* executor);

#endif /* STRICT_H_ */

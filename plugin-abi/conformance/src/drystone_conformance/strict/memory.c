/* Memory that only the device can read and write: the host sees addresses without access. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "drystone/macros.h"
#include "strict.h"

/* Bytes of each device, which are taken only where they are used; of red zones; what unwritten and freed
 * memory holds, which is no number as float32 and bfloat16; what red zones hold. */
static const uint64_t kBytes = (uint64_t)2 << 30;
enum { kZone = 256, kPoison = 0xFF, kRed = 0xC5 };

typedef struct Memory {
  pthread_mutex_t mutex;
  char* seen;
  char* real;
  uint64_t next; /* where free room begins: addresses are used again as late as can be */
  Block* blocks; /* live and freed ones, by address */
  SP_AllocatorStats stats;
} Memory;

static Memory memories[kStrictDevices];

void strict_open_memory(int device) {
  Memory* const self = &memories[device];
  if (self->seen != NULL) return;
  const int file = memfd_create("strict device", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)kBytes) != 0) abort();
  char* const real = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  char* const seen = mmap(NULL, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  close(file);
  if (real == MAP_FAILED || seen == MAP_FAILED) abort();
  pthread_mutex_init(&self->mutex, NULL);
  self->real = real;
  self->seen = seen;
}

static Memory* memory_of(const void* seen) {
  for (int k = 0; k < kStrictDevices; ++k) {
    Memory* const self = &memories[k];
    const char* const at = seen;
    if (self->seen != NULL && at >= self->seen && at < self->seen + kBytes) return self;
  }
  return NULL;
}

void* strict_real(const void* seen) {
  const Memory* const self = memory_of(seen);
  return self == NULL ? NULL : self->real + ((const char*)seen - self->seen);
}

static uint64_t span(uint64_t size) { return (size + kZone - 1) / kZone * kZone + (uint64_t)2 * kZone; }

/* ---- blocks ---- */

/* Room for `bytes`, after what was allocated last, else from the beginning; NULL where there is none. A block
 * is linked in behind the returned one. */
static Block** room(Memory* self, uint64_t bytes, uint64_t* at) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    uint64_t from = attempt == 0 ? self->next : 0;
    Block** link = &self->blocks;
    while (*link != NULL) {
      Block* const block = *link;
      const uint64_t begin = (uint64_t)(block->seen - self->seen) - kZone;
      const uint64_t end = begin + span(block->size);
      if (end <= from) {
        link = &block->next;
      } else if (block->is_live) {
        if (begin >= from + bytes) break;
        from = end;
        link = &block->next;
      } else if (begin >= from + bytes) {
        break;
      } else { /* a freed one in the way is forgotten */
        *link = block->next;
        free(block);
      }
    }
    if (from + bytes <= kBytes) {
      *at = from;
      return link;
    }
  }
  return NULL;
}

static void fill(const Block* block, int data) {
  char* const real = strict_real(block->seen);
  memset(real - kZone, kRed, kZone);
  memset(real, data, block->size);
  memset(real + block->size, kRed, span(block->size) - block->size - kZone);
}

bool strict_allocate(int device, uint64_t size, SP_DeviceMemoryBase* memory) {
  Memory* const self = &memories[device];
  Block* const block = calloc(1, sizeof *block);
  if (block == NULL || size > kBytes) {
    free(block);
    return false;
  }
  pthread_mutex_lock(&self->mutex);
  uint64_t at = 0;
  Block** const link = room(self, span(size), &at);
  if (link != NULL) {
    *block = (Block){.next = *link, .seen = self->seen + at + kZone, .size = size, .is_live = true, .writer = -1};
    strict_count(STRICT_ALLOCATIONS);
    snprintf(block->user, sizeof block->user, "%s", strict_node);
    *link = block;
    self->next = at + span(size);
    fill(block, kPoison);
    self->stats.num_allocs += 1;
    self->stats.bytes_in_use += (int64_t)size;
    if (self->stats.bytes_in_use > self->stats.peak_bytes_in_use) self->stats.peak_bytes_in_use = self->stats.bytes_in_use;
    if ((int64_t)size > self->stats.largest_alloc_size) self->stats.largest_alloc_size = (int64_t)size;
    memory->opaque = block->seen;
    memory->size = size;
  }
  pthread_mutex_unlock(&self->mutex);
  if (link == NULL) free(block);
  return link != NULL;
}

static Block* find(Memory* self, const char* seen, uint64_t size) {
  for (Block* block = self->blocks; block != NULL; block = block->next) {
    if (seen >= block->seen && seen + size <= block->seen + block->size) return block;
  }
  return NULL;
}

static bool zones_hold(const Block* block) {
  const unsigned char* const real = strict_real(block->seen);
  const uint64_t behind = span(block->size) - block->size - kZone;
  for (int k = 1; k <= kZone; ++k) {
    if (real[-k] != kRed) return false;
  }
  for (uint64_t k = 0; k < behind; ++k) {
    if (real[block->size + k] != kRed) return false;
  }
  return true;
}

void strict_free(int device, SP_DeviceMemoryBase* memory) {
  Memory* const self = &memories[device];
  pthread_mutex_lock(&self->mutex);
  Block* const block = find(self, memory->opaque, 0);
  if (block == NULL || block->seen != (char*)memory->opaque || !block->is_live) {
    strict_fault("memory is freed that is not allocated, or was freed before");
  } else {
    if (block->pending != 0) {
      strict_fault("memory is freed while work of node '%s' that uses it has not been done", block->user);
    }
    if (!zones_hold(block)) strict_fault("something wrote outside of memory that node '%s' used last", block->user);
    block->is_live = false;
    fill(block, kPoison);
    self->stats.bytes_in_use -= (int64_t)block->size;
  }
  pthread_mutex_unlock(&self->mutex);
  memory->opaque = NULL;
  memory->size = 0;
}

/* ---- what operations use ---- */

bool strict_claim(int device, const char* node, Range* ranges, int count) {
  Memory* const self = &memories[device];
  const char* wrong = NULL;
  pthread_mutex_lock(&self->mutex);
  for (int k = 0; k < count && wrong == NULL; ++k) {
    Block* const block = ranges[k].size == 0 ? NULL : find(self, ranges[k].seen, ranges[k].size);
    if (ranges[k].size == 0) continue;
    if (block == NULL) wrong = memory_of(ranges[k].seen) == NULL ? "host memory" : "memory outside of every block";
    else if (!block->is_live) wrong = "memory that was freed";
    else ranges[k].block = block;
  }
  for (int k = 0; k < count && wrong == NULL; ++k) {
    if (ranges[k].block == NULL) continue;
    ++ranges[k].block->pending;
    snprintf(ranges[k].block->user, kStrictName, "%s", node);
  }
  pthread_mutex_unlock(&self->mutex);
  if (wrong != NULL) strict_fault("node '%s' is given %s on /device:" STRICT_TYPE ":%d", node, wrong, device);
  return wrong == NULL;
}

static Memory* lock(Range* ranges, int count) {
  for (int k = 0; k < count; ++k) {
    if (ranges[k].block == NULL) continue;
    Memory* const self = memory_of(ranges[k].block->seen);
    pthread_mutex_lock(&self->mutex);
    return self;
  }
  return NULL;
}

/* What the host gave beyond what the operation asked for, behind a range that is written. */
static unsigned char* slack_of(const Range* range, uint64_t* bytes) {
  const Block* const block = range->block;
  if (!range->is_written || range->seen != block->seen || strict_divides()) return NULL;
  *bytes = block->size - range->size;
  return (unsigned char*)strict_real(block->seen) + range->size;
}

static void mark_slack(const Range* range) {
  uint64_t bytes = 0;
  unsigned char* const slack = slack_of(range, &bytes);
  if (slack != NULL) memset(slack, kRed, bytes);
}

static bool slack_holds(const Range* range) {
  uint64_t bytes = 0;
  const unsigned char* const slack = slack_of(range, &bytes);
  for (uint64_t k = 0; slack != NULL && k < bytes; ++k) {
    if (slack[k] != kRed) return false;
  }
  return true;
}

bool strict_divides(void) { return getenv("STRICT_BFC") != NULL; }

/* Whether all work on a block comes before a moment that it must come before: what is read must have been
 * written, what is written must not be in use. */
static bool comes_after(const Moment* moment, const Block* block, bool is_written) {
  if (strict_divides()) return true;
  const uint64_t* const done = moment->before->done;
  if (block->writer >= 0 && block->writer != moment->stream && done[block->writer] < block->written_at) return false;
  for (int k = 0; is_written && k < kStrictClocks; ++k) {
    if (k != moment->stream && done[k] < block->read_at.done[k]) return false;
  }
  return true;
}

static void note_use(const Moment* moment, Block* block, bool is_written) {
  if (!is_written && moment->stream >= 0) block->read_at.done[moment->stream] = moment->place;
  if (!is_written) return;
  block->is_written = true;
  block->writer = moment->stream;
  block->written_at = moment->place;
}

const char* strict_before(Range* ranges, int count, const Moment* moment) {
  const char* wrong = NULL;
  Memory* const self = lock(ranges, count);
  for (int k = 0; k < count; ++k) {
    const Block* const block = ranges[k].block;
    if (block == NULL) continue;
    if (!block->is_live) wrong = "it uses memory that was freed before its work was done";
    else if (!ranges[k].is_written && !block->is_written) wrong = "it reads memory to which nothing has been written yet: something was not waited for";
    else if (!comes_after(moment, block, ranges[k].is_written)) wrong = "it uses memory that another stream may be using still: something was not waited for";
    else mark_slack(&ranges[k]);
  }
  if (self != NULL) pthread_mutex_unlock(&self->mutex);
  return wrong;
}

const char* strict_after(Range* ranges, int count, const Moment* moment) {
  const char* wrong = NULL;
  Memory* const self = lock(ranges, count);
  for (int k = 0; k < count; ++k) {
    Block* const block = ranges[k].block;
    if (block == NULL) continue;
    --block->pending;
    note_use(moment, block, ranges[k].is_written);
    if (!zones_hold(block) || (block->is_live && !slack_holds(&ranges[k]))) wrong = "it wrote outside of its memory";
  }
  if (self != NULL) pthread_mutex_unlock(&self->mutex);
  return wrong;
}

void strict_usage(int device, SP_AllocatorStats* stats) {
  Memory* const self = &memories[device];
  pthread_mutex_lock(&self->mutex);
  *stats = self->stats;
  pthread_mutex_unlock(&self->mutex);
  stats->struct_size = SP_ALLOCATORSTATS_STRUCT_SIZE;
  stats->has_bytes_limit = 1;
  stats->bytes_limit = (int64_t)kBytes;
}

/* Without the lock, as the process is about to end. */
void strict_user_of(const void* seen, char* out) {
  Memory* const self = memory_of(seen);
  const Block* const block = self == NULL ? NULL : find(self, seen, 0);
  snprintf(out, kStrictName, "%s", block == NULL ? "" : block->user);
}

/* Notes every live block of both devices as a fault; how many they are. */
TF_CAPI_EXPORT int strict_check_leaks(void) {
  int found = 0;
  for (int k = 0; k < kStrictDevices; ++k) {
    Memory* const self = &memories[k];
    if (self->seen == NULL) continue;
    pthread_mutex_lock(&self->mutex);
    for (const Block* block = self->blocks; block != NULL; block = block->next) {
      if (!block->is_live) continue;
      ++found;
      strict_fault("%llu bytes are left that node '%s' used last", (unsigned long long)block->size, block->user);
    }
    pthread_mutex_unlock(&self->mutex);
  }
  return found;
}

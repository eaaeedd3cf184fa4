/* Streams whose work is done late, by a thread of each device, in an order that a seed chooses among those
 * that are legal: work of one stream in turn, of several in any order that events and dependencies allow.
 * Nothing is done before somebody waits for it or asks whether it is done.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strict.h"

enum { kMostQueued = 4096 };

typedef enum Kind { WORK, RECORD, WAIT_EVENT } Kind;

typedef struct Op {
  struct Op* next;
  Kind kind;
  Work* work;
  SP_Event event;
  uint64_t until; /* of the event's records */
  Clock host;     /* what the host had waited for */
  int count;
  Range ranges[kStrictRanges];
  char node[kStrictName];
} Op;

typedef struct Device {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  pthread_t thread;
  bool is_open;
  int waiting;  /* threads that wait for work */
  int steps;    /* that are to be done although nobody waits */
  int64_t queued;
  uint64_t random;
  SP_Stream streams;
  Clock host;                      /* what it has waited for */
  uint64_t places[kStrictClocks];  /* how much work each stream of a number has had */
  bool is_taken[kStrictClocks];
} Device;

struct SP_Stream_st {
  SP_Stream next;
  int device;
  Op* first;
  Op** last;
  uint64_t enqueued;
  uint64_t done;
  bool is_running;
  int number; /* -1: there are too many */
  Clock clock;
  const char* call; /* the host's that uses it now */
  TF_Code code; /* of the first failure */
  char message[256];
};

struct SP_Event_st {
  int device;
  uint64_t recorded;
  uint64_t done;
  bool is_hidden; /* of a dependency, whose wait ends it */
  Clock clock;
  TF_Code code;
  char message[256];
};

static Device devices[kStrictDevices];

int strict_device_of(SP_Stream stream) { return stream->device; }

/* ---- calls of the host, which may not use a stream at the same time ---- */

void strict_begin_call(SP_Stream stream, const char* name) {
  const char* const other = __atomic_exchange_n(&stream->call, name, __ATOMIC_ACQ_REL);
  if (other != NULL) strict_fault("%s is called with a stream that %s uses", name, other);
  sched_yield(); /* another call has the time to come */
}

void strict_end_call(SP_Stream stream) { __atomic_store_n(&stream->call, NULL, __ATOMIC_RELEASE); }

/* ---- the thread ---- */

static bool is_ready(SP_Stream stream) {
  const Op* const op = stream->first;
  if (op == NULL || stream->is_running) return false;
  return op->kind != WAIT_EVENT || op->event->done >= op->until;
}

static uint64_t next_random(Device* self) {
  self->random = self->random * 6364136223846793005u + 1442695040888963407u;
  return self->random >> 33;
}

static SP_Stream choose(Device* self) {
  uint64_t ready = 0;
  for (SP_Stream stream = self->streams; stream != NULL; stream = stream->next) ready += is_ready(stream);
  if (ready == 0) return NULL;
  uint64_t chosen = next_random(self) % ready;
  for (SP_Stream stream = self->streams; stream != NULL; stream = stream->next) {
    if (is_ready(stream) && chosen-- == 0) return stream;
  }
  return NULL;
}

static void fail_stream(SP_Stream stream, TF_Code code, const char* node, const char* what) {
  if (stream->code != TF_OK) return;
  stream->code = code;
  snprintf(stream->message, sizeof stream->message, "work of node '%s' failed: %s", node, what);
}

static void join(Clock* clock, const Clock* other) {
  for (int k = 0; k < kStrictClocks; ++k) {
    if (clock->done[k] < other->done[k]) clock->done[k] = other->done[k];
  }
}

/* What is after a failure on a stream is not done. */
static void work(Device* self, SP_Stream stream, Op* op) {
  const bool goes = stream->code == TF_OK;
  const int number = stream->number;
  const Moment moment = {&stream->clock, number, number < 0 ? 0 : ++self->places[number]};
  pthread_mutex_unlock(&self->mutex);
  const char* wrong = goes ? strict_before(op->ranges, op->count, &moment) : NULL;
  if (goes && wrong == NULL && op->work->run != NULL) op->work->run(op->work);
  const char* const after = strict_after(op->ranges, op->count, &moment);
  if (wrong == NULL) wrong = after;
  if (wrong != NULL) strict_fault("node '%s': %s", op->node, wrong);
  if (op->work->end != NULL) op->work->end(op->work);
  pthread_mutex_lock(&self->mutex);
  if (number >= 0) stream->clock.done[number] = moment.place;
  if (wrong != NULL) fail_stream(stream, TF_INTERNAL, op->node, wrong);
}

static void record(SP_Stream stream, Op* op) {
  SP_Event const event = op->event;
  event->done = op->until;
  event->clock = stream->clock;
  event->code = stream->code;
  memcpy(event->message, stream->message, sizeof event->message);
}

/* What waits for work that failed fails as well. */
static void pass_event(SP_Stream stream, Op* op) {
  SP_Event const event = op->event;
  join(&stream->clock, &event->clock);
  if (event->code != TF_OK && stream->code == TF_OK) {
    stream->code = event->code;
    memcpy(stream->message, event->message, sizeof stream->message);
  }
  if (event->is_hidden) free(event);
}

static void step(Device* self, SP_Stream stream) {
  Op* const op = stream->first;
  stream->is_running = true;
  join(&stream->clock, &op->host);
  if (op->kind == WORK) work(self, stream, op);
  if (op->kind == RECORD) record(stream, op);
  if (op->kind == WAIT_EVENT) pass_event(stream, op);
  stream->first = op->next;
  if (stream->first == NULL) stream->last = &stream->first;
  ++stream->done;
  --self->queued;
  stream->is_running = false;
  free(op);
  pthread_cond_broadcast(&self->changed);
}

static void* go(void* device) {
  Device* const self = device;
  pthread_mutex_lock(&self->mutex);
  while (true) {
    const bool goes = self->waiting > 0 || self->steps > 0 || self->queued > kMostQueued;
    SP_Stream const stream = goes ? choose(self) : NULL;
    if (stream == NULL) {
      self->steps = 0;
      pthread_cond_wait(&self->changed, &self->mutex);
      continue;
    }
    if (self->steps > 0) --self->steps;
    step(self, stream);
  }
  return NULL;
}

void strict_open_streams(int device) {
  Device* const self = &devices[device];
  if (self->is_open) return;
  const char* const seed = getenv("STRICT_SEED");
  self->random = seed == NULL ? 1 : strtoull(seed, NULL, 10) + (uint64_t)device;
  pthread_mutex_init(&self->mutex, NULL);
  pthread_cond_init(&self->changed, NULL);
  if (pthread_create(&self->thread, NULL, go, self) != 0) abort();
  pthread_detach(self->thread);
  self->is_open = true;
}

/* ---- putting work on a stream ---- */

static Op* new_op(Kind kind, const char* node, TF_Status* status) {
  Op* const op = calloc(1, sizeof *op);
  if (op == NULL) TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for work");
  else op->kind = kind;
  if (op != NULL) snprintf(op->node, sizeof op->node, "%s", node);
  return op;
}

static void put(SP_Stream stream, Op* op) {
  Device* const self = &devices[stream->device];
  pthread_mutex_lock(&self->mutex);
  op->host = self->host;
  *stream->last = op;
  stream->last = &op->next;
  ++stream->enqueued;
  if (++self->queued > kMostQueued) pthread_cond_broadcast(&self->changed);
  pthread_mutex_unlock(&self->mutex);
}

void strict_enqueue(SP_Stream stream, const char* node, Work* work, const Range* ranges, int count, TF_Status* status) {
  Op* const op = new_op(WORK, node, status);
  if (op != NULL) {
    op->work = work;
    op->count = count;
    if (count > 0) memcpy(op->ranges, ranges, (size_t)count * sizeof *ranges);
    if (strict_claim(stream->device, node, op->ranges, count)) {
      put(stream, op);
      return;
    }
    TF_SetStatus(status, TF_INTERNAL, "it is given what is no memory of the device");
  }
  free(op);
  if (work->end != NULL) work->end(work);
}

/* ---- streams ---- */

static int free_number(Device* self) {
  for (int k = 0; k < kStrictClocks; ++k) {
    if (self->is_taken[k]) continue;
    self->is_taken[k] = true;
    return k;
  }
  return -1;
}

static SP_Stream new_stream(int device) {
  SP_Stream const made = calloc(1, sizeof *made);
  if (made == NULL) return NULL;
  Device* const self = &devices[device];
  made->device = device;
  made->last = &made->first;
  pthread_mutex_lock(&self->mutex);
  made->number = free_number(self);
  made->next = self->streams;
  self->streams = made;
  pthread_mutex_unlock(&self->mutex);
  return made;
}

SP_Stream strict_other_stream(int device) {
  static SP_Stream made[kStrictDevices];
  if (made[device] == NULL) made[device] = new_stream(device);
  return made[device];
}

static void create_stream(const SP_Device* device, SP_Stream* stream, TF_Status* status) {
  strict_count(STRICT_STREAMS);
  *stream = new_stream(device->ordinal);
  if (*stream == NULL) TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for a stream");
}

static void destroy_stream(const SP_Device* device, SP_Stream stream) {
  Device* const self = &devices[device->ordinal];
  pthread_mutex_lock(&self->mutex);
  if (stream->first != NULL) strict_fault("a stream is destroyed while work of node '%s' on it has not been done", stream->first->node);
  for (SP_Stream* link = &self->streams; *link != NULL; link = &(*link)->next) {
    if (*link == stream) {
      *link = stream->next;
      break;
    }
  }
  const bool is_done = stream->first == NULL;
  if (is_done && stream->number >= 0) self->is_taken[stream->number] = false;
  pthread_mutex_unlock(&self->mutex);
  if (is_done) free(stream);
}

static void report(SP_Stream stream, TF_Status* status) {
  TF_SetStatus(status, stream->code, stream->code == TF_OK ? "" : stream->message);
}

static void get_stream_status(const SP_Device* device, SP_Stream stream, TF_Status* status) {
  strict_begin_call(stream, "get_stream_status");
  pthread_mutex_lock(&devices[device->ordinal].mutex);
  report(stream, status);
  pthread_mutex_unlock(&devices[device->ordinal].mutex);
  strict_end_call(stream);
}

/* ---- waiting ---- */

typedef bool (*IsOver)(Device* self, const void* what, uint64_t until);

static bool stream_is_over(Device* self, const void* what, uint64_t until) {
  (void)self;
  return ((const struct SP_Stream_st*)what)->done >= until;
}

static bool event_is_over(Device* self, const void* what, uint64_t until) {
  (void)self;
  return ((const struct SP_Event_st*)what)->done >= until;
}

static bool all_is_over(Device* self, const void* what, uint64_t until) {
  (void)what, (void)until;
  return self->queued == 0;
}

/* With the mutex held. */
static void wait_for(Device* self, IsOver is_over, const void* what, uint64_t until) {
  strict_count(STRICT_WAITS);
  ++self->waiting;
  pthread_cond_broadcast(&self->changed);
  while (!is_over(self, what, until)) pthread_cond_wait(&self->changed, &self->mutex);
  --self->waiting;
}

static void block_host_until_done(const SP_Device* device, SP_Stream stream, TF_Status* status) {
  Device* const self = &devices[device->ordinal];
  strict_begin_call(stream, "block_host_until_done");
  pthread_mutex_lock(&self->mutex);
  wait_for(self, stream_is_over, stream, stream->enqueued);
  join(&self->host, &stream->clock);
  report(stream, status);
  pthread_mutex_unlock(&self->mutex);
  strict_end_call(stream);
}

static void synchronize_all_activity(const SP_Device* device, TF_Status* status) {
  (void)status;
  Device* const self = &devices[device->ordinal];
  pthread_mutex_lock(&self->mutex);
  wait_for(self, all_is_over, NULL, 0);
  for (SP_Stream stream = self->streams; stream != NULL; stream = stream->next) join(&self->host, &stream->clock);
  pthread_mutex_unlock(&self->mutex);
}

void strict_host_clock(int device, Clock* clock) {
  pthread_mutex_lock(&devices[device].mutex);
  *clock = devices[device].host;
  pthread_mutex_unlock(&devices[device].mutex);
}

/* ---- events ---- */

static void create_event(const SP_Device* device, SP_Event* event, TF_Status* status) {
  *event = calloc(1, sizeof **event);
  if (*event == NULL) TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for an event");
  else (*event)->device = device->ordinal;
}

static void destroy_event(const SP_Device* device, SP_Event event) {
  Device* const self = &devices[device->ordinal];
  pthread_mutex_lock(&self->mutex);
  const bool is_done = event->done == event->recorded;
  if (!is_done) strict_fault("an event is destroyed that has not come yet");
  pthread_mutex_unlock(&self->mutex);
  if (is_done) free(event);
}

static SE_EventStatus get_event_status(const SP_Device* device, SP_Event event) {
  Device* const self = &devices[device->ordinal];
  pthread_mutex_lock(&self->mutex);
  SE_EventStatus found = SE_EVENT_UNKNOWN;
  if (event->recorded != 0) found = event->code != TF_OK ? SE_EVENT_ERROR : SE_EVENT_COMPLETE;
  if (event->done < event->recorded) {
    found = SE_EVENT_PENDING;
    ++self->steps; /* who asks again and again shall not do so for ever */
    pthread_cond_broadcast(&self->changed);
  } else {
    join(&self->host, &event->clock);
  }
  pthread_mutex_unlock(&self->mutex);
  return found;
}

static void put_record(const SP_Device* device, SP_Stream stream, SP_Event event, TF_Status* status) {
  Op* const op = new_op(RECORD, "", status);
  if (op == NULL) return;
  if (!event->is_hidden) strict_count(STRICT_EVENTS);
  pthread_mutex_lock(&devices[device->ordinal].mutex);
  op->event = event;
  op->until = ++event->recorded;
  event->code = TF_OK;
  pthread_mutex_unlock(&devices[device->ordinal].mutex);
  put(stream, op);
}

static void put_wait(const SP_Device* device, SP_Stream stream, SP_Event event, TF_Status* status) {
  Op* const op = new_op(WAIT_EVENT, "", status);
  if (op == NULL) return;
  pthread_mutex_lock(&devices[device->ordinal].mutex);
  op->event = event;
  op->until = event->recorded;
  pthread_mutex_unlock(&devices[device->ordinal].mutex);
  put(stream, op);
}

static void record_event(const SP_Device* device, SP_Stream stream, SP_Event event, TF_Status* status) {
  strict_begin_call(stream, "record_event");
  put_record(device, stream, event, status);
  strict_end_call(stream);
}

static void wait_for_event(const SP_Device* const device, SP_Stream stream, SP_Event event, TF_Status* const status) {
  strict_begin_call(stream, "wait_for_event");
  put_wait(device, stream, event, status);
  strict_end_call(stream);
}

static void create_stream_dependency(const SP_Device* device, SP_Stream dependent, SP_Stream other, TF_Status* status) {
  SP_Event event = NULL;
  create_event(device, &event, status);
  if (event == NULL) return;
  event->is_hidden = true;
  strict_begin_call(other, "create_stream_dependency");
  strict_begin_call(dependent, "create_stream_dependency");
  put_record(device, other, event, status);
  if (TF_GetCode(status) == TF_OK) put_wait(device, dependent, event, status);
  strict_end_call(dependent);
  strict_end_call(other);
}

static void block_host_for_event(const SP_Device* device, SP_Event event, TF_Status* status) {
  Device* const self = &devices[device->ordinal];
  pthread_mutex_lock(&self->mutex);
  if (event->recorded == 0) TF_SetStatus(status, TF_FAILED_PRECONDITION, "the event was never recorded");
  else wait_for(self, event_is_over, event, event->recorded);
  if (event->code != TF_OK) TF_SetStatus(status, TF_INTERNAL, "the work before the event failed");
  join(&self->host, &event->clock);
  pthread_mutex_unlock(&self->mutex);
}

/* ---- calls of the host ---- */

typedef struct Call {
  Work work;
  SE_StatusCallbackFn function;
  void* argument;
  SP_Stream stream;
} Call;

static void run_call(Work* work) {
  Call* const self = (Call*)work;
  TF_Status* const status = TF_NewStatus();
  self->function(self->argument, status);
  Device* const device = &devices[self->stream->device];
  pthread_mutex_lock(&device->mutex);
  if (TF_GetCode(status) != TF_OK && self->stream->code == TF_OK) {
    self->stream->code = TF_GetCode(status);
    snprintf(self->stream->message, sizeof self->stream->message, "%s", TF_Message(status));
  }
  pthread_mutex_unlock(&device->mutex);
  TF_DeleteStatus(status);
}

static void end_call(Work* work) { free(work); }

static TF_Bool host_callback(const SP_Device* device, SP_Stream stream, SE_StatusCallbackFn function, void* argument) {
  (void)device;
  Call* const call = calloc(1, sizeof *call);
  if (call == NULL) return 0;
  *call = (Call){{run_call, end_call}, function, argument, stream};
  strict_count(STRICT_CALLS);
  TF_Status* const status = TF_NewStatus();
  strict_begin_call(stream, "host_callback");
  strict_enqueue(stream, "a call of the host", &call->work, NULL, 0, status);
  strict_end_call(stream);
  const bool is_put = TF_GetCode(status) == TF_OK;
  TF_DeleteStatus(status);
  return is_put;
}

void strict_fill_streams(SP_StreamExecutor* executor) {
  executor->create_stream = create_stream;
  executor->destroy_stream = destroy_stream;
  executor->create_stream_dependency = create_stream_dependency;
  executor->get_stream_status = get_stream_status;
  executor->create_event = create_event;
  executor->destroy_event = destroy_event;
  executor->get_event_status = get_event_status;
  executor->record_event = record_event;
  executor->wait_for_event = wait_for_event;
  executor->block_host_for_event = block_host_for_event;
  executor->block_host_until_done = block_host_until_done;
  executor->synchronize_all_activity = synchronize_all_activity;
  executor->host_callback = host_callback;
}

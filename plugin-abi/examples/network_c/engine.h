/* An engine: a listener, connections, and a thread that sleeps in `engine_progress`. */
#ifndef ENGINE_H_
#define ENGINE_H_

#include <pthread.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "messages.h"

/* What comes before the bytes of a message. */
typedef struct Head {
  uint64_t magic, high, low, size;
} Head;

/* A message that is not yet written to its end. */
typedef struct Outgoing {
  struct Outgoing* next;
  uint64_t token;
  Head head;
  size_t written; /* of head and pieces together */
  int count;
  struct iovec pieces[]; /* the host's memory, until SENT */
} Outgoing;

typedef struct Peer {
  struct Peer* next;
  uint64_t id;
  int fd;
  Outgoing *outgoing, **last_outgoing;
  Head head;
  size_t head_read;
  Message* current; /* is coming in */
} Peer;

typedef struct Engine {
  pid_t owner;
  pthread_mutex_t mutex; /* guards all that follows */
  uint64_t max_message, unexpected_bytes;
  int bell[2]; /* a byte in it wakes `engine_progress` */
  bool is_asleep, is_woken;
  int listener;
  uint64_t next_id;
  Peer* peers;
  Messages messages;
} Engine;

extern const uint64_t kMagic;

Engine* engine_new(uint64_t max_message, uint64_t unexpected_bytes);
void engine_free(Engine* engine);
Peer* engine_add(Engine* engine, int fd);
Peer* engine_peer(const Engine* engine, uint64_t id);
/* End a peer; with `tell` as lost, else as the host wished it. */
void engine_end(Engine* engine, Peer* peer, TF_Code code, const char* text, bool tell);
/* Have who sleeps in `engine_progress` look again. */
void engine_ring(Engine* engine);
/* Write what can be written; true where nothing of the first message is left, which is freed then. */
bool engine_write(Peer* peer);
int32_t engine_progress(Engine* engine, int64_t timeout_us, DS_NetworkEvent* const* events, int32_t room);

#endif /* ENGINE_H_ */

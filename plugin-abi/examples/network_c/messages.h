/* Messages and the receives that they meet, of one engine. Knows nothing of connections. */
#ifndef MESSAGES_H_
#define MESSAGES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drystone/network.h"

typedef struct Tag {
  uint64_t high, low;
} Tag;

/* What was posted: `peer` 0 takes messages of any. */
typedef struct Receive {
  uint64_t peer, token;
  Tag tag, mask;
  void* data; /* NULL: the engine's memory is wanted */
  size_t size;
} Receive;

/* A message that is coming in, or has come and is kept. */
typedef struct Message {
  struct Message* next;
  uint64_t peer;
  Tag tag;
  uint64_t size, arrived;
  unsigned char* data;
  bool is_claimed; /* `receive` gets it once it is whole */
  Receive receive;
} Message;

typedef struct PostedReceive {
  struct PostedReceive* next;
  Receive receive;
} PostedReceive;

typedef struct QueuedEvent {
  struct QueuedEvent* next;
  DS_NetworkEvent event;
  void* owned; /* the event's data, where that is ours until the host has the event */
} QueuedEvent;

/* Lists in the order of their arrival. */
typedef struct Messages {
  Message* messages;
  PostedReceive* posted;
  QueuedEvent *first_event, **last_event;
} Messages;

void messages_init(Messages* all);
void messages_free(Messages* all);

/* Tell of something; false without memory. */
bool messages_tell(Messages* all, DS_NetworkEventKind kind, uint64_t peer, uint64_t token, TF_Code code,
                   const char* text);
/* The oldest event into `out`; false where there is none. */
bool messages_next_event(Messages* all, DS_NetworkEvent* out);

/* A message begins: its memory, or NULL where there is none. */
Message* messages_begin(Messages* all, uint64_t peer, Tag tag, uint64_t size);
/* It is whole. */
bool messages_finish(Messages* all, Message* message);
/* Post a receive, or give it what was kept for it. `is_there`: its peer; without it only what was kept
 * counts. 1, 0 where there is no such peer, -1 without memory. */
int messages_post(Messages* all, const Receive* receive, bool is_there);
/* End the posted receives of a token, or of a peer, with a code. */
void messages_cancel(Messages* all, uint64_t token);
void messages_lose(Messages* all, uint64_t peer, TF_Code code, const char* text);

/* Bytes of a peer that nobody has asked for, and whether a posted receive waits for it. */
uint64_t messages_unexpected(const Messages* all, uint64_t peer);
bool messages_awaited(const Messages* all, uint64_t peer);

#endif /* MESSAGES_H_ */

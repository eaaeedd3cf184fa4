#include "messages.h"

#include <stdlib.h>
#include <string.h>

void messages_init(Messages* all) {
  memset(all, 0, sizeof *all);
  all->last_event = &all->first_event;
}

static void message_free(Message* message) {
  free(message->data);
  free(message);
}

void messages_free(Messages* all) {
  while (all->messages != NULL) {
    Message* next = all->messages->next;
    message_free(all->messages);
    all->messages = next;
  }
  while (all->posted != NULL) {
    PostedReceive* next = all->posted->next;
    free(all->posted);
    all->posted = next;
  }
  while (all->first_event != NULL) {
    QueuedEvent* next = all->first_event->next;
    free(all->first_event->owned);
    free(all->first_event);
    all->first_event = next;
  }
}

/* ---- events ------------------------------------------------------------------------------------ */

static QueuedEvent* new_event(Messages* all) {
  QueuedEvent* queued = calloc(1, sizeof *queued);
  if (queued == NULL) return NULL;
  *all->last_event = queued;
  all->last_event = &queued->next;
  return queued;
}

bool messages_tell(Messages* all, DS_NetworkEventKind kind, uint64_t peer, uint64_t token, TF_Code code,
                   const char* text) {
  QueuedEvent* queued = new_event(all);
  if (queued == NULL) return false;
  DS_NetworkEvent* event = &queued->event;
  event->kind = kind;
  event->peer = peer;
  event->token = token;
  event->code = code;
  strncpy(event->message, text, sizeof event->message - 1);
  return true;
}

/* The host has set struct_size: what it does not know of is not written. */
bool messages_next_event(Messages* all, DS_NetworkEvent* out) {
  QueuedEvent* first = all->first_event;
  if (first == NULL) return false;
  const size_t size = out->struct_size;
  memcpy(out, &first->event, size < sizeof *out ? size : sizeof *out);
  out->struct_size = size;
  all->first_event = first->next;
  if (all->first_event == NULL) all->last_event = &all->first_event;
  free(first);
  return true;
}

/* ---- meeting ----------------------------------------------------------------------------------- */

static bool fits(const Receive* receive, uint64_t peer, Tag tag) {
  return (receive->peer == 0 || receive->peer == peer) &&
         (receive->tag.high & receive->mask.high) == (tag.high & receive->mask.high) &&
         (receive->tag.low & receive->mask.low) == (tag.low & receive->mask.low);
}

/* Hand a whole message to its receive; its data goes to the host, or with the message. */
static bool give(Messages* all, Message* message) {
  const Receive* receive = &message->receive;
  QueuedEvent* queued = new_event(all);
  if (queued == NULL) return false;
  DS_NetworkEvent* event = &queued->event;
  event->kind = DS_NETWORK_EVENT_RECEIVED;
  event->peer = message->peer;
  event->token = receive->token;
  event->tag_high = message->tag.high;
  event->tag_low = message->tag.low;
  event->size = message->size;
  if (receive->data == NULL) {
    event->data = queued->owned = message->data;
    message->data = NULL;
  } else if (message->size > receive->size) {
    event->code = TF_OUT_OF_RANGE;
    strncpy(event->message, "the message is larger than its receive", sizeof event->message - 1);
  } else {
    memcpy(receive->data, message->data, message->size);
    event->data = receive->data;
  }
  return true;
}

static void drop_message(Messages* all, Message* message) {
  Message** at = &all->messages;
  while (*at != message) at = &(*at)->next;
  *at = message->next;
  message_free(message);
}

Message* messages_begin(Messages* all, uint64_t peer, Tag tag, uint64_t size) {
  Message* message = calloc(1, sizeof *message);
  if (message == NULL) return NULL;
  message->data = malloc(size == 0 ? 1 : size);
  if (message->data == NULL) {
    free(message);
    return NULL;
  }
  message->peer = peer;
  message->tag = tag;
  message->size = size;
  for (PostedReceive** at = &all->posted; *at != NULL; at = &(*at)->next) {
    PostedReceive* posted = *at;
    if (!fits(&posted->receive, peer, tag)) continue;
    message->is_claimed = true;
    message->receive = posted->receive;
    *at = posted->next;
    free(posted);
    break;
  }
  Message** last = &all->messages;
  while (*last != NULL) last = &(*last)->next;
  *last = message;
  return message;
}

bool messages_finish(Messages* all, Message* message) {
  if (!message->is_claimed) return true;
  const bool given = give(all, message);
  drop_message(all, message);
  return given;
}

int messages_post(Messages* all, const Receive* receive, bool is_there) {
  for (Message* kept = all->messages; kept != NULL; kept = kept->next) {
    if (kept->is_claimed || !fits(receive, kept->peer, kept->tag)) continue;
    kept->is_claimed = true;
    kept->receive = *receive;
    if (kept->arrived < kept->size) return 1;
    return messages_finish(all, kept) ? 1 : -1;
  }
  if (!is_there) return 0;
  PostedReceive* posted = calloc(1, sizeof *posted);
  if (posted == NULL) return -1;
  posted->receive = *receive;
  PostedReceive** last = &all->posted;
  while (*last != NULL) last = &(*last)->next;
  *last = posted;
  return 1;
}

void messages_cancel(Messages* all, uint64_t token) {
  for (PostedReceive** at = &all->posted; *at != NULL;) {
    PostedReceive* posted = *at;
    if (posted->receive.token != token) {
      at = &posted->next;
      continue;
    }
    messages_tell(all, DS_NETWORK_EVENT_RECEIVED, posted->receive.peer, token, TF_CANCELLED, "it was cancelled");
    *at = posted->next;
    free(posted);
  }
}

void messages_lose(Messages* all, uint64_t peer, TF_Code code, const char* text) {
  for (Message* message = all->messages; message != NULL;) {
    Message* next = message->next;
    if (message->peer == peer && message->arrived < message->size) { /* the rest will not come */
      if (message->is_claimed) {
        messages_tell(all, DS_NETWORK_EVENT_RECEIVED, peer, message->receive.token, code, text);
      }
      drop_message(all, message);
    }
    message = next;
  }
  for (PostedReceive** at = &all->posted; *at != NULL;) {
    PostedReceive* posted = *at;
    if (posted->receive.peer != peer) {
      at = &posted->next;
      continue;
    }
    messages_tell(all, DS_NETWORK_EVENT_RECEIVED, peer, posted->receive.token, code, text);
    *at = posted->next;
    free(posted);
  }
}

uint64_t messages_unexpected(const Messages* all, uint64_t peer) {
  uint64_t bytes = 0;
  for (const Message* one = all->messages; one != NULL; one = one->next) {
    if (one->peer == peer && !one->is_claimed) bytes += one->size + sizeof *one;
  }
  return bytes;
}

bool messages_awaited(const Messages* all, uint64_t peer) {
  for (const Message* one = all->messages; one != NULL; one = one->next) {
    if (one->peer == peer && one->is_claimed && one->arrived < one->size) return true;
  }
  for (const PostedReceive* one = all->posted; one != NULL; one = one->next) {
    if (one->receive.peer == 0 || one->receive.peer == peer) return true;
  }
  return false;
}

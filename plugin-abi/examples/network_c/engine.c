#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* accept4, pipe2, struct ucred */
#endif
#include "engine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

const uint64_t kMagic = 0x31304550495053; /* "SPIPE01" */
enum { kMostPieces = 64, kReadAtOnce = 1 << 20 };

/* ---- making and ending ------------------------------------------------------------------------- */

Engine* engine_new(uint64_t max_message, uint64_t unexpected_bytes) {
  Engine* engine = calloc(1, sizeof *engine);
  if (engine == NULL) return NULL;
  if (pipe2(engine->bell, O_NONBLOCK | O_CLOEXEC) != 0) {
    free(engine);
    return NULL;
  }
  engine->owner = getpid();
  engine->max_message = max_message == 0 ? UINT64_MAX : max_message;
  engine->unexpected_bytes = unexpected_bytes == 0 ? 64u << 20 : unexpected_bytes;
  engine->listener = -1;
  engine->next_id = 1;
  pthread_mutex_init(&engine->mutex, NULL);
  messages_init(&engine->messages);
  return engine;
}

static void peer_free(Peer* peer) {
  close(peer->fd);
  while (peer->outgoing != NULL) {
    Outgoing* next = peer->outgoing->next;
    free(peer->outgoing);
    peer->outgoing = next;
  }
  free(peer);
}

void engine_free(Engine* engine) {
  while (engine->peers != NULL) {
    Peer* next = engine->peers->next;
    peer_free(engine->peers);
    engine->peers = next;
  }
  if (engine->listener >= 0) close(engine->listener);
  close(engine->bell[0]);
  close(engine->bell[1]);
  messages_free(&engine->messages);
  pthread_mutex_destroy(&engine->mutex);
  free(engine);
}

Peer* engine_add(Engine* engine, int fd) {
  Peer* peer = calloc(1, sizeof *peer);
  if (peer == NULL) return NULL;
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  peer->id = engine->next_id++;
  peer->fd = fd;
  peer->last_outgoing = &peer->outgoing;
  Peer** last = &engine->peers;
  while (*last != NULL) last = &(*last)->next;
  *last = peer;
  return peer;
}

Peer* engine_peer(const Engine* engine, uint64_t id) {
  Peer* peer = engine->peers;
  while (peer != NULL && peer->id != id) peer = peer->next;
  return peer;
}

void engine_end(Engine* engine, Peer* peer, TF_Code code, const char* text, bool tell) {
  for (Outgoing* one = peer->outgoing; one != NULL; one = one->next) {
    messages_tell(&engine->messages, DS_NETWORK_EVENT_SENT, peer->id, one->token, code, text);
  }
  messages_lose(&engine->messages, peer->id, code, text);
  if (tell) messages_tell(&engine->messages, DS_NETWORK_EVENT_LOST, peer->id, 0, code, text);
  Peer** at = &engine->peers;
  while (*at != peer) at = &(*at)->next;
  *at = peer->next;
  peer_free(peer);
}

void engine_ring(Engine* engine) {
  const char byte = 0;
  if (!engine->is_asleep) return;
  if (write(engine->bell[1], &byte, 1) < 0) return; /* it is full of bytes: it rings anyway */
}

/* ---- writing ----------------------------------------------------------------------------------- */

/* What is left of a message, in at most kMostPieces parts. */
static int left_of(const Outgoing* out, struct iovec* parts) {
  size_t skip = out->written;
  int count = 0;
  for (int k = -1; k < out->count && count < kMostPieces; ++k) {
    struct iovec part = k < 0 ? (struct iovec){(void*)&out->head, sizeof out->head} : out->pieces[k];
    const size_t passed = skip < part.iov_len ? skip : part.iov_len;
    skip -= passed;
    part.iov_base = (char*)part.iov_base + passed;
    part.iov_len -= passed;
    if (part.iov_len > 0) parts[count++] = part;
  }
  return count;
}

/* 1: to its end; 0: the socket is full; -1: the connection has ended, which reading finds out. */
static int write_one(int fd, Outgoing* out) {
  struct iovec parts[kMostPieces];
  int count;
  while ((count = left_of(out, parts)) > 0) {
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)count};
    const ssize_t written = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written >= 0) {
      out->written += (size_t)written;
    } else if (errno != EINTR) {
      return errno == EAGAIN || errno == ENOBUFS ? 0 : -1;
    }
  }
  return 1;
}

bool engine_write(Peer* peer) {
  Outgoing* first = peer->outgoing;
  if (first == NULL || write_one(peer->fd, first) != 1) return false;
  peer->outgoing = first->next;
  if (peer->outgoing == NULL) peer->last_outgoing = &peer->outgoing;
  free(first);
  return true;
}

/* As the socket has room: each message that is done is told of. */
static void write_all(Engine* engine, Peer* peer) {
  while (peer->outgoing != NULL) {
    const uint64_t token = peer->outgoing->token;
    if (!engine_write(peer)) return;
    messages_tell(&engine->messages, DS_NETWORK_EVENT_SENT, peer->id, token, TF_OK, "");
  }
}

/* ---- reading ----------------------------------------------------------------------------------- */

/* Whether more may come of a peer: what nobody asks for is kept up to a bound. */
static bool may_read(const Engine* engine, const Peer* peer) {
  return messages_unexpected(&engine->messages, peer->id) <= engine->unexpected_bytes ||
         messages_awaited(&engine->messages, peer->id);
}

/* A head has come; what the peer says is not to be trusted. NULL, or why it is ended. */
static const char* take_head(Engine* engine, Peer* peer) {
  if (peer->head.magic != kMagic) return "it sends what is no message";
  if (peer->head.size > engine->max_message) return "it sends a message that is too large";
  const Tag tag = {peer->head.high, peer->head.low};
  peer->current = messages_begin(&engine->messages, peer->id, tag, peer->head.size);
  return peer->current == NULL ? "there is no memory for its message" : NULL;
}

static bool finish(Engine* engine, Peer* peer) {
  Message* message = peer->current;
  peer->current = NULL;
  peer->head_read = 0;
  return messages_finish(&engine->messages, message);
}

/* Read what there is, but not without end, so that others have their turn. False: the peer is gone. */
static bool read_some(Engine* engine, Peer* peer) {
  size_t most = kReadAtOnce;
  while (most > 0 && may_read(engine, peer)) {
    Message* message = peer->current;
    void* to = message == NULL ? (char*)&peer->head + peer->head_read
                               : (void*)(message->data + message->arrived);
    size_t wanted = message == NULL ? sizeof peer->head - peer->head_read : message->size - message->arrived;
    if (wanted > most) wanted = most;
    const ssize_t got = recv(peer->fd, to, wanted, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return true;
    if (got <= 0) {
      const bool in_the_middle = peer->head_read > 0;
      engine_end(engine, peer, in_the_middle ? TF_DATA_LOSS : TF_UNAVAILABLE,
                 in_the_middle ? "it has ended in the middle of a message" : "it has ended", true);
      return false;
    }
    most -= (size_t)got;
    if (message != NULL) {
      message->arrived += (uint64_t)got;
    } else {
      peer->head_read += (size_t)got;
      if (peer->head_read < sizeof peer->head) continue;
      const char* refused = take_head(engine, peer);
      if (refused != NULL) {
        engine_end(engine, peer, TF_INVALID_ARGUMENT, refused, true);
        return false;
      }
      message = peer->current;
    }
    if (message->arrived == message->size && !finish(engine, peer)) {
      engine_end(engine, peer, TF_RESOURCE_EXHAUSTED, "there is no memory to tell of its message", true);
      return false;
    }
  }
  return true;
}

/* ---- progress ---------------------------------------------------------------------------------- */

/* Take who has connected, if it is of the same user: names of sockets are open to all. */
static void accept_all(Engine* engine) {
  int fd;
  while ((fd = accept4(engine->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
    struct ucred other;
    socklen_t size = sizeof other;
    const bool is_ours =
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 && other.uid == geteuid();
    const Peer* peer = is_ours ? engine_add(engine, fd) : NULL;
    if (peer == NULL) {
      close(fd);
    } else {
      messages_tell(&engine->messages, DS_NETWORK_EVENT_ACCEPTED, peer->id, 0, TF_OK, "");
    }
  }
}

typedef struct Watched {
  struct pollfd* fds; /* the bell, the listener, then peers */
  uint64_t* ids;
  nfds_t count;
} Watched;

static bool watch(const Engine* engine, Watched* out) {
  nfds_t count = 2;
  for (const Peer* peer = engine->peers; peer != NULL; peer = peer->next) ++count;
  out->fds = calloc(count, sizeof *out->fds);
  out->ids = calloc(count, sizeof *out->ids);
  if (out->fds == NULL || out->ids == NULL) return false;
  out->fds[0] = (struct pollfd){.fd = engine->bell[0], .events = POLLIN};
  out->fds[1] = (struct pollfd){.fd = engine->listener, .events = POLLIN};
  out->count = 2;
  for (const Peer* peer = engine->peers; peer != NULL; peer = peer->next) {
    short events = may_read(engine, peer) ? POLLIN : 0;
    if (peer->outgoing != NULL) events |= POLLOUT;
    /* One that is not to be read from must not wake us by its end either. */
    out->fds[out->count] = (struct pollfd){.fd = events == 0 ? -1 : peer->fd, .events = events};
    out->ids[out->count++] = peer->id;
  }
  return true;
}

static void serve(Engine* engine, const Watched* watched) {
  char bytes[64];
  if (watched->fds[0].revents != 0) {
    while (read(engine->bell[0], bytes, sizeof bytes) > 0) continue;
  }
  if (watched->fds[1].revents != 0) accept_all(engine);
  for (nfds_t k = 2; k < watched->count; ++k) {
    const short what = watched->fds[k].revents;
    Peer* peer = what == 0 ? NULL : engine_peer(engine, watched->ids[k]); /* or it was ended meanwhile */
    if (peer == NULL) continue;
    if ((what & (POLLIN | POLLHUP | POLLERR)) != 0 && !read_some(engine, peer)) continue;
    if ((what & POLLOUT) != 0) write_all(engine, peer);
  }
}

static int64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Milliseconds to sleep, rounded up; -1 without end. */
static int to_wait(int64_t timeout_us, int64_t until) {
  if (timeout_us < 0) return -1;
  const int64_t left = timeout_us == 0 ? 0 : until - now_us();
  return left <= 0 ? 0 : left > 1000000000 ? 1000000 : (int)((left + 999) / 1000);
}

static int32_t fill(Engine* engine, DS_NetworkEvent* const* events, int32_t room) {
  int32_t count = 0;
  while (count < room && messages_next_event(&engine->messages, events[count])) ++count;
  return count;
}

/* The mutex is held, but for the sleep. */
static int32_t progress_locked(Engine* engine, int64_t timeout_us, DS_NetworkEvent* const* events,
                               int32_t room) {
  const int64_t until = timeout_us > 0 ? now_us() + timeout_us : 0;
  for (bool is_over = false;;) {
    const int32_t count = fill(engine, events, room);
    if (count > 0 || is_over) return count;
    if (engine->is_woken) {
      engine->is_woken = false;
      return 0;
    }
    Watched watched = {0};
    if (!watch(engine, &watched)) {
      free(watched.fds);
      free(watched.ids);
      return -1;
    }
    const int wait = to_wait(timeout_us, until);
    engine->is_asleep = true;
    pthread_mutex_unlock(&engine->mutex);
    const int ready = poll(watched.fds, watched.count, wait);
    pthread_mutex_lock(&engine->mutex);
    engine->is_asleep = false;
    if (ready > 0) serve(engine, &watched);
    free(watched.fds);
    free(watched.ids);
    is_over = timeout_us == 0 || (timeout_us > 0 && now_us() >= until);
  }
}

int32_t engine_progress(Engine* engine, int64_t timeout_us, DS_NetworkEvent* const* events, int32_t room) {
  pthread_mutex_lock(&engine->mutex);
  const int32_t count = progress_locked(engine, timeout_us, events, room);
  pthread_mutex_unlock(&engine->mutex);
  return count;
}

/* A network transport in C: messages between processes of one machine, for addresses "pipedemo://name".
 *
 * Connections are Unix sockets with names that are no files, so that nothing is left behind. Messages are
 * copied once on each side. Start in this file: it is the table that drystone/network.h describes; the
 * engine behind it is in engine.c, and how messages meet receives in messages.c.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* what engine.h needs */
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "drystone/network.h"
#include "drystone/platform_strings.h"
#include "engine.h"

TF_PLATFORM_STRINGS()

#define SCHEME "pipedemo"
#define PREFIX SCHEME "://"

/* The engine with its mutex held, or NULL with FAILED_PRECONDITION: after fork it is the parent's. */
static Engine* locked(void* handle, TF_Status* status) {
  Engine* engine = handle;
  if (engine->owner != getpid()) {
    if (status != NULL) TF_SetStatus(status, TF_FAILED_PRECONDITION, "the engine is another process's");
    return NULL;
  }
  pthread_mutex_lock(&engine->mutex);
  return engine;
}

static void unlock(Engine* engine) { pthread_mutex_unlock(&engine->mutex); }

/* ---- engines ----------------------------------------------------------------------------------- */

static void* open_engine(const DS_NetworkTransport* transport, const DS_NetworkOptions* options,
                         TF_Status* status) {
  (void)transport;
  Engine* engine = engine_new(options->max_message, options->unexpected_bytes);
  if (engine == NULL) TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory or file for an engine");
  return engine;
}

/* In the child of a fork, too: it has descriptors of its own, whose end the parent's do not notice. */
static void close_engine(void* handle) { engine_free(handle); }

static int32_t progress(void* handle, int64_t timeout_us, DS_NetworkEvent* const* events, int32_t room,
                        TF_Status* status) {
  Engine* engine = locked(handle, status);
  if (engine == NULL) return -1;
  unlock(engine);
  const int32_t count = engine_progress(engine, timeout_us, events, room);
  if (count < 0) TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory to wait for peers");
  return count;
}

static void wake(void* handle) {
  Engine* engine = locked(handle, NULL);
  if (engine == NULL) return;
  engine->is_woken = true;
  engine_ring(engine);
  unlock(engine);
}

/* ---- addresses --------------------------------------------------------------------------------- */

/* The socket address of "pipedemo://name"; 0 where that is none. */
static socklen_t address_of(const char* text, struct sockaddr_un* out, TF_Status* status) {
  const size_t prefix = strlen(PREFIX);
  const size_t size = strlen(text) < prefix ? 0 : strlen(text) - prefix;
  if (strncmp(text, PREFIX, prefix) != 0 || size == 0 || size > sizeof out->sun_path - 1) {
    TF_SetStatus(status, TF_INVALID_ARGUMENT, "an address is " PREFIX "NAME, of at most 107 bytes");
    return 0;
  }
  memset(out, 0, sizeof *out); /* a name that begins with 0 is no file */
  out->sun_family = AF_UNIX;
  memcpy(out->sun_path + 1, text + prefix, size);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + size);
}

static void fail(TF_Status* status, const char* what) {
  const TF_Code code = errno == EADDRINUSE       ? TF_ALREADY_EXISTS
                       : errno == ECONNREFUSED   ? TF_UNAVAILABLE
                       : errno == ENOENT         ? TF_UNAVAILABLE
                       : errno == EMFILE         ? TF_RESOURCE_EXHAUSTED
                                                 : TF_INTERNAL;
  char text[160];
  snprintf(text, sizeof text, "%s: %s", what, strerror(errno));
  TF_SetStatus(status, code, text);
}

static void free_text(void* data, size_t size) {
  (void)size;
  free(data);
}

static void listen_at(void* handle, const char* address, TF_Buffer* bound, TF_Status* status) {
  char own[64]; /* a name of this engine's own, where none is given */
  snprintf(own, sizeof own, PREFIX "%ld-%p", (long)getpid(), handle);
  if (strcmp(address, PREFIX) == 0) address = own;
  struct sockaddr_un place;
  const socklen_t size = address_of(address, &place, status);
  Engine* engine = size == 0 ? NULL : locked(handle, status);
  if (engine == NULL) return;
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  char* text = strdup(address);
  if (engine->listener >= 0) {
    TF_SetStatus(status, TF_ALREADY_EXISTS, "the engine listens already");
  } else if (fd < 0 || text == NULL || bind(fd, (struct sockaddr*)&place, size) != 0 || listen(fd, 128) != 0) {
    fail(status, "it cannot be listened there");
  } else {
    engine->listener = fd;
    *bound = (TF_Buffer){text, strlen(text), free_text};
    engine_ring(engine);
    unlock(engine);
    return;
  }
  if (fd >= 0) close(fd);
  free(text);
  unlock(engine);
}

static uint64_t connect_to(void* handle, const char* address, TF_Status* status) {
  struct sockaddr_un place;
  const socklen_t size = address_of(address, &place, status);
  Engine* engine = size == 0 ? NULL : locked(handle, status);
  if (engine == NULL) return 0;
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  Peer* peer = NULL;
  if (fd < 0 || connect(fd, (struct sockaddr*)&place, size) != 0) {
    fail(status, "nobody listens there");
  } else if ((peer = engine_add(engine, fd)) == NULL) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for a peer");
  }
  if (peer == NULL && fd >= 0) close(fd);
  const uint64_t id = peer == NULL ? 0 : peer->id;
  engine_ring(engine); /* who sleeps in `progress` watches it, too */
  unlock(engine);
  return id;
}

static void disconnect(void* handle, uint64_t id) {
  Engine* engine = locked(handle, NULL);
  if (engine == NULL) return;
  Peer* peer = engine_peer(engine, id);
  if (peer != NULL) engine_end(engine, peer, TF_CANCELLED, "it was disconnected", false);
  engine_ring(engine);
  unlock(engine);
}

/* ---- messages ---------------------------------------------------------------------------------- */

/* The message as one that waits to be written; NULL with a status. */
static Outgoing* outgoing(const Engine* engine, Tag tag, const void* const* pieces, const size_t* sizes,
                          int32_t count, uint64_t token, TF_Status* status) {
  uint64_t size = 0;
  for (int32_t k = 0; k < count; ++k) size += sizes[k];
  if (size > engine->max_message) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "the message is larger than the engine allows");
    return NULL;
  }
  Outgoing* out = calloc(1, sizeof *out + (size_t)count * sizeof out->pieces[0]);
  if (out == NULL) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for a message");
    return NULL;
  }
  out->token = token;
  out->head = (Head){kMagic, tag.high, tag.low, size};
  out->count = count;
  for (int32_t k = 0; k < count; ++k) out->pieces[k] = (struct iovec){(void*)pieces[k], sizes[k]};
  return out;
}

static int32_t send_message(void* handle, uint64_t id, uint64_t high, uint64_t low, const void* const* pieces,
                            const size_t* sizes, int32_t count, uint64_t token, TF_Status* status) {
  Engine* engine = locked(handle, status);
  if (engine == NULL) return -1;
  Peer* peer = engine_peer(engine, id);
  Outgoing* out = NULL;
  if (peer == NULL) {
    TF_SetStatus(status, TF_NOT_FOUND, "there is no such peer");
  } else {
    out = outgoing(engine, (Tag){high, low}, pieces, sizes, count, token, status);
  }
  int32_t done = -1;
  if (out != NULL) {
    const bool is_first = peer->outgoing == NULL;
    *peer->last_outgoing = out;
    peer->last_outgoing = &out->next;
    done = is_first && engine_write(peer) ? 1 : 0;
    if (done == 0) engine_ring(engine); /* `progress` goes on with it */
  }
  unlock(engine);
  return done;
}

static void receive(void* handle, uint64_t id, uint64_t high, uint64_t low, uint64_t mask_high,
                    uint64_t mask_low, void* data, size_t size, uint64_t token, TF_Status* status) {
  Engine* engine = locked(handle, status);
  if (engine == NULL) return;
  const Receive posted = {id, token, {high, low}, {mask_high, mask_low}, data, size};
  const bool is_there = id == 0 || engine_peer(engine, id) != NULL;
  const int answer = messages_post(&engine->messages, &posted, is_there);
  if (answer == 0) TF_SetStatus(status, TF_NOT_FOUND, "there is no such peer");
  if (answer < 0) TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for a receive");
  engine_ring(engine); /* there may be something to tell, or to read again */
  unlock(engine);
}

static void release(void* data) { free(data); }

static void cancel(void* handle, uint64_t token) {
  Engine* engine = locked(handle, NULL);
  if (engine == NULL) return;
  messages_cancel(&engine->messages, token);
  for (Peer* peer = engine->peers; peer != NULL; peer = peer->next) {
    for (Outgoing** at = &peer->outgoing; *at != NULL;) {
      Outgoing* one = *at;
      if (one->token != token || one->written > 0) { /* what is half sent is sent to its end */
        at = &one->next;
        continue;
      }
      messages_tell(&engine->messages, DS_NETWORK_EVENT_SENT, peer->id, token, TF_CANCELLED, "it was cancelled");
      *at = one->next;
      if (*at == NULL) peer->last_outgoing = at;
      free(one);
    }
  }
  engine_ring(engine);
  unlock(engine);
}

/* ---- what is registered ------------------------------------------------------------------------ */

static const DS_NetworkFns kFns = {
    .struct_size = DS_NETWORK_FNS_STRUCT_SIZE,
    .open = open_engine,
    .close = close_engine,
    .progress = progress,
    .wake = wake,
    .listen = listen_at,
    .connect = connect_to,
    .disconnect = disconnect,
    .send = send_message,
    .receive = receive,
    .release = release,
    .cancel = cancel,
};

static const DS_NetworkTransport kTransport = {
    .struct_size = DS_NETWORK_TRANSPORT_STRUCT_SIZE,
    .scheme = SCHEME,
    .capabilities = DS_NETWORK_ORDERED | DS_NETWORK_ONE_MACHINE,
    .fns = &kFns,
};

static const DS_NetworkTransport* const kAll[] = {&kTransport};

void DS_InitNetwork(DS_NetworkRegistrationParams* params, TF_Status* status) {
  (void)status;
  params->major_version = DS_NETWORK_MAJOR;
  params->minor_version = DS_NETWORK_MINOR;
  params->patch_version = DS_NETWORK_PATCH;
  params->num_transports = 1;
  params->transports = kAll;
}

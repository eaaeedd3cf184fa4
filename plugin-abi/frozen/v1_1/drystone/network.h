/* drystone/network.h: a transport that carries messages between processes, from a plugin.
 *
 * Entry symbol: DS_InitNetwork, called once. A drystone interface, as the prefix DS_ says:
 * TensorFlow has none. Since ABI 1.1.
 *
 * A library offers one or more transports, each under a scheme ("tcp" for "tcp://host:port"). The
 * host opens engines of a transport. An engine listens and connects; what it is connected to are
 * peers, each known by a number. Messages have a tag of 128 bits, and go to receives that were
 * posted for their tag. What ends (a send, a receive), and what happens to peers, are events, which
 * `progress` answers.
 *
 * Order: messages of one peer are matched in the order in which they were sent, each with the
 * receive that was posted first among those that fit. So messages of one tag stay in order, and
 * those of different tags may be received in any order.
 * Back-pressure: what arrives before its receive is kept by the engine, at most `unexpected_bytes`
 * for each peer; beyond that it reads no more from the peer, unless a posted receive waits for that
 * peer. The other side's sends then end later. No send ever waits in the call.
 * Threads: all functions of an engine may be called from any thread, also while another is in
 * `progress`; one thread at a time is in `progress`, and nothing is called during or after `close`.
 * After fork an engine is the parent's alone: in the child its functions fail with
 * FAILED_PRECONDITION, and `close` frees what is the child's without harm to the parent.
 * Sizes: each struct begins with struct_size, which the plugin sets in what it registers to the size
 * that it was compiled with; members beyond it count as null, and zero is an error. Structs that
 * the host hands over state the host's size: look at
 * DRYSTONE_HAS_MEMBER before reading a member newer than this file's first release.
 * Memory: what the host hands over lives until the function returns, unless said otherwise.
 * Statuses: the last argument is fresh and OK; set it on failure. No failure ends the process.
 * Waiting: `progress` sleeps until something happens; a transport that polls uses up the processor
 * that the kernels need.
 */
#ifndef DRYSTONE_NETWORK_H_
#define DRYSTONE_NETWORK_H_

#include <stddef.h>
#include <stdint.h>

#include "drystone/buffer.h"
#include "drystone/macros.h"
#include "drystone/status.h"

/* Version of this interface. A host refuses another major version; minor and patch are recorded. */
#define DS_NETWORK_MAJOR 0
#define DS_NETWORK_MINOR 1
#define DS_NETWORK_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Values ---------------------------------------------------------------------------------- */

/* What an engine is opened with; 0 and NULL mean the transport's default. */
typedef struct DS_NetworkOptions {
  size_t struct_size;
  void* ext;                 /* reserved */
  uint64_t max_message;      /* a larger one is refused by `send`, and ends the peer that sends it */
  uint64_t unexpected_bytes; /* kept of one peer before their receives are posted */
  int64_t connect_us;        /* how long `connect` may wait */
} DS_NetworkOptions;
#define DS_NETWORK_OPTIONS_STRUCT_SIZE TF_OFFSET_OF_END(DS_NetworkOptions, connect_us)

typedef enum DS_NetworkEventKind {
  DS_NETWORK_EVENT_NONE = 0,
  DS_NETWORK_EVENT_ACCEPTED = 1, /* `peer` has connected to a listener of this engine */
  DS_NETWORK_EVENT_SENT = 2,     /* the send of `token` is done: its memory is the caller's again */
  DS_NETWORK_EVENT_RECEIVED = 3, /* the receive of `token` is done; or it failed, see `code` */
  DS_NETWORK_EVENT_LOST = 4      /* `peer` is gone, as `code` and `message` say; its number is free
                                  * of use. The events of its sends and receives came before */
} DS_NetworkEventKind;

/* What happened. The host presets struct_size, and the rest to 0; the engine fills it in. */
typedef struct DS_NetworkEvent {
  size_t struct_size;
  int32_t kind;      /* a DS_NetworkEventKind */
  int32_t code;      /* a TF_Code: OK, or why the operation failed: CANCELLED by `cancel`,
                      * UNAVAILABLE where the peer is gone, OUT_OF_RANGE where the message is larger
                      * than the memory of its receive (it is then dropped), DATA_LOSS or
                      * INVALID_ARGUMENT where a peer sent what is no message */
  uint64_t peer;
  uint64_t token;    /* the caller's, of the operation */
  uint64_t tag_high; /* RECEIVED: of the message */
  uint64_t tag_low;
  uint64_t size;     /* RECEIVED: bytes of the message, also where it was too large */
  void* data;        /* RECEIVED: where they are: the memory of the receive, or where it gave none
                      * the engine's, until `release` */
  char message[128]; /* LOST, and operations that failed: what was found, NUL-terminated */
} DS_NetworkEvent;
#define DS_NETWORK_EVENT_STRUCT_SIZE TF_OFFSET_OF_END(DS_NetworkEvent, message)

/* Bits of DS_NetworkTransport.capabilities. */
typedef enum DS_NetworkCapability {
  DS_NETWORK_ORDERED = 1,         /* the order above holds; the host needs it */
  DS_NETWORK_ONE_MACHINE = 2,     /* reaches processes of this machine alone */
  DS_NETWORK_ZERO_COPY = 4,       /* a message with a posted receive goes into its memory directly */
  DS_NETWORK_REMOTE_MEMORY = 8,   /* put and get are there */
  DS_NETWORK_DEVICE_MEMORY = 16   /* registered memory may be a device's */
} DS_NetworkCapability;

/* ---- What a plugin fills in ------------------------------------------------------------------ */

/* The transport itself. Like all that a plugin registers it lives as long as the library. */
typedef struct DS_NetworkTransport {
  size_t struct_size;
  void* ext;            /* the plugin's */
  const char* scheme;   /* required, without "://": a small letter, then small letters, digits, "+",
                         * "-", "." */
  uint64_t max_message; /* bytes of the largest message; 0: no bound of its own */
  uint32_t capabilities;
  const struct DS_NetworkFns* fns; /* required */
} DS_NetworkTransport;
#define DS_NETWORK_TRANSPORT_STRUCT_SIZE TF_OFFSET_OF_END(DS_NetworkTransport, fns)

/* What it does. The members are required down to `release`. */
typedef struct DS_NetworkFns {
  size_t struct_size;
  void* ext; /* reserved */
  /* A new engine, or NULL with a status that says why. */
  void* (*open)(const DS_NetworkTransport* transport, const DS_NetworkOptions* options,
                TF_Status* status);
  /* End an engine: peers see it as gone, operations end without events. */
  void (*close)(void* engine);
  /* Wait until there are events, at most `timeout_us` (0: do not wait, below 0: without end), and
   * answer how many of at most `room` were filled in; 0 where the time is over, or `wake` was called.
   * -1 with a status where the engine is broken. */
  int32_t (*progress)(void* engine, int64_t timeout_us, DS_NetworkEvent* const* events,
                      int32_t room, TF_Status* status);
  /* Have `progress` return, or the next call of it where none is under way. */
  void (*wake)(void* engine);
  /* Accept peers at an address. `bound` is empty: fill it as drystone/buffer.h says with the address
   * that others connect to, which has a port, or name, where the one given left it open
   * ("tcp://127.0.0.1:0", "unix://", "shm://"). ALREADY_EXISTS where the address is taken. */
  void (*listen)(void* engine, const char* address, TF_Buffer* bound, TF_Status* status);
  /* A peer at an address. UNAVAILABLE where none listens; DEADLINE_EXCEEDED. Never 0. */
  uint64_t (*connect)(void* engine, const char* address, TF_Status* status);
  /* End a peer; its operations fail with CANCELLED, and no LOST follows. Unknown numbers do nothing.
   * What was sent and not yet handed on is lost. */
  void (*disconnect)(void* engine, uint64_t peer);
  /* Send a message of `count` pieces of memory, which follow one another on the way. 1: it is done,
   * and no event follows; 0: the memory of the pieces (not the arrays) is the engine's until SENT of
   * `token`; -1 with a status: RESOURCE_EXHAUSTED where it is too large, NOT_FOUND where there is no
   * such peer. A message that is done may still be on its way. */
  int32_t (*send)(void* engine, uint64_t peer, uint64_t tag_high, uint64_t tag_low,
                  const void* const* pieces, const size_t* sizes, int32_t count, uint64_t token,
                  TF_Status* status);
  /* Post a receive for messages of `peer` (0: of any) whose tag is the given one in the bits that
   * are 1 in the mask. `data` with room for `size` bytes is the engine's until RECEIVED of `token`;
   * NULL: the engine gives memory of its own. NOT_FOUND where there is no such peer, and no message
   * of it that fits was kept. */
  void (*receive)(void* engine, uint64_t peer, uint64_t tag_high, uint64_t tag_low,
                  uint64_t mask_high, uint64_t mask_low, void* data, size_t size, uint64_t token,
                  TF_Status* status);
  /* Give back what an event had in `data` where the receive had given no memory. From any thread, and
   * also after `close`. */
  void (*release)(void* data);
  /* Have the send or receive of `token` end: with its event as if nothing had happened where it is
   * too late for that, else with CANCELLED. A message that is half sent is sent to its end. NULL:
   * operations cannot be cancelled. */
  void (*cancel)(void* engine, uint64_t token);
  /* A descriptor that is readable when `progress` has something to do, for loops of the host's own.
   * It stays the engine's. NULL, or an answer of -1: there is none. */
  int (*event_fd)(void* engine);
  /* All or none of what follows. Let others reach memory: a handle of this engine's, and the bytes,
   * at most 256 and for `bound`, that the other side needs to name it. */
  void* (*register_memory)(void* engine, void* data, size_t size, TF_Buffer* name,
                           TF_Status* status);
  void (*deregister_memory)(void* engine, void* handle);
  /* Write to, or read from, memory of the peer's from `offset` on; answers as `send`, with SENT. */
  int32_t (*put)(void* engine, uint64_t peer, const void* name, size_t name_size, uint64_t offset,
                 const void* data, size_t size, uint64_t token, TF_Status* status);
  int32_t (*get)(void* engine, uint64_t peer, const void* name, size_t name_size, uint64_t offset,
                 void* data, size_t size, uint64_t token, TF_Status* status);
} DS_NetworkFns;
#define DS_NETWORK_FNS_STRUCT_SIZE TF_OFFSET_OF_END(DS_NetworkFns, get)

/* Argument of DS_InitNetwork. */
typedef struct DS_NetworkRegistrationParams {
  size_t struct_size;
  void* ext;             /* reserved */
  int32_t major_version; /* preset to the host's DS_NETWORK_MAJOR ...; the plugin writes its own */
  int32_t minor_version;
  int32_t patch_version;
  int32_t num_transports; /* preset to 0 */
  const DS_NetworkTransport* const* transports;
} DS_NetworkRegistrationParams;
#define DS_NETWORK_REGISTRATION_PARAMS_STRUCT_SIZE \
  TF_OFFSET_OF_END(DS_NetworkRegistrationParams, transports)

/* Entry symbol, exported by the plugin. A status other than OK refuses the transport. A scheme that
 * is taken is an error. */
TF_CAPI_EXPORT void DS_InitNetwork(DS_NetworkRegistrationParams* params, TF_Status* status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DRYSTONE_NETWORK_H_ */

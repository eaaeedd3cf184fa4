// What Python calls of the data plane, by ctypes. Not part of the plugin contract: both sides are of one
// wheel. A pointer that a function answers is deleted by the function that says so.
#ifndef DRYSTONE_LINKS_API_H_
#define DRYSTONE_LINKS_API_H_

#include <stddef.h>
#include <stdint.h>

#include "drystone/network.h"
#include "drystone/rendezvous.h"

extern "C" {

// A value that came, for Python: NULL `owner` where none did. `dtype` 0: a dead one.
struct drystone_links_Value {
  void* owner;
  int32_t dtype;
  int32_t rank;
  const int64_t* dims;
  void* data;
  size_t size;
};

// `tag`: the second number of the tags of values that come here, which those know who may send some.
TF_CAPI_EXPORT void* drystone_links_new(const DS_NetworkFns* fns, void* engine, uint64_t tag,
                                        uint64_t under_way, uint64_t early);
// The engine may be closed after it.
TF_CAPI_EXPORT void drystone_links_close(void* links);
TF_CAPI_EXPORT void drystone_links_delete(void* links);
TF_CAPI_EXPORT int32_t drystone_links_progress(void* links, int64_t timeout_us,
                                               DS_NetworkEvent* const* events, int32_t room,
                                               TF_Status* status);
// Values of a peer are a task's.
TF_CAPI_EXPORT void drystone_links_admit(void* links, uint64_t peer, int32_t task);
// Values for a task go to a peer, by the tag that it has said.
TF_CAPI_EXPORT void drystone_links_route(void* links, int32_t task, uint64_t peer, uint64_t tag);
TF_CAPI_EXPORT void drystone_links_forget(void* links, uint64_t peer);

TF_CAPI_EXPORT void* drystone_links_edges_new(void);
TF_CAPI_EXPORT void drystone_links_edges_add(void* edges, const char* key, int32_t other,
                                             int32_t sends);
TF_CAPI_EXPORT void drystone_links_edges_delete(void* edges);

// A run begins, which ends at a moment of the monotonic clock; NULL where it has ended before.
TF_CAPI_EXPORT void* drystone_links_begin(void* links, uint64_t step, const void* edges, double ends);
// It has ended, also where it has not begun: what comes of it is dropped.
TF_CAPI_EXPORT void drystone_links_end(void* links, uint64_t step);
TF_CAPI_EXPORT void drystone_links_step_delete(void* step);
TF_CAPI_EXPORT void drystone_links_abort(void* step);
// Keys that are waited for, one a line, in at most `size` bytes with the NUL.
TF_CAPI_EXPORT void drystone_links_awaited(const void* step, char* text, size_t size);
// The table by which kernels send and receive in the run, without waiting for Python: answers
// UNIMPLEMENTED for what Python is to do, or to say.
TF_CAPI_EXPORT const TF_RendezvousThunk* drystone_links_table(void* step);
// CANCELLED where the run has ended, UNAVAILABLE where the task is gone, RESOURCE_EXHAUSTED for what is
// too large. The bytes are copied.
TF_CAPI_EXPORT void drystone_links_send(void* step, const char* key, const drystone_links_Value* value,
                                        TF_Status* status);
// Waits.
TF_CAPI_EXPORT void drystone_links_receive(void* step, const char* key, drystone_links_Value* value);
TF_CAPI_EXPORT void drystone_links_value_delete(void* owner);

}  // extern "C"

#endif  // DRYSTONE_LINKS_API_H_

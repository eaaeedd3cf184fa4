#include "links_api.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>

#include "links.h"

namespace drystone::links {
namespace {

using LinksPtr = std::shared_ptr<Links>;

// A run, and the table of it that kernels have.
struct Held {
  std::shared_ptr<Step> step;
  TF_RendezvousThunk table;
};

Links& links_of(void* links) { return **static_cast<LinksPtr*>(links); }
Step& step_of(void* step) { return *static_cast<Held*>(step)->step; }

std::string key_of(const TF_RendezvousParsedKey& key) { return {key.full_key, key.full_key_size}; }

// No exception leaves the library: where memory is exhausted, Python comes to know when it tries itself.
template <class Body>
auto safely(Body&& body, decltype(body()) otherwise) noexcept {
  try {
    return body();
  } catch (const std::exception&) {
    return otherwise;
  }
}

void send(void* step, TF_RendezvousSend_Params* params) {
  const Sent sent = safely(
      [&] { return step_of(step).send(key_of(*params->key), params->is_dead ? nullptr : params->tensor); },
      Sent::foreign);
  if (sent != Sent::yes) TF_SetStatus(params->status, TF_UNIMPLEMENTED, "Python sends it, or says why not");
}

void receive(void* held, TF_RendezvousAsyncRecv_Params* params) {
  const std::shared_ptr<Step> step = static_cast<Held*>(held)->step;  // for as long as it is waited in
  Tensor tensor;
  bool is_dead = false;
  const bool came = safely(
      [&] {
        Incoming value;
        if (!step->receive(key_of(*params->key), &value)) return false;
        is_dead = value.dtype == static_cast<TF_DataType>(0);
        if (!is_dead) tensor = Incoming::tensor(std::move(value));
        return true;
      },
      false);
  TF_Status* const status = TF_NewStatus();
  if (!came) {
    TF_SetStatus(status, TF_UNIMPLEMENTED, "Python receives it, or says why not");
  } else if (tensor == nullptr && !is_dead) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "there is no memory for a value that another task sent");
  }
  TF_RendezvousDoneCallback_Params answer{params->on_done.context, status, tensor.get(), is_dead};
  params->on_done.callback(params->on_done.context, &answer);
  TF_DeleteStatus(status);
}

void abort_step(void* step, const TF_Status*) { step_of(step).abort(); }

}  // namespace
}  // namespace drystone::links

using namespace drystone::links;

void* drystone_links_new(const DS_NetworkFns* fns, void* engine, uint64_t tag, uint64_t under_way,
                         uint64_t early) {
  return new LinksPtr(std::make_shared<Links>(fns, engine, tag, Limits{under_way, early}));
}
void drystone_links_close(void* links) { links_of(links).close(); }
void drystone_links_delete(void* links) { delete static_cast<LinksPtr*>(links); }

int32_t drystone_links_progress(void* links, int64_t timeout_us, DS_NetworkEvent* const* events,
                                int32_t room, TF_Status* status) {
  try {
    return links_of(links).progress(timeout_us, events, room, status);
  } catch (const std::exception& error) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, error.what());
    return -1;
  }
}

void drystone_links_admit(void* links, uint64_t peer, int32_t task) { links_of(links).admit(peer, task); }
void drystone_links_route(void* links, int32_t task, uint64_t peer, uint64_t tag) {
  links_of(links).route(task, peer, tag);
}
void drystone_links_forget(void* links, uint64_t peer) { links_of(links).forget(peer); }

void* drystone_links_edges_new() { return new std::shared_ptr<Edges>(std::make_shared<Edges>()); }
void drystone_links_edges_add(void* edges, const char* key, int32_t other, int32_t sends) {
  (**static_cast<std::shared_ptr<Edges>*>(edges))[key] = {other, sends != 0};
}
void drystone_links_edges_delete(void* edges) { delete static_cast<std::shared_ptr<Edges>*>(edges); }

void* drystone_links_begin(void* links, uint64_t step, const void* edges, double ends) {
  auto begun = links_of(links).begin(step, *static_cast<const std::shared_ptr<Edges>*>(edges), ends);
  if (begun == nullptr) return nullptr;
  auto* held = new Held{std::move(begun), {nullptr, send, receive, abort_step}};
  held->table.rendezvous = held;
  return held;
}
void drystone_links_end(void* links, uint64_t step) { links_of(links).end(step); }
void drystone_links_step_delete(void* step) { delete static_cast<Held*>(step); }
void drystone_links_abort(void* step) { step_of(step).abort(); }

void drystone_links_awaited(const void* step, char* text, size_t size) {
  const std::string keys = static_cast<const Held*>(step)->step->awaited();
  const size_t count = std::min(keys.size(), size - 1);
  std::memcpy(text, keys.data(), count);
  text[count] = '\0';
}

const TF_RendezvousThunk* drystone_links_table(void* step) { return &static_cast<Held*>(step)->table; }

void drystone_links_send(void* step, const char* key, const drystone_links_Value* value,
                         TF_Status* status) {
  const std::span dims(value->dims, static_cast<std::size_t>(value->rank));
  const std::span data(static_cast<const unsigned char*>(value->data), value->size);
  std::string why;
  const Sent sent = safely(
      [&] {
        Step& run = step_of(step);
        return run.send(key, outgoing(run.id(), key, static_cast<TF_DataType>(value->dtype), dims, data), &why);
      },
      Sent::refused);
  switch (sent) {
    case Sent::yes: return;
    case Sent::stopped: TF_SetStatus(status, TF_CANCELLED, "the run has ended"); return;
    case Sent::lost:
      TF_SetStatus(status, TF_UNAVAILABLE, why.empty() ? "it has closed its connection" : why.c_str());
      return;
    case Sent::refused:
      TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, why.empty() ? "memory is exhausted" : why.c_str());
      return;
    case Sent::foreign: TF_SetStatus(status, TF_INVALID_ARGUMENT, "no edge to another task"); return;
  }
}

void drystone_links_receive(void* step, const char* key, drystone_links_Value* value) {
  *value = {};
  const std::string name = key;
  auto came = std::make_unique<Incoming>();
  if (!step_of(step).receive(name, came.get())) return;
  Incoming* const owner = came.release();
  *value = {owner, static_cast<int32_t>(owner->dtype), static_cast<int32_t>(owner->dims.size()),
            owner->dims.data(), owner->data.data(), owner->data.size()};
}
void drystone_links_value_delete(void* owner) { delete static_cast<Incoming*>(owner); }

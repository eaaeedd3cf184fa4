// The entry function and the functions of the contract: "ucx://", "ucx+tcp://" and "ucx+shm://".
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "drystone/network.h"
#include "drystone/platform_strings.h"
#include "engine.h"
#include "failure.h"

TF_PLATFORM_STRINGS()

namespace drystone::ucx {
namespace {

constexpr std::uint64_t kMaxMessage = std::uint64_t{1} << 33;
constexpr std::uint64_t kUnexpected = std::uint64_t{64} << 20;
constexpr std::int64_t kConnectUs = 10'000'000;

// What `work` gives; where it fails, its failure as a status and `otherwise`.
template <typename Work, typename T>
T guarded(TF_Status* status, T otherwise, const Work& work) {
  try {
    return work();
  } catch (const Failure& failure) {
    TF_SetStatus(status, failure.code, failure.what());
  } catch (const std::bad_alloc&) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "there is no memory left");
  } catch (const std::exception& error) {
    TF_SetStatus(status, TF_INTERNAL, error.what());
  }
  return otherwise;
}

Engine* own(void* engine) {
  auto* found = static_cast<Engine*>(engine);
  if (!found->is_owner()) {
    fail(TF_FAILED_PRECONDITION, "the engine belongs to the process that this one was forked from");
  }
  return found;
}

void* open_engine(const DS_NetworkTransport* transport, const DS_NetworkOptions* options, TF_Status* status) {
  return guarded(status, static_cast<void*>(nullptr), [&]() -> void* {
    Limits limits{options->max_message, options->unexpected_bytes, options->connect_us};
    if (limits.max_message == 0) limits.max_message = kMaxMessage;
    if (limits.unexpected_bytes == 0) limits.unexpected_bytes = kUnexpected;
    if (limits.connect_us == 0) limits.connect_us = kConnectUs;
    return new Engine(static_cast<const char*>(transport->ext), limits);
  });
}

void close_engine(void* engine) { delete static_cast<Engine*>(engine); }

void fill(Event* from, DS_NetworkEvent* to) {
  to->kind = from->kind;
  to->code = from->code;
  to->peer = from->peer;
  to->token = from->token;
  to->tag_high = from->tag.high;
  to->tag_low = from->tag.low;
  to->size = from->size;
  to->data = from->data;
  static_cast<void>(from->own.release());  // `release` frees it
  const std::size_t size = std::min(from->message.size(), sizeof to->message - 1);
  std::memcpy(to->message, from->message.data(), size);
  to->message[size] = '\0';
}

int32_t progress(void* engine, int64_t timeout_us, DS_NetworkEvent* const* events, int32_t room, TF_Status* status) {
  return guarded(status, int32_t{-1}, [&] {
    auto found = own(engine)->progress(timeout_us, static_cast<std::size_t>(std::max(room, 0)));
    for (std::size_t k = 0; k < found.size(); ++k) fill(&found[k], events[k]);
    return static_cast<int32_t>(found.size());
  });
}

void wake(void* engine) {
  auto* found = static_cast<Engine*>(engine);
  if (found->is_owner()) found->wake();
}

void free_text(void* data, size_t) { std::free(data); }

void listen_at_address(void* engine, const char* address, TF_Buffer* bound, TF_Status* status) {
  guarded(status, 0, [&] {
    const std::string found = own(engine)->listen(address);
    char* copy = static_cast<char*>(std::malloc(found.size()));
    if (copy == nullptr) throw std::bad_alloc();
    std::memcpy(copy, found.data(), found.size());
    bound->data = copy;
    bound->length = found.size();
    bound->data_deallocator = free_text;
    return 0;
  });
}

uint64_t connect_address(void* engine, const char* address, TF_Status* status) {
  return guarded(status, uint64_t{0}, [&] { return own(engine)->connect(address); });
}

void disconnect(void* engine, uint64_t peer) {
  auto* found = static_cast<Engine*>(engine);
  if (found->is_owner()) found->disconnect(peer);
}

int32_t send(void* engine, uint64_t peer, uint64_t high, uint64_t low, const void* const* pieces, const size_t* sizes,
             int32_t count, uint64_t token, TF_Status* status) {
  return guarded(status, int32_t{-1}, [&] {
    return own(engine)->send(peer, {high, low}, pieces, sizes, count, token) ? int32_t{1} : int32_t{0};
  });
}

void receive(void* engine, uint64_t peer, uint64_t high, uint64_t low, uint64_t mask_high, uint64_t mask_low,
             void* data, size_t size, uint64_t token, TF_Status* status) {
  guarded(status, 0, [&] {
    own(engine)->receive({peer, {high, low}, {mask_high, mask_low}, data, size, token});
    return 0;
  });
}

void release(void* data) { std::free(data); }

void cancel(void* engine, uint64_t token) {
  auto* found = static_cast<Engine*>(engine);
  if (found->is_owner()) found->cancel(token);
}

constexpr DS_NetworkFns functions() {
  DS_NetworkFns fns{};
  fns.struct_size = DS_NETWORK_FNS_STRUCT_SIZE;
  fns.open = open_engine;
  fns.close = close_engine;
  fns.progress = progress;
  fns.wake = wake;
  fns.listen = listen_at_address;
  fns.connect = connect_address;
  fns.disconnect = disconnect;
  fns.send = send;
  fns.receive = receive;
  fns.release = release;
  fns.cancel = cancel;
  return fns;
}

constexpr DS_NetworkFns kFns = functions();

// Of UCX's transports those of the scheme; "": all that it has, RDMA and GPUs' among them.
char all[] = "", tcp[] = "tcp", shm[] = "shm";

constexpr DS_NetworkTransport transport(const char* scheme, char* transports) {
  return {DS_NETWORK_TRANSPORT_STRUCT_SIZE, transports, scheme, 0, DS_NETWORK_ORDERED | DS_NETWORK_ZERO_COPY, &kFns};
}

// Engines of each meet at a host and a port; so none has names of one machine to listen at.
constexpr DS_NetworkTransport kTransports[] = {transport("ucx", all), transport("ucx+tcp", tcp),
                                               transport("ucx+shm", shm)};
constexpr const DS_NetworkTransport* kAll[] = {&kTransports[0], &kTransports[1], &kTransports[2]};

}  // namespace
}  // namespace drystone::ucx

void DS_InitNetwork(DS_NetworkRegistrationParams* params, TF_Status*) {
  params->major_version = DS_NETWORK_MAJOR;
  params->minor_version = DS_NETWORK_MINOR;
  params->patch_version = DS_NETWORK_PATCH;
  params->num_transports = 3;
  params->transports = drystone::ucx::kAll;
}

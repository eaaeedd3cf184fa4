// The functions of drystone/network.h for a transport whose work a class does.
//
// For ABI 1.1, since the release after 0.2.0. Header-only C++17, on POSIX; not part of sdk.hpp. Needs
// exceptions, by which an engine tells what failed, and the host's status functions. Nothing of C++
// leaves these functions.
//
//   class Engine {
//    public:
//     Engine(const DS_NetworkTransport& transport, const NetworkLimits& limits);
//     bool is_owner() const;                       // false in a child after fork
//     std::vector<Event> progress(std::int64_t timeout_us, std::size_t room);
//     void wake();
//     std::string listen(const std::string& address);        // the address that others connect to
//     std::uint64_t connect(const std::string& address);     // the peer's number
//     void disconnect(std::uint64_t peer);
//     bool send(std::uint64_t peer, const Tag& tag, const void* const* pieces,
//               const std::size_t* sizes, int count, std::uint64_t token);      // is it done?
//     void receive(const Receive& receive);
//     void cancel(std::uint64_t token);
//     int event_fd();                                         // where it has one
//   };
//   constexpr DS_NetworkFns fns = drystone::sdk::network_fns<Engine>();
//
// `Event` is a struct with the members kind, code, peer, token, tag.high, tag.low, size, data and message
// (a std::string), and a function hand_over(), after which `data` is the host's until it is freed by
// std::free. A `Tag` is made of {high, low}, a `Receive` of {peer, tag, mask, data, size, token}.
// The functions may throw NetworkFailure, std::bad_alloc, and other exceptions, which are INTERNAL.
#ifndef DRYSTONE_SDK_NETWORK_HPP_
#define DRYSTONE_SDK_NETWORK_HPP_

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "drystone/network.h"
#include "drystone/status.h"

namespace drystone::sdk {

// What ends a call with a status.
class NetworkFailure : public std::runtime_error {
 public:
  NetworkFailure(TF_Code status, const std::string& text) : std::runtime_error(text), code(status) {}
  TF_Code code;
};

// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

// DS_NetworkOptions with a transport's defaults in the place of what is 0.
struct NetworkLimits {
  std::uint64_t max_message = std::uint64_t{1} << 33;
  std::uint64_t unexpected_bytes = std::uint64_t{64} << 20;
  std::int64_t connect_us = 10'000'000;
};

inline NetworkLimits network_limits(const DS_NetworkOptions& options, NetworkLimits limits = {}) {
  if (options.max_message != 0) limits.max_message = options.max_message;
  if (options.unexpected_bytes != 0) limits.unexpected_bytes = options.unexpected_bytes;
  if (options.connect_us != 0) limits.connect_us = options.connect_us;
  return limits;
}

#if defined(__cpp_exceptions)

// The functions themselves; network_fns makes their table.
template <class Engine>
struct NetworkFns {
  // What `work` gives; where it fails, its failure as a status and `otherwise`.
  template <class T, class Work>
  static T guarded(TF_Status* status, T otherwise, const Work& work) noexcept {
    try {
      return work();
    } catch (const NetworkFailure& failure) {
      TF_SetStatus(status, failure.code, failure.what());
    } catch (const std::bad_alloc&) {
      TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "there is no memory left");
    } catch (const std::exception& error) {
      TF_SetStatus(status, TF_INTERNAL, error.what());
    } catch (...) {
      TF_SetStatus(status, TF_INTERNAL, "something was thrown that is no std::exception");
    }
    return otherwise;
  }

  static Engine* own(void* engine) {
    auto* found = static_cast<Engine*>(engine);
    if (!found->is_owner())
      throw NetworkFailure(TF_FAILED_PRECONDITION,
                           "the engine belongs to the process that this one was forked from");
    return found;
  }

  // For functions without a status: those of a child do nothing.
  template <class Work>
  static void quietly(void* engine, const Work& work) noexcept {
    auto* found = static_cast<Engine*>(engine);
    if (!found->is_owner()) return;
    try {
      work(found);
    } catch (...) {
      // There is nobody to tell: what became of the operation, or the peer, is told by its event.
    }
  }

  static void* open(const DS_NetworkTransport* transport, const DS_NetworkOptions* options,
                    TF_Status* status) {
    return guarded(status, static_cast<void*>(nullptr),
                   [&]() -> void* { return new Engine(*transport, network_limits(*options)); });
  }

  static void close(void* engine) { delete static_cast<Engine*>(engine); }

  template <class Event>
  static void fill(Event* from, DS_NetworkEvent* to) {
    to->kind = from->kind;
    to->code = from->code;
    to->peer = from->peer;
    to->token = from->token;
    to->tag_high = from->tag.high;
    to->tag_low = from->tag.low;
    to->size = from->size;
    to->data = from->data;
    from->hand_over();
    const std::size_t size = std::min(from->message.size(), sizeof to->message - 1);
    std::memcpy(to->message, from->message.data(), size);
    to->message[size] = '\0';
  }

  static int32_t progress(void* engine, int64_t timeout_us, DS_NetworkEvent* const* events,
                          int32_t room, TF_Status* status) {
    return guarded(status, int32_t{-1}, [&] {
      auto found = own(engine)->progress(timeout_us, static_cast<std::size_t>(std::max(room, 0)));
      for (std::size_t k = 0; k < found.size(); ++k) fill(&found[k], events[k]);
      return static_cast<int32_t>(found.size());
    });
  }

  static void wake(void* engine) {
    quietly(engine, [](Engine* one) { one->wake(); });
  }

  static void free_text(void* data, size_t) { std::free(data); }

  static void listen(void* engine, const char* address, TF_Buffer* bound, TF_Status* status) {
    guarded(status, 0, [&] {
      const std::string found = own(engine)->listen(address);
      char* copy = static_cast<char*>(std::malloc(std::max<std::size_t>(found.size(), 1)));
      if (copy == nullptr) throw std::bad_alloc();
      std::memcpy(copy, found.data(), found.size());
      bound->data = copy;
      bound->length = found.size();
      bound->data_deallocator = free_text;
      return 0;
    });
  }

  static uint64_t connect(void* engine, const char* address, TF_Status* status) {
    return guarded(status, uint64_t{0},
                   [&]() -> uint64_t { return own(engine)->connect(address); });
  }

  static void disconnect(void* engine, uint64_t peer) {
    quietly(engine, [&](Engine* one) { one->disconnect(peer); });
  }

  static int32_t send(void* engine, uint64_t peer, uint64_t high, uint64_t low,
                      const void* const* pieces, const size_t* sizes, int32_t count, uint64_t token,
                      TF_Status* status) {
    return guarded(status, int32_t{-1}, [&] {
      const bool done = own(engine)->send(peer, {high, low}, pieces, sizes, count, token);
      return done ? int32_t{1} : int32_t{0};
    });
  }

  static void receive(void* engine, uint64_t peer, uint64_t high, uint64_t low, uint64_t mask_high,
                      uint64_t mask_low, void* data, size_t size, uint64_t token,
                      TF_Status* status) {
    guarded(status, 0, [&] {
      own(engine)->receive({peer, {high, low}, {mask_high, mask_low}, data, size, token});
      return 0;
    });
  }

  static void release(void* data) { std::free(data); }

  static void cancel(void* engine, uint64_t token) {
    quietly(engine, [&](Engine* one) { one->cancel(token); });
  }

  template <class Any>
  static constexpr auto event_fd_of(int) -> decltype(std::declval<Any&>().event_fd(),
                                           static_cast<int (*)(void*)>(nullptr)) {
    return [](void* engine) {
      int fd = -1;
      quietly(engine, [&](Engine* one) { fd = one->event_fd(); });
      return fd;
    };
  }
  template <class Any>
  static constexpr int (*event_fd_of(long))(void*) {
    return nullptr;
  }
};

// The table of a transport's functions; `put` and `get` are the caller's to add.
template <class Engine>
constexpr DS_NetworkFns network_fns() {
  using Of = NetworkFns<Engine>;
  DS_NetworkFns fns{};
  fns.struct_size = DS_NETWORK_FNS_STRUCT_SIZE;
  fns.open = Of::open;
  fns.close = Of::close;
  fns.progress = Of::progress;
  fns.wake = Of::wake;
  fns.listen = Of::listen;
  fns.connect = Of::connect;
  fns.disconnect = Of::disconnect;
  fns.send = Of::send;
  fns.receive = Of::receive;
  fns.release = Of::release;
  fns.cancel = Of::cancel;
  fns.event_fd = Of::template event_fd_of<Engine>(0);
  return fns;
}

#endif  // defined(__cpp_exceptions)

}  // namespace drystone::sdk

#endif  // DRYSTONE_SDK_NETWORK_HPP_

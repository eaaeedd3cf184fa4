// An engine: sockets, the messages on their way, and what has happened. Nobody holds the mutex while he
// sleeps.
#ifndef {{NAME}}_ENGINE_H_
#define {{NAME}}_ENGINE_H_

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "drystone/sdk/network.hpp"
#include "matching.h"

namespace {{name}} {

using drystone::sdk::Descriptor;

struct Event {
  std::int32_t kind;
  std::int32_t code = TF_OK;
  std::uint64_t peer = 0, token = 0;
  Tag tag = {};
  std::uint64_t size = 0;
  void* data = nullptr;
  std::string message = {};
  bool owns = false;  // `data` is freed with the engine, unless somebody hears of it

  void hand_over() { owns = false; }
};

// Before the bytes of each message.
struct Head {
  std::uint64_t magic, high, low, size;
};

struct Outgoing {
  std::uint64_t token = 0;
  std::unique_ptr<Head> head;
  std::vector<iovec> rest;  // what is still to be written
  bool is_begun = false;
};

struct Peer {
  Descriptor socket;
  std::deque<Outgoing> outgoing = {};
  Head head = {};
  std::size_t head_size = 0;  // bytes of it that have come
  std::shared_ptr<Message> current = nullptr;
};

class Engine {
 public:
  Engine(const DS_NetworkTransport& transport, const drystone::sdk::NetworkLimits& limits);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // The functions of drystone/sdk/network.hpp.
  bool is_owner() const;
  std::vector<Event> progress(std::int64_t timeout_us, std::size_t room);
  void wake();
  std::string listen(const std::string& address);
  std::uint64_t connect(const std::string& address);
  void disconnect(std::uint64_t peer);
  bool send(std::uint64_t peer, const Tag& tag, const void* const* pieces, const std::size_t* sizes,
            int count, std::uint64_t token);
  void receive(const Receive& receive);
  void cancel(std::uint64_t token);

 private:
  void ring();
  void happened(Event event);
  std::uint64_t add(Descriptor socket);
  void sleep(std::unique_lock<std::mutex>* lock, std::int64_t timeout_us);
  void accept_all(int listener);
  bool may_read(std::uint64_t id, const Peer& peer) const;
  void serve(std::uint64_t id, bool reads, bool writes);
  bool write_one(const Peer& peer, Outgoing* out);
  void write_more(std::uint64_t id, Peer* peer);
  bool read_more(std::uint64_t id, Peer* peer);
  bool take_head(std::uint64_t id, Peer* peer);
  void give(const Message& message, void* own);
  void lose(std::uint64_t id, TF_Code code, const std::string& text, bool tell);

  const pid_t owner_;
  const std::string scheme_;
  const drystone::sdk::NetworkLimits limits_;
  std::mutex mutex_;  // guards what follows
  Descriptor bell_;   // rung to end a sleep
  bool is_asleep_ = false, is_woken_ = false;
  std::uint64_t next_ = 1;
  std::vector<Descriptor> listeners_;
  std::map<std::uint64_t, Peer> peers_;
  Matching matching_;
  std::deque<Event> events_;
};

}  // namespace {{name}}

#endif  // {{NAME}}_ENGINE_H_

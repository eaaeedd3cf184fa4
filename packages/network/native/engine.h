// An engine: listeners, peers, and what has happened to them.
#ifndef DRYSTONE_NET_ENGINE_H_
#define DRYSTONE_NET_ENGINE_H_

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "address.h"
#include "drystone/network.h"
#include "matching.h"
#include "peer.h"

namespace drystone::net {

struct Event {
  DS_NetworkEventKind kind;
  TF_Code code = TF_OK;
  std::uint64_t peer = 0, token = 0;
  Tag tag = {};
  std::uint64_t size = 0;
  void* data = nullptr;
  std::string message = {};
  bool owns = false;  // `data` is not in memory that a receive gave

  void hand_over() { owns = false; }
};

using Limits = sdk::NetworkLimits;

class Engine : private Inbox {
 public:
  // The transport's `ext` is its Kind.
  Engine(const DS_NetworkTransport& transport, const Limits& limits)
      : Engine(*static_cast<const Kind*>(transport.ext), limits) {}
  Engine(Kind kind, const Limits& limits);
  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  bool is_owner() const { return owner_ == ::getpid(); }

  std::vector<Event> progress(std::int64_t timeout_us, std::size_t room);
  void wake();
  std::string listen(const std::string& address);
  std::uint64_t connect(const std::string& address);
  void disconnect(std::uint64_t peer);
  bool send(std::uint64_t peer, const Tag& tag, const void* const* pieces, const std::size_t* sizes,
            int count, std::uint64_t token);
  void receive(const Receive& receive);
  void cancel(std::uint64_t token);
  int event_fd();

 private:
  // Inbox
  void greeted(std::uint64_t peer) override;
  std::shared_ptr<Message> begin(std::uint64_t peer, const Tag& tag, std::uint64_t size) override;
  void finish(const std::shared_ptr<Message>& message) override;
  bool may_read(std::uint64_t peer, const Message* current) const override;
  void sent(std::uint64_t peer, std::uint64_t token) override;

  void happened(Event event);
  void give(const Receive& receive, const std::shared_ptr<Message>& message);
  void handle(std::uint64_t what, std::uint32_t events);
  void accept_all(std::uint64_t listener);
  Peer* add(std::unique_ptr<Stream> stream);
  void hear_doorbell(Peer* peer);
  void rest_listeners(bool rest);
  void refuse_silent(std::uint64_t id);
  void serve(Peer* peer, bool reads, bool writes);
  void lose(std::uint64_t peer, TF_Code code, const std::string& text, bool tell);
  void watch(Peer* peer);
  void watch_fd(int fd, std::uint64_t what, std::uint32_t events);
  bool about_to_sleep();
  void sleep(std::unique_lock<std::mutex>* lock, long timeout_us);
  bool cancel_send(std::uint64_t token);

  const pid_t owner_;
  const Kind kind_;
  const Limits limits_;
  std::mutex mutex_;
  Descriptor epoll_, bell_;
  bool sleeping_ = false, woken_ = false, always_rings_ = false;
  long resting_until_ = 0;  // by now_us(); 0: listeners do not rest
  std::uint64_t next_ = 1;
  std::unordered_map<std::uint64_t, Listener> listeners_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Peer>> peers_;
  std::set<std::uint64_t> accepted_;  // peers that connected and have not greeted, in order
  Matching matching_;
  std::deque<Event> events_;
};

}  // namespace drystone::net

#endif  // DRYSTONE_NET_ENGINE_H_

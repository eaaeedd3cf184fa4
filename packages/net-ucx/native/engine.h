// An engine over UCX: one worker, and the connections over which it learned of others.
//
// Messages are UCX's active messages. Short ones go at once while the receiver has said that it has room
// for them; of all others only the head goes, and the receiver fetches the bytes into their place when
// they are asked for. So heads come in order whatever is not received, and nobody keeps long messages.
#ifndef DRYSTONE_UCX_ENGINE_H_
#define DRYSTONE_UCX_ENGINE_H_

#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <unordered_map>

#include "drystone/network.h"
#include "library.h"
#include "peer.h"

namespace drystone::ucx {

struct Event {
  std::int32_t kind = DS_NETWORK_EVENT_NONE;
  TF_Code code = TF_OK;
  std::uint64_t peer = 0, token = 0;
  Tag tag;
  std::uint64_t size = 0;
  void* data = nullptr;
  Bytes own;  // what `data` is in, unless the receive gave the memory
  std::string message;

  void hand_over() { static_cast<void>(own.release()); }
};

using Limits = sdk::NetworkLimits;

class Engine {
 public:
  // The transport's `ext`: which of UCX's, as its UCX_TLS has them; "": those that its environment says.
  Engine(const DS_NetworkTransport& transport, const Limits& limits)
      : Engine(static_cast<const char*>(transport.ext), limits) {}
  Engine(const char* transports, const Limits& limits);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  bool is_owner() const { return owner_ == ::getpid(); }
  std::vector<Event> progress(std::int64_t timeout_us, std::size_t room);
  void wake();
  std::string listen(const std::string& address);
  std::uint64_t connect(const std::string& address);
  void disconnect(std::uint64_t peer);
  bool send(std::uint64_t peer, const Tag& tag, const void* const* pieces, const std::size_t* sizes, int count,
            std::uint64_t token);
  void receive(const Receive& receive);
  void cancel(std::uint64_t token);

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Came {
    Header header;
    Bytes bytes;
    void* at_sender;
  };

  static ucs_status_t came(void* engine, const void* header, std::size_t header_size, void* data, std::size_t size,
                           const ucp_am_recv_param_t* param);
  static void was_sent(void* request, ucs_status_t status, void* operation);
  static void was_fetched(void* request, ucs_status_t status, std::size_t size, void* operation);

  void make_worker(const char* transports);
  void end_worker();
  void watch(int fd, std::uint64_t what);
  void ring();
  void work();
  void take_all();
  void take(Came came);
  void in_order(Peer* peer, Message message);
  void give(const Receive& receive, Message message);
  void finish(const Receive& receive, Message message, TF_Code code, const std::string& why);
  void used(Peer* peer, std::uint64_t size);
  void look_at_sockets();
  void accept_all(int listener);
  Peer* add(Descriptor socket, bool connects);
  bool greet(Peer* peer);
  void hear(Peer* peer);
  bool understand(Peer* peer);
  void reach(Peer* peer, const Greeting& greeting, const unsigned char* address);
  bool start(Peer* peer, Operation* operation);
  void control(Peer* peer, Kind kind, std::uint64_t value);
  void done(Operation* operation, ucs_status_t status);
  void lose(Peer* peer, TF_Code code, const std::string& why, bool is_told);
  void end_all();
  bool is_ended(Peer* peer);
  void bury(std::uint64_t peer);
  void bring_in();
  void bring_out(Peer* peer, std::chrono::milliseconds most);
  void happened(Event event) { events_.push_back(std::move(event)); }
  int to_wait(std::int64_t timeout_us, Clock::time_point until) const;
  Peer* find(std::uint64_t peer);
  std::string text(ucs_status_t status) const { return ucx_.status_string(status); }

  const Ucx& ucx_;
  const pid_t owner_ = ::getpid();
  const Limits limits_;
  std::mutex mutex_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_address_t* address_ = nullptr;
  std::size_t address_size_ = 0;
  Descriptor poll_, bell_;
  bool sleeping_ = false, woken_ = false;
  std::uint64_t next_ = 1;
  std::random_device random_;
  std::unordered_map<int, Descriptor> listeners_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Peer>> peers_;
  std::unordered_map<std::uint64_t, std::uint64_t> by_key_;
  std::vector<Came> inbox_;
  Matching matching_;
  std::deque<Event> events_;
};

}  // namespace drystone::ucx

#endif  // DRYSTONE_UCX_ENGINE_H_

#include "engine.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>

#include "sockets.h"

namespace {{name}} {
namespace {

using drystone::sdk::NetworkFailure;

constexpr std::uint64_t kMagic = 0x31304753534d;  // "MSSG01"
constexpr std::size_t kMostPieces = 64;           // handed to the system at once
constexpr std::uint64_t kTurn = 8 << 20;          // read of one peer before others have theirs

std::int64_t now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

Event failed(DS_NetworkEventKind kind, std::uint64_t peer, std::uint64_t token, TF_Code code,
             const std::string& text) {
  Event event{kind, code, peer, token};
  event.message = text;
  return event;
}

bool is_later(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

// ---- making and ending --------------------------------------------------------------------------

Engine::Engine(const DS_NetworkTransport& transport, const drystone::sdk::NetworkLimits& limits)
    : owner_(getpid()), scheme_(transport.scheme), limits_(limits),
      bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!bell_) fail_errno("an engine cannot be opened", errno);
}

// Also of a child after fork: only memory and descriptors of its own go.
Engine::~Engine() {
  for (const Event& event : events_)
    if (event.owns) std::free(event.data);
}

bool Engine::is_owner() const { return owner_ == getpid(); }

// ---- events -------------------------------------------------------------------------------------

void Engine::ring() {
  const std::uint64_t one = 1;
  (void)!write(bell_.get(), &one, sizeof one);
}

void Engine::happened(Event event) {
  events_.push_back(std::move(event));
  if (is_asleep_) ring();
}

void Engine::wake() {
  const std::lock_guard lock(mutex_);
  is_woken_ = true;
  ring();
}

std::vector<Event> Engine::progress(std::int64_t timeout_us, std::size_t room) {
  std::unique_lock lock(mutex_);
  const std::int64_t until = timeout_us < 0 ? 0 : now_us() + timeout_us;
  for (bool is_over = false; events_.empty() && !is_woken_ && !is_over;) {
    sleep(&lock, timeout_us < 0 ? -1 : std::max<std::int64_t>(0, until - now_us()));
    is_over = timeout_us >= 0 && now_us() >= until;
  }
  if (events_.empty()) is_woken_ = false;
  std::vector<Event> out;
  while (!events_.empty() && out.size() < room) {
    out.push_back(std::move(events_.front()));
    events_.pop_front();
  }
  return out;
}

// Sleeps until a socket has something, or the bell rings, and serves who has.
void Engine::sleep(std::unique_lock<std::mutex>* lock, std::int64_t timeout_us) {
  std::vector<pollfd> watched = {pollfd{bell_.get(), POLLIN, 0}};
  std::vector<std::uint64_t> ids;
  for (const Descriptor& one : listeners_) watched.push_back({one.get(), POLLIN, 0});
  const std::size_t first = watched.size();
  for (const auto& [id, peer] : peers_) {
    const int wanted = (may_read(id, peer) ? POLLIN : 0) | (peer.outgoing.empty() ? 0 : POLLOUT);
    if (wanted == 0) continue;  // its end could not be told yet either, and would wake us for ever
    watched.push_back({peer.socket.get(), static_cast<short>(wanted), 0});
    ids.push_back(id);
  }
  const std::int64_t most = std::min<std::int64_t>(timeout_us, std::int64_t{1} << 40);
  is_asleep_ = true;
  lock->unlock();
  const int ready = poll(watched.data(), watched.size(), most < 0 ? -1 : static_cast<int>((most + 999) / 1000));
  lock->lock();
  is_asleep_ = false;
  if (ready <= 0) return;
  std::uint64_t count = 0;
  if (watched[0].revents != 0) (void)!read(bell_.get(), &count, sizeof count);
  for (std::size_t k = 1; k < first; ++k)
    if (watched[k].revents != 0) accept_all(watched[k].fd);
  for (std::size_t k = 0; k < ids.size(); ++k) {
    const int found = watched[first + k].revents;
    if (found != 0) serve(ids[k], (found & ~POLLOUT) != 0, (found & ~POLLIN) != 0);
  }
}

// ---- peers --------------------------------------------------------------------------------------

std::string Engine::listen(const std::string& address) {
  std::string bound;
  Descriptor made = listen_at(scheme_, address, &bound);
  const std::lock_guard lock(mutex_);
  listeners_.push_back(std::move(made));
  ring();
  return bound;
}

std::uint64_t Engine::connect(const std::string& address) {
  Descriptor made = connect_to(scheme_, address, limits_.connect_us);
  const std::lock_guard lock(mutex_);
  ring();
  return add(std::move(made));
}

std::uint64_t Engine::add(Descriptor socket) {
  const std::uint64_t id = next_++;
  peers_.emplace(id, Peer{std::move(socket)});
  return id;
}

void Engine::accept_all(int listener) {
  for (;;) {
    Descriptor made(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!made) return;
    prepare(made.get());
    happened({DS_NETWORK_EVENT_ACCEPTED, TF_OK, add(std::move(made))});
  }
}

void Engine::disconnect(std::uint64_t peer) {
  const std::lock_guard lock(mutex_);
  lose(peer, TF_CANCELLED, "the peer was disconnected", false);
}

// Who sends faster than somebody receives is held up by not reading, unless a receive waits for him.
bool Engine::may_read(std::uint64_t id, const Peer& peer) const {
  return (peer.current != nullptr && peer.current->receive) ||
         matching_.kept_bytes(id) <= limits_.unexpected_bytes || matching_.is_awaited(id);
}

void Engine::serve(std::uint64_t id, bool reads, bool writes) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) return;
  Peer* peer = &found->second;
  try {
    if (writes) write_more(id, peer);
    if (!reads || read_more(id, peer)) return;
    const bool is_cut = peer->current != nullptr || peer->head_size != 0;
    lose(id, is_cut ? TF_DATA_LOSS : TF_UNAVAILABLE,
         is_cut ? "the connection ended in the middle of a message" : "the other side is gone", true);
  } catch (const NetworkFailure& failure) {
    lose(id, failure.code, failure.what(), true);
  } catch (const std::bad_alloc&) {
    lose(id, TF_RESOURCE_EXHAUSTED, "there is no memory for a message", true);
  }
}

void Engine::lose(std::uint64_t id, TF_Code code, const std::string& text, bool tell) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) return;
  const Peer peer = std::move(found->second);
  peers_.erase(found);
  for (const Outgoing& one : peer.outgoing)
    happened(failed(DS_NETWORK_EVENT_SENT, id, one.token, code, text));
  if (peer.current != nullptr && peer.current->receive)
    happened(failed(DS_NETWORK_EVENT_RECEIVED, id, peer.current->receive->token, code, text));
  for (const Receive& one : matching_.forget(id, peer.current.get()))
    happened(failed(DS_NETWORK_EVENT_RECEIVED, id, one.token, code, text));
  if (tell) happened(failed(DS_NETWORK_EVENT_LOST, id, 0, code, text));
}

// ---- out ----------------------------------------------------------------------------------------

bool Engine::send(std::uint64_t to, const Tag& tag, const void* const* pieces,
                  const std::size_t* sizes, int count, std::uint64_t token) {
  Outgoing out{token, std::make_unique<Head>(Head{kMagic, tag.high, tag.low, 0}), {}};
  out.rest.push_back({out.head.get(), sizeof(Head)});
  for (int k = 0; k < count; ++k) {
    out.head->size += sizes[k];
    if (sizes[k] > 0) out.rest.push_back({const_cast<void*>(pieces[k]), sizes[k]});
  }
  if (out.head->size > limits_.max_message)
    fail(TF_RESOURCE_EXHAUSTED, "a message of " + std::to_string(out.head->size) + " bytes is too large");
  const std::lock_guard lock(mutex_);
  const auto found = peers_.find(to);
  if (found == peers_.end()) fail(TF_NOT_FOUND, "there is no such peer, or it is gone");
  try {
    if (found->second.outgoing.empty() && write_one(found->second, &out)) return true;
  } catch (const NetworkFailure& failure) {
    lose(to, failure.code, failure.what(), true);
    throw;
  }
  found->second.outgoing.push_back(std::move(out));
  ring();  // `progress` goes on with it
  return false;
}

// Writes what there is room for; whether that was all.
bool Engine::write_one(const Peer& peer, Outgoing* out) {
  while (!out->rest.empty()) {
    msghdr message{};
    message.msg_iov = out->rest.data();
    message.msg_iovlen = std::min(kMostPieces, out->rest.size());
    ssize_t put = sendmsg(peer.socket.get(), &message, MSG_NOSIGNAL);
    if (put < 0 && is_later(errno)) return false;
    if (put < 0) fail_errno("the connection is broken", errno);
    out->is_begun = true;
    while (!out->rest.empty() && put >= 0) {
      iovec& piece = out->rest.front();
      const std::size_t step = std::min<std::size_t>(piece.iov_len, static_cast<std::size_t>(put));
      piece.iov_base = static_cast<char*>(piece.iov_base) + step;
      piece.iov_len -= step;
      put -= static_cast<ssize_t>(step);
      if (piece.iov_len > 0) break;
      out->rest.erase(out->rest.begin());
    }
  }
  return true;
}

void Engine::write_more(std::uint64_t id, Peer* peer) {
  while (!peer->outgoing.empty() && write_one(*peer, &peer->outgoing.front())) {
    happened({DS_NETWORK_EVENT_SENT, TF_OK, id, peer->outgoing.front().token});
    peer->outgoing.pop_front();
  }
}

// ---- in -----------------------------------------------------------------------------------------

// Reads what there is, within reason. False at the end of the connection.
bool Engine::read_more(std::uint64_t id, Peer* peer) {
  static thread_local unsigned char dropped[64 << 10];
  for (std::uint64_t seen = 0; seen < kTurn && may_read(id, *peer);) {
    Message* message = peer->current.get();
    void* place = reinterpret_cast<unsigned char*>(&peer->head) + peer->head_size;
    std::uint64_t room = sizeof(Head) - peer->head_size;
    if (message != nullptr) {
      place = message->target != nullptr ? message->target + message->got : dropped;
      room = message->size - message->got;
      if (message->target == nullptr) room = std::min<std::uint64_t>(room, sizeof dropped);
    }
    const ssize_t got = recv(peer->socket.get(), place, room, 0);
    if (got == 0) return false;
    if (got < 0 && is_later(errno)) return true;
    if (got < 0) fail_errno("the connection is broken", errno);
    seen += static_cast<std::uint64_t>(got);
    if (message != nullptr)
      message->got += static_cast<std::uint64_t>(got);
    else
      peer->head_size += static_cast<std::size_t>(got);
    if (message == nullptr && !take_head(id, peer)) continue;
    if (peer->current->got < peer->current->size) continue;
    const std::shared_ptr<Message> whole = std::exchange(peer->current, nullptr);
    if (whole->receive) give(*whole, whole->own.release());
  }
  return true;
}

// Whether a head is whole. What it says is not to be trusted.
bool Engine::take_head(std::uint64_t id, Peer* peer) {
  if (peer->head_size < sizeof(Head)) return false;
  const Head head = peer->head;
  if (head.magic != kMagic) fail(TF_INVALID_ARGUMENT, "what the other side sent is no message");
  if (head.size > limits_.max_message) fail(TF_INVALID_ARGUMENT, "the other side sends a message that is too large");
  peer->head_size = 0;
  peer->current = matching_.begin(id, {head.high, head.low}, head.size);
  return true;
}

// A message is whole: its receive is told. `own`: its memory, where it is not the receive's.
void Engine::give(const Message& message, void* own) {
  const Receive& receive = *message.receive;
  Event event{DS_NETWORK_EVENT_RECEIVED, TF_OK, message.peer, receive.token, message.tag, message.size};
  event.data = own;
  event.owns = true;
  if (receive.data != nullptr) {
    event.owns = false;
    event.data = receive.data;
    if (message.size > receive.size) {
      event.code = TF_OUT_OF_RANGE;
      event.data = nullptr;
      event.message = "a message of " + std::to_string(message.size) + " bytes came, and there is room for " +
                      std::to_string(receive.size);
    } else if (own != nullptr) {
      std::memcpy(receive.data, own, message.size);
    }
    std::free(own);
  }
  happened(std::move(event));
}

void Engine::receive(const Receive& receive) {
  const std::lock_guard lock(mutex_);
  if (const std::shared_ptr<Message> kept = matching_.take_kept(receive); kept != nullptr) {
    kept->receive = receive;
    const auto from = peers_.find(kept->peer);
    const bool is_half = from != peers_.end() && from->second.current == kept;
    if (!is_half) give(*kept, kept->own.release());
  } else {
    if (receive.peer != 0 && peers_.count(receive.peer) == 0)
      fail(TF_NOT_FOUND, "there is no such peer, or it is gone");
    matching_.post(receive);
  }
  if (is_asleep_) ring();  // more may be read now
}

void Engine::cancel(std::uint64_t token) {
  const std::lock_guard lock(mutex_);
  if (const auto receive = matching_.cancel(token)) {
    happened(failed(DS_NETWORK_EVENT_RECEIVED, receive->peer, token, TF_CANCELLED, "it was cancelled"));
    return;
  }
  for (auto& [id, peer] : peers_) {
    const auto found = std::find_if(peer.outgoing.begin(), peer.outgoing.end(),
                                    [&](const Outgoing& one) { return one.token == token; });
    if (found == peer.outgoing.end()) continue;
    if (found->is_begun) return;  // it goes to its end
    peer.outgoing.erase(found);
    happened(failed(DS_NETWORK_EVENT_SENT, id, token, TF_CANCELLED, "it was cancelled"));
    return;
  }
}

}  // namespace {{name}}

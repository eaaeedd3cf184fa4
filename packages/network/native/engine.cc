#include "engine.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "errors.h"

namespace drystone::net {

namespace {

// What a number given to epoll is about, in its last two bits.
constexpr std::uint64_t kSocket = 0, kDoorbell = 1, kListener = 2, kBell = 3;

constexpr std::size_t kMostGreeting = 256;  // connections that have said nothing yet
constexpr long kRestUs = 100'000;  // of listeners, when there are no descriptors left

long now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<long>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

Event failed(DS_NetworkEventKind kind, std::uint64_t peer, std::uint64_t token, TF_Code code,
             const std::string& text) {
  Event event{kind, code, peer, token};
  event.message = text;
  return event;
}

}  // namespace

Engine::Engine(Kind kind, const Limits& limits)
    : owner_(::getpid()), kind_(kind), limits_(limits), epoll_(epoll_create1(EPOLL_CLOEXEC)),
      bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!epoll_ || !bell_) fail_errno("an engine cannot be opened", errno);
  watch_fd(bell_.get(), kBell, EPOLLIN);
}

Engine::~Engine() {
  for (const Event& event : events_)  // of messages that nobody heard of
    if (event.owns) std::free(event.data);
  if (!is_owner()) return;  // files of listeners are the parent's
  for (const auto& [_, listener] : listeners_)
    if (!listener.file.empty()) unlink(listener.file.c_str());
}

// ---- Events -------------------------------------------------------------------------------------

void Engine::happened(Event event) {
  events_.push_back(std::move(event));
  if (sleeping_ || always_rings_) {
    const std::uint64_t one = 1;
    (void)!::write(bell_.get(), &one, sizeof one);
  }
}

void Engine::wake() {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  const std::uint64_t one = 1;
  (void)!::write(bell_.get(), &one, sizeof one);
}

int Engine::event_fd() {
  const std::lock_guard lock(mutex_);
  always_rings_ = true;
  if (about_to_sleep() || !events_.empty()) {
    const std::uint64_t one = 1;
    (void)!::write(bell_.get(), &one, sizeof one);
  }
  return epoll_.get();
}

bool Engine::about_to_sleep() {
  bool busy = false;
  if (kind_ == Kind::kShared)
    for (const auto& [id, peer] : peers_) {
      const bool reads = may_read(id, peer->current().get());
      busy = peer->stream().about_to_sleep(reads, peer->has_outgoing()) || busy;
    }
  return busy;
}

void Engine::sleep(std::unique_lock<std::mutex>* lock, long timeout_us) {
  const bool busy = about_to_sleep();
  if (resting_until_ != 0) {  // else those who connect would wake us again and again
    const long left = std::max(1L, resting_until_ - now_us());
    timeout_us = timeout_us < 0 ? left : std::min(timeout_us, left);
  }
  int wait = timeout_us < 0 ? -1 : static_cast<int>(std::min<long>((timeout_us + 999) / 1000, 1 << 30));
  if (busy) wait = 0;
  std::array<epoll_event, 64> ready;
  sleeping_ = true;
  lock->unlock();
  const int count = epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), wait);
  lock->lock();
  sleeping_ = false;
  if (resting_until_ != 0 && now_us() >= resting_until_) rest_listeners(false);
  for (int k = 0; k < count; ++k) handle(ready[static_cast<std::size_t>(k)].data.u64,
                                         ready[static_cast<std::size_t>(k)].events);
  if (!busy) return;
  std::vector<std::uint64_t> all;
  for (const auto& [id, _] : peers_) all.push_back(id);
  for (const std::uint64_t id : all)
    if (const auto found = peers_.find(id); found != peers_.end())
      serve(found->second.get(), true, true);
}

std::vector<Event> Engine::progress(std::int64_t timeout_us, std::size_t room) {
  std::unique_lock lock(mutex_);
  const long until = timeout_us < 0 ? 0 : now_us() + timeout_us;
  bool first = true;
  while (events_.empty() && !woken_) {
    const long left = timeout_us < 0 ? -1 : std::max(0L, until - now_us());
    if (left == 0 && !first) break;
    first = false;
    sleep(&lock, left);
  }
  if (events_.empty()) woken_ = false;
  std::vector<Event> out;
  while (!events_.empty() && out.size() < room) {
    out.push_back(std::move(events_.front()));
    events_.pop_front();
  }
  if (always_rings_ && (!events_.empty() || about_to_sleep())) {
    const std::uint64_t one = 1;
    (void)!::write(bell_.get(), &one, sizeof one);
  }
  return out;
}

void Engine::handle(std::uint64_t what, std::uint32_t events) {
  const std::uint64_t id = what >> 2;
  if ((what & 3) == kBell) {
    std::uint64_t count = 0;
    (void)!::read(bell_.get(), &count, sizeof count);
    return;
  }
  if ((what & 3) == kListener) return accept_all(id);
  const auto found = peers_.find(id);
  if (found == peers_.end()) return;  // it went while this waited
  Peer* peer = found->second.get();
  if ((what & 3) == kDoorbell) peer->stream().hear();
  const bool both = kind_ == Kind::kShared;
  serve(peer, both || (events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0,
        both || (events & EPOLLOUT) != 0);
}

// ---- Peers --------------------------------------------------------------------------------------

void Engine::watch_fd(int fd, std::uint64_t what, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = what;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    fail_errno("a connection cannot be watched", errno);
}

// What can still happen to a peer. One whose events nobody can act on would wake us for ever.
void Engine::watch(Peer* peer) {
  const bool reads = may_read(peer->id, peer->current().get());
  const bool shared = kind_ == Kind::kShared;
  std::uint32_t wanted = reads ? EPOLLIN | EPOLLRDHUP : 0;
  if (!shared && peer->has_outgoing()) wanted |= EPOLLOUT;
  if (wanted == peer->watched) return;
  epoll_event event{};
  event.events = wanted;
  event.data.u64 = peer->id << 2 | kSocket;
  const int how = wanted == 0 ? EPOLL_CTL_DEL : peer->watched == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  (void)epoll_ctl(epoll_.get(), how, peer->stream().socket(), &event);
  peer->watched = wanted;
}

Peer* Engine::add(std::unique_ptr<Stream> stream) {
  const std::uint64_t id = next_++;
  auto made = std::make_unique<Peer>(id, std::move(stream), limits_.max_message);
  Peer* peer = made.get();
  peers_.emplace(id, std::move(made));
  try {
    hear_doorbell(peer);
  } catch (const Failure&) {
    peers_.erase(id);
    throw;
  }
  watch(peer);
  return peer;
}

void Engine::hear_doorbell(Peer* peer) {
  const int doorbell = peer->stream().doorbell();
  if (peer->has_doorbell || doorbell < 0) return;
  watch_fd(doorbell, peer->id << 2 | kDoorbell, EPOLLIN);
  peer->has_doorbell = true;
}

// Whether listeners rest: what connects waits in the system, and nobody is woken by it.
void Engine::rest_listeners(bool rest) {
  resting_until_ = rest ? now_us() + kRestUs : 0;
  for (const auto& [id, listener] : listeners_) {
    epoll_event event{};
    event.events = rest ? 0U : static_cast<std::uint32_t>(EPOLLIN);
    event.data.u64 = id << 2 | kListener;
    (void)epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listener.socket.get(), &event);
  }
}

void Engine::accept_all(std::uint64_t listener) {
  const auto found = listeners_.find(listener);
  if (found == listeners_.end()) return;
  for (;;) {
    try {
      std::unique_ptr<Stream> stream = accept_from(kind_, found->second.socket.get());
      if (stream == nullptr) return;
      accepted_.insert(add(std::move(stream))->id);
      if (accepted_.size() > kMostGreeting) refuse_silent(*accepted_.begin());
    } catch (const Exhausted&) {
      return rest_listeners(true);
    } catch (const Failure&) {
      // Who connected is refused, and sees that the connection has ended; others may come.
    }
  }
}

// Lets go of who has been connected for the longest time, if he has said nothing.
void Engine::refuse_silent(std::uint64_t id) {
  serve(peers_.at(id).get(), true, false);
  if (accepted_.contains(id)) lose(id, TF_RESOURCE_EXHAUSTED, "", false);
}

void Engine::serve(Peer* peer, bool reads, bool writes) {
  const std::uint64_t id = peer->id;
  try {
    if (writes) peer->write_more(this);
    if (reads && may_read(id, peer->current().get()) && !peer->read_more(this)) {
      const bool cut = peer->in_the_middle();
      return lose(id, cut ? TF_DATA_LOSS : TF_UNAVAILABLE,
                  cut ? "the connection ended in the middle of a message"
                      : "the other side has closed the connection",
                  true);
    }
    if (!peer->has_doorbell && peer->stream().doorbell() >= 0) {
      hear_doorbell(peer);
      peer->write_more(this);  // what had to wait for the memory
    }
    watch(peer);
  } catch (const Failure& failure) {
    lose(id, failure.code, failure.what(), true);
  } catch (const std::bad_alloc&) {
    lose(id, TF_RESOURCE_EXHAUSTED, "there is no memory for a message", true);
  }
}

void Engine::lose(std::uint64_t id, TF_Code code, const std::string& text, bool tell) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) return;
  const std::unique_ptr<Peer> peer = std::move(found->second);
  peers_.erase(found);
  const bool known = accepted_.erase(id) == 0;
  if (peer->watched != 0)
    (void)epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, peer->stream().socket(), nullptr);
  if (peer->stream().doorbell() >= 0)
    (void)epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, peer->stream().doorbell(), nullptr);
  for (const Outgoing& out : peer->outgoing())
    if (out.token) happened(failed(DS_NETWORK_EVENT_SENT, id, *out.token, code, text));
  if (const auto& message = peer->current(); message != nullptr) {
    if (message->taker)
      happened(failed(DS_NETWORK_EVENT_RECEIVED, id, message->taker->token, code, text));
    else
      matching_.forget_kept(message.get());
  }
  for (const Receive& receive : matching_.take_posted_of(id))
    happened(failed(DS_NETWORK_EVENT_RECEIVED, id, receive.token, code, text));
  if (tell && known) happened(failed(DS_NETWORK_EVENT_LOST, id, 0, code, text));
}

std::string Engine::listen(const std::string& address) {
  Listener made = listen_at(kind_, address);
  const std::lock_guard lock(mutex_);
  const std::uint64_t id = next_++;
  std::string bound = made.address;
  const int fd = made.socket.get();
  listeners_.emplace(id, std::move(made));
  watch_fd(fd, id << 2 | kListener, EPOLLIN);
  return bound;
}

std::uint64_t Engine::connect(const std::string& address) {
  std::unique_ptr<Stream> stream = connect_to(kind_, address, limits_.connect_us);
  const std::lock_guard lock(mutex_);
  const std::uint64_t id = add(std::move(stream))->id;
  if (sleeping_) {  // so that the one who sleeps looks at the rings of this peer, too
    const std::uint64_t one = 1;
    (void)!::write(bell_.get(), &one, sizeof one);
  }
  return id;
}

void Engine::disconnect(std::uint64_t peer) {
  const std::lock_guard lock(mutex_);
  lose(peer, TF_CANCELLED, "the peer was disconnected", false);
}

// ---- Messages -----------------------------------------------------------------------------------

void Engine::greeted(std::uint64_t peer) {
  if (accepted_.erase(peer) != 0) happened({DS_NETWORK_EVENT_ACCEPTED, TF_OK, peer});
}

bool Engine::may_read(std::uint64_t peer, const Message* current) const {
  return (current != nullptr && current->taker) ||
         matching_.kept_bytes(peer) <= limits_.unexpected_bytes || matching_.waits_for(peer);
}

std::shared_ptr<Message> Engine::begin(std::uint64_t peer, const Tag& tag, std::uint64_t size) {
  auto message = std::make_shared<Message>();
  message->peer = peer;
  message->tag = tag;
  message->size = size;
  message->taker = matching_.take_posted(peer, tag);
  if (message->taker && message->taker->data != nullptr) {
    if (size <= message->taker->size)
      message->target = static_cast<unsigned char*>(message->taker->data);
    return message;
  }
  message->own.reset(static_cast<unsigned char*>(std::malloc(std::max<std::uint64_t>(size, 1))));
  if (message->own == nullptr) throw std::bad_alloc();
  message->target = message->own.get();
  if (!message->taker) matching_.keep(message);
  return message;
}

void Engine::finish(const std::shared_ptr<Message>& message) {
  if (message->taker) give(*message->taker, message);
}

void Engine::give(const Receive& receive, const std::shared_ptr<Message>& message) {
  Event event{DS_NETWORK_EVENT_RECEIVED, TF_OK, message->peer, receive.token, message->tag,
              message->size};
  if (receive.data == nullptr) {
    event.owns = true;
    event.data = message->own.release();  // the caller's, until it is released
  } else if (message->size > receive.size) {
    event.code = TF_OUT_OF_RANGE;
    event.message = "a message of " + std::to_string(message->size) + " bytes came, and there is room for " +
                    std::to_string(receive.size);
  } else {
    if (message->own != nullptr) std::memcpy(receive.data, message->own.get(), message->size);
    event.data = receive.data;
  }
  happened(std::move(event));
}

void Engine::sent(std::uint64_t peer, std::uint64_t token) {
  happened({DS_NETWORK_EVENT_SENT, TF_OK, peer, token});
}

bool Engine::send(std::uint64_t to, const Tag& tag, const void* const* pieces,
                  const std::size_t* sizes, int count, std::uint64_t token) {
  std::uint64_t size = 0;
  for (int k = 0; k < count; ++k) size += sizes[k];
  if (size > limits_.max_message)
    fail(TF_RESOURCE_EXHAUSTED, "a message of " + std::to_string(size) + " bytes is larger than " +
                                    std::to_string(limits_.max_message));
  Outgoing out;
  out.token = token;
  out.head = head_of(tag, size);
  out.rest.push_back({out.head.data(), out.head.size()});
  for (int k = 0; k < count; ++k)
    if (sizes[k] > 0) out.rest.push_back({const_cast<void*>(pieces[k]), sizes[k]});
  const std::lock_guard lock(mutex_);
  const auto found = peers_.find(to);
  if (found == peers_.end()) fail(TF_NOT_FOUND, "there is no such peer, or it is gone");
  Peer* peer = found->second.get();
  try {
    const bool done = peer->send(std::move(out), this);
    if (!done) {
      watch(peer);
      if (kind_ == Kind::kShared && sleeping_) {  // to be rung when there is room again
        const std::uint64_t one = 1;
        (void)!::write(bell_.get(), &one, sizeof one);
      }
    }
    return done;
  } catch (const Failure& failure) {
    lose(to, failure.code, failure.what(), true);
    throw;
  }
}

void Engine::receive(const Receive& receive) {
  const std::lock_guard lock(mutex_);
  if (const auto message = matching_.take_kept(receive); message != nullptr) {
    message->taker = receive;
    if (receive.data != nullptr && message->size > receive.size) {  // what is still to come is dropped
      message->target = nullptr;
      message->own.reset();
    }
    if (message->whole()) give(receive, message);
  } else {
    if (receive.peer != 0 && !peers_.contains(receive.peer))
      fail(TF_NOT_FOUND, "there is no such peer, or it is gone");
    matching_.post(receive);
  }
  if (receive.peer == 0) {
    std::vector<std::uint64_t> stopped;
    for (const auto& [id, peer] : peers_)
      if (peer->watched == 0 || peer->watched == EPOLLOUT) stopped.push_back(id);
    for (const std::uint64_t id : stopped) serve(peers_.at(id).get(), true, false);
    return;
  }
  const auto found = peers_.find(receive.peer);
  if (found != peers_.end() && (found->second->watched & EPOLLIN) == 0)
    serve(found->second.get(), true, false);
}

bool Engine::cancel_send(std::uint64_t token) {
  for (const auto& [id, peer] : peers_)
    for (auto out = peer->outgoing().begin(); out != peer->outgoing().end(); ++out) {
      if (out->token != token) continue;
      if (!out->begun) {
        peer->outgoing().erase(out);
        happened(failed(DS_NETWORK_EVENT_SENT, id, token, TF_CANCELLED, "it was cancelled"));
      }
      return true;
    }
  return false;
}

void Engine::cancel(std::uint64_t token) {
  const std::lock_guard lock(mutex_);
  if (cancel_send(token)) return;
  if (const auto receive = matching_.cancel(token))
    happened(failed(DS_NETWORK_EVENT_RECEIVED, receive->peer, token, TF_CANCELLED,
                    "it was cancelled"));
}

}  // namespace drystone::net

#include "engine.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "failure.h"

namespace drystone::ucx {
namespace {

constexpr unsigned kId = 1;                  // of our active messages
constexpr std::uint64_t kShort = 8 << 10;    // bytes that are copied and go at once
constexpr std::uint64_t kKept = 64;          // what a short message takes beside its bytes
constexpr std::chrono::milliseconds kPatience{1000};  // with what another engine, or UCX, has to end
constexpr std::chrono::milliseconds kBriefly{100};

constexpr std::uint64_t kBell = 1, kWorker = 2, kListener = std::uint64_t{1} << 62;

bool is_sent(std::uint64_t size, const Peer& peer) {
  return size == 0 || (size <= kShort && size + kKept <= peer.credit);
}

}  // namespace

// ---- beginning and end ------------------------------------------------------------------------------------

Engine::Engine(const char* transports, const Limits& limits)
    : ucx_(ucx()), limits_(limits), poll_(::epoll_create1(EPOLL_CLOEXEC)),
      bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (poll_.get() < 0 || bell_.get() < 0) fail(TF_RESOURCE_EXHAUSTED, "no descriptor is left");
  try {
    make_worker(transports);
    watch(bell_.get(), kBell);
    int fd = -1;
    if (ucx_.worker_get_efd(worker_, &fd) != UCS_OK) fail(TF_INTERNAL, "UCX cannot wait for events");
    watch(fd, kWorker);
  } catch (const Failure&) {
    end_worker();
    throw;
  }
}

void Engine::make_worker(const char* transports) {
  ucp_config_t* config = nullptr;
  ucs_status_t status = ucx_.config_read(nullptr, nullptr, &config);
  if (status == UCS_OK && *transports != '\0') status = ucx_.config_modify(config, "TLS", transports);
  if (status != UCS_OK) fail(TF_INTERNAL, "UCX's configuration: " + text(status));
  if (std::string_view(transports) != "tcp") {  // endpoints that may fail would use no shared memory
    ucx_.config_modify(config, "MM_ERROR_HANDLING", "y");
  }
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  status = ucx_.init_version(1, 12, &params, config, &context_);
  ucx_.config_release(config);
  if (status != UCS_OK) {
    const std::string wanted = *transports == '\0' ? "any transport" : transports;
    fail(TF_UNAVAILABLE, "UCX of " + ucx_.path + " has not " + wanted + " here: " + text(status));
  }
  ucp_worker_params_t of{};
  of.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  of.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  status = ucx_.worker_create(context_, &of, &worker_);
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                       UCP_AM_HANDLER_PARAM_FIELD_ARG | UCP_AM_HANDLER_PARAM_FIELD_FLAGS;
  handler.id = kId;
  handler.flags = UCP_AM_FLAG_WHOLE_MSG;
  handler.cb = came;
  handler.arg = this;
  if (status == UCS_OK) status = ucx_.worker_set_am_recv_handler(worker_, &handler);
  if (status == UCS_OK) status = ucx_.worker_get_address(worker_, &address_, &address_size_);
  if (status != UCS_OK || address_size_ > kLargestAddress) fail(TF_INTERNAL, "UCX's worker: " + text(status));
}

Engine::~Engine() {
  if (!is_owner()) return;  // UCX's part belongs to the process that this one was forked from
  const Lock lock(mutex_);
  for (auto& [id, peer] : peers_) {
    if (peer->state == State::kEnding) continue;
    bring_out(peer.get(), kPatience);
    write_all(peer->socket.get(), &peer->sent, sizeof peer->sent);
  }
  while (true) {
    const auto left = std::ranges::find_if(peers_, [](const auto& one) { return one.second->state != State::kEnding; });
    if (left == peers_.end()) break;
    lose(left->second.get(), TF_CANCELLED, "", false);
  }
  while (!peers_.empty()) {
    bring_in();
    end_all();
  }
  end_worker();
}

void Engine::end_worker() {
  if (address_ != nullptr) ucx_.worker_release_address(worker_, address_);
  if (worker_ != nullptr) ucx_.worker_destroy(worker_);
  if (context_ != nullptr) ucx_.cleanup(context_);
}

void Engine::watch(int fd, std::uint64_t what) {
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  wanted.data.u64 = what;
  if (::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &wanted) != 0) fail(TF_INTERNAL, std::strerror(errno));
}

// ---- progress ---------------------------------------------------------------------------------------------

std::vector<Event> Engine::progress(std::int64_t timeout_us, std::size_t room) {
  const auto until = Clock::now() + std::chrono::microseconds(std::max<std::int64_t>(timeout_us, 0));
  Lock lock(mutex_);
  while (true) {
    work();
    std::vector<Event> out;
    while (!events_.empty() && out.size() < room) {
      out.push_back(std::move(events_.front()));
      events_.pop_front();
    }
    if (!out.empty() || std::exchange(woken_, false) || room == 0) return out;
    if (timeout_us >= 0 && Clock::now() >= until) return out;
    if (ucx_.worker_arm(worker_) == UCS_ERR_BUSY) continue;
    sleeping_ = true;
    lock.unlock();
    epoll_event any{};
    ::epoll_wait(poll_.get(), &any, 1, to_wait(timeout_us, until));
    lock.lock();
    sleeping_ = false;
  }
}

// Milliseconds until the end, or until somebody is not waited for any more.
int Engine::to_wait(std::int64_t timeout_us, Clock::time_point until) const {
  std::optional<Clock::time_point> first;
  if (timeout_us >= 0) first = until;
  for (const auto& [id, peer] : peers_) {
    if (peer->until && (!first || *peer->until < *first)) first = peer->until;
    if (peer->state == State::kEnding) return 1;  // UCX may have nothing to wait for
  }
  if (!first) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*first - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

void Engine::work() {
  bring_in();
  look_at_sockets();
  bring_in();
  end_all();
}

void Engine::wake() {
  const Lock lock(mutex_);
  woken_ = true;
  ring();
}

// The mutex is held: what another thread has begun, the one in `progress` goes on with.
void Engine::ring() {
  const std::uint64_t one = 1;
  if (sleeping_ && ::write(bell_.get(), &one, sizeof one) < 0) return;  // it rings already
}

void Engine::look_at_sockets() {
  epoll_event ready[32];
  const int count = ::epoll_wait(poll_.get(), ready, 32, 0);
  for (int k = 0; k < count; ++k) {
    const std::uint64_t what = ready[k].data.u64;
    if (what == kWorker) continue;
    if (what == kBell) {
      std::uint64_t rung = 0;
      if (::read(bell_.get(), &rung, sizeof rung) < 0) continue;
    } else if ((what & kListener) != 0) {
      accept_all(static_cast<int>(what & ~kListener));
    } else if (Peer* const peer = find(what >> 2)) {
      hear(peer);
    }
  }
}

// ---- connections ------------------------------------------------------------------------------------------

std::string Engine::listen(const std::string& address) {
  std::string bound;
  Descriptor socket = listen_at(place_of(address), &bound);
  const Lock lock(mutex_);
  const int fd = socket.get();
  watch(fd, kListener | static_cast<std::uint64_t>(fd));
  listeners_.emplace(fd, std::move(socket));
  ring();
  return bound;
}

std::uint64_t Engine::connect(const std::string& address) {
  Descriptor socket = connect_to(place_of(address), limits_.connect_us);
  const Lock lock(mutex_);
  Peer* const peer = add(std::move(socket), true);
  if (!greet(peer)) {
    by_key_.erase(peer->own_key);
    peers_.erase(peer->id);
    fail(TF_UNAVAILABLE, "it hung up: " + address);
  }
  ring();
  return peer->id;
}

void Engine::accept_all(int listener) {
  while (true) {
    Descriptor socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.get() < 0) return;
    Peer* const peer = add(std::move(socket), false);
    peer->until = Clock::now() + std::chrono::microseconds(limits_.connect_us);
  }
}

Peer* Engine::add(Descriptor socket, bool connects) {
  const std::uint64_t id = next_++;
  watch(socket.get(), id << 2);
  auto made = std::make_unique<Peer>(id, std::move(socket), connects);
  do {
    made->own_key = (std::uint64_t{random_()} << 32) | random_();
  } while (!by_key_.emplace(made->own_key, id).second);
  made->window = limits_.unexpected_bytes;
  return (peers_[id] = std::move(made)).get();
}

bool Engine::greet(Peer* peer) {
  const Greeting greeting{kMagic, peer->own_key, peer->window, address_size_};
  return write_all(peer->socket.get(), &greeting, sizeof greeting) &&
         write_all(peer->socket.get(), address_, address_size_);
}

// Something came over the connection, or its end.
void Engine::hear(Peer* peer) {
  if (peer->state == State::kEnding) return;
  const bool goes_on = read_more(peer->socket.get(), &peer->said);
  if (!understand(peer)) return lose(peer, TF_DATA_LOSS, "it says what is no greeting of this version", true);
  if (goes_on) return;
  if (peer->last && peer->came < *peer->last && peer->state == State::kOpen) {  // UCX still brings some of it
    if (!peer->until) {
      peer->until = Clock::now() + kPatience;
      ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, peer->socket.get(), nullptr);
    }
    return;
  }
  bring_in();
  lose(peer, TF_UNAVAILABLE, "its connection has ended", true);
}

bool Engine::understand(Peer* peer) {
  const unsigned char* said = peer->said.data();
  if (peer->state == State::kGreeting) {
    Greeting greeting{};
    if (peer->said.size() < sizeof greeting) return true;
    std::memcpy(&greeting, said, sizeof greeting);
    if (greeting.magic != kMagic || greeting.size == 0 || greeting.size > kLargestAddress) return false;
    if (peer->said.size() < sizeof greeting + greeting.size) return true;
    const std::vector<unsigned char> whole = std::move(peer->said);
    peer->said.assign(whole.begin() + static_cast<std::ptrdiff_t>(sizeof greeting + greeting.size), whole.end());
    reach(peer, greeting, whole.data() + sizeof greeting);
    return true;
  }
  if (peer->said.size() > sizeof peer->sent) return false;
  if (peer->said.size() == sizeof peer->sent) std::memcpy(&peer->last.emplace(), said, sizeof peer->sent);
  return true;
}

// UCX may reach it from now on. Who connected says hello, by UCX: then the way is there in both directions.
void Engine::reach(Peer* peer, const Greeting& greeting, const unsigned char* address) {
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
  params.address = reinterpret_cast<const ucp_address_t*>(address);
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  peer->its_key = greeting.key;
  peer->credit = greeting.window;
  const ucs_status_t status = ucx_.ep_create(worker_, &params, &peer->endpoint);
  if (status != UCS_OK) {
    peer->endpoint = nullptr;
    return lose(peer, TF_UNAVAILABLE, "UCX does not reach it: " + text(status), true);
  }
  if (!peer->is_ours) {
    peer->state = State::kOpening;
    if (!greet(peer)) lose(peer, TF_UNAVAILABLE, "it hung up", false);
    return;
  }
  peer->state = State::kOpen;
  control(peer, Kind::kHello, 0);
  while (!peer->waiting.empty() && peer->state == State::kOpen) {
    Operation* const next = peer->waiting.front();
    peer->waiting.pop_front();
    start(peer, next);
  }
}

Peer* Engine::find(std::uint64_t peer) {
  const auto found = peers_.find(peer);
  return found == peers_.end() ? nullptr : found->second.get();
}

void Engine::disconnect(std::uint64_t id) {
  const Lock lock(mutex_);
  Peer* const peer = find(id);
  if (peer == nullptr || peer->state == State::kEnding) return;
  bring_out(peer, kBriefly);
  if (peer->state != State::kEnding) {
    write_all(peer->socket.get(), &peer->sent, sizeof peer->sent);
    lose(peer, TF_CANCELLED, "it was disconnected", false);
  }
  ring();
}

void Engine::bring_in() {
  while (ucx_.worker_progress(worker_) != 0) take_all();
  take_all();
}

// Has UCX bring out what nobody waits for.
void Engine::bring_out(Peer* peer, std::chrono::milliseconds most) {
  const auto until = Clock::now() + most;
  while (peer->state == State::kGreeting && !peer->waiting.empty() && Clock::now() < until) {
    pollfd one{peer->socket.get(), POLLIN, 0};
    if (::poll(&one, 1, 10) > 0) hear(peer);
  }
  while (peer->state != State::kEnding && peer->under_way > peer->telling && Clock::now() < until) bring_in();
  if (peer->endpoint == nullptr) return;
  ucp_request_param_t param{};
  void* const flush = ucx_.ep_flush_nbx(peer->endpoint, &param);
  if (flush == nullptr || UCS_PTR_IS_ERR(flush)) return;
  while (ucx_.request_check_status(flush) == UCS_INPROGRESS && Clock::now() < until) bring_in();
  ucx_.request_free(flush);
}

// ---- ends of peers ----------------------------------------------------------------------------------------

void Engine::lose(Peer* peer, TF_Code code, const std::string& why, bool is_told) {
  if (peer->state == State::kEnding) return;
  const bool was_known = peer->state == State::kOpen || peer->is_ours;  // the host has its number
  peer->state = State::kEnding;
  peer->code = code;
  peer->why = why;
  peer->is_told = is_told && was_known;
  peer->until = Clock::now() + kPatience;
  ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, peer->socket.get(), nullptr);
  peer->socket = Descriptor();
  by_key_.erase(peer->own_key);
  for (Operation* const one : std::exchange(peer->waiting, {})) {
    ++peer->under_way;
    if (one->tells) ++peer->telling;
    done(one, UCS_ERR_CANCELED);
  }
  for (Message& one : matching_.lose_at_sender(peer->id)) ucx_.am_data_release(worker_, one.at_sender);
  for (auto& [number, one] : std::exchange(peer->early, {})) {
    if (one.at_sender != nullptr) ucx_.am_data_release(worker_, one.at_sender);
  }
  if (peer->endpoint == nullptr) return;
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = UCP_EP_CLOSE_FLAG_FORCE;
  void* const request = ucx_.ep_close_nbx(std::exchange(peer->endpoint, nullptr), &param);
  if (request != nullptr && !UCS_PTR_IS_ERR(request)) peer->ending = request;
}

void Engine::end_all() {
  std::vector<std::uint64_t> over, late;
  for (const auto& [id, peer] : peers_) {
    const bool is_late = peer->until && Clock::now() >= *peer->until;
    if (peer->state != State::kEnding) {
      const bool has_all = peer->last && peer->came >= *peer->last && peer->until;
      if (is_late || has_all) late.push_back(id);
    } else if (is_ended(peer.get()) || is_late) {
      over.push_back(id);
    }
  }
  for (const std::uint64_t id : late) lose(find(id), TF_UNAVAILABLE, "its connection has ended", true);
  for (const std::uint64_t id : over) bury(id);
}

bool Engine::is_ended(Peer* peer) {
  if (peer->ending != nullptr) {
    if (ucx_.request_check_status(peer->ending) == UCS_INPROGRESS) return false;
    ucx_.request_free(std::exchange(peer->ending, nullptr));
  }
  return peer->under_way == 0;
}

void Engine::bury(std::uint64_t id) {
  const auto peer = std::move(peers_.at(id));
  peers_.erase(id);
  if (peer->ending != nullptr) ucx_.request_free(peer->ending);
  for (const Receive& one : matching_.lose(id)) {
    Event event;
    event.kind = DS_NETWORK_EVENT_RECEIVED;
    event.code = peer->code;
    event.peer = id;
    event.token = one.token;
    event.message = peer->why;
    happened(std::move(event));
  }
  if (!peer->is_told) return;
  Event event;
  event.kind = DS_NETWORK_EVENT_LOST;
  event.code = peer->code;
  event.peer = id;
  event.message = peer->why;
  happened(std::move(event));
}

// ---- sending ----------------------------------------------------------------------------------------------

bool Engine::send(std::uint64_t id, const Tag& tag, const void* const* pieces, const std::size_t* sizes, int count,
                  std::uint64_t token) {
  std::uint64_t size = 0;
  for (int k = 0; k < count; ++k) size += sizes[k];
  if (size > limits_.max_message) fail(TF_RESOURCE_EXHAUSTED, "the message is too large");
  const Lock lock(mutex_);
  Peer* const peer = find(id);
  if (peer == nullptr || peer->state == State::kEnding) fail(TF_NOT_FOUND, "there is no such peer");
  auto operation = std::make_unique<Operation>();
  operation->engine = this;
  operation->peer = id;
  operation->sends = true;
  operation->token = token;
  operation->header = {0, static_cast<std::uint64_t>(Kind::kMessage), 0, tag.high, tag.low, size};
  for (int k = 0; k < count; ++k) {
    if (sizes[k] != 0) operation->pieces.push_back({const_cast<void*>(pieces[k]), sizes[k]});
  }
  if (peer->state == State::kOpen && peer->waiting.empty()) return start(peer, operation.release());
  operation->tells = true;
  peer->waiting.push_back(operation.release());
  return false;
}

// Whether it is done: then no event follows, unless it had to wait.
bool Engine::start(Peer* peer, Operation* operation) {
  Header& header = operation->header;
  header.key = peer->its_key;
  header.number = peer->sent++;
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  param.cb.send = was_sent;
  param.user_data = operation;
  const void* data = nullptr;
  std::size_t count = 0;
  const bool had_to_wait = std::exchange(operation->tells, false);
  bool is_done = is_sent(header.size, *peer);
  if (is_done) {
    for (const ucp_dt_iov_t& piece : operation->pieces) {
      const auto* from = static_cast<const unsigned char*>(piece.buffer);
      operation->bytes.insert(operation->bytes.end(), from, from + piece.length);
    }
    if (header.size != 0) peer->credit -= header.size + kKept;
    data = operation->bytes.data();
    count = operation->bytes.size();
    param.flags = UCP_AM_SEND_FLAG_EAGER;
  } else {
    operation->tells = true;
    ++peer->telling;
    const bool is_one = operation->pieces.size() == 1;
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = is_one ? ucp_dt_make_contig(1) : ucp_dt_make_iov();
    data = is_one ? operation->pieces[0].buffer : operation->pieces.data();
    count = is_one ? operation->pieces[0].length : operation->pieces.size();
    param.flags = UCP_AM_SEND_FLAG_RNDV;
  }
  ++peer->under_way;
  if (is_done && had_to_wait) {  // its memory is copied
    Event event;
    event.kind = DS_NETWORK_EVENT_SENT;
    event.peer = peer->id;
    event.token = operation->token;
    happened(std::move(event));
  }
  const auto request = ucx_.am_send_nbx(peer->endpoint, kId, &header, sizeof header, data, count, &param);
  if (request == nullptr) {
    done(operation, UCS_OK);
  } else if (UCS_PTR_IS_ERR(request)) {
    done(operation, UCS_PTR_STATUS(request));
  } else {
    ring();
  }
  return is_done;
}

void Engine::control(Peer* peer, Kind kind, std::uint64_t value) {
  auto operation = std::make_unique<Operation>();
  operation->engine = this;
  operation->peer = peer->id;
  operation->sends = true;
  operation->header = {0, static_cast<std::uint64_t>(kind), 0, value, 0, 0};
  start(peer, operation.release());
}

void Engine::was_sent(void* request, ucs_status_t status, void* operation) {
  auto* const one = static_cast<Operation*>(operation);
  one->engine->ucx_.request_free(request);
  one->engine->done(one, status);
}

void Engine::was_fetched(void* request, ucs_status_t status, std::size_t, void* operation) {
  was_sent(request, status, operation);
}

// UCX has done with an operation.
void Engine::done(Operation* finished, ucs_status_t status) {
  const std::unique_ptr<Operation> operation(finished);
  Peer* const peer = find(operation->peer);
  if (peer != nullptr) {
    --peer->under_way;
    if (operation->tells) --peer->telling;
  }
  const bool ends = peer != nullptr && peer->state == State::kEnding;
  const TF_Code code = status == UCS_OK ? TF_OK : ends ? peer->code : TF_UNAVAILABLE;
  const std::string why = status == UCS_OK ? "" : ends ? peer->why : "UCX: " + text(status);
  if (!operation->sends) {
    finish(operation->receive, std::move(operation->message), code, why);
  } else if (operation->tells) {
    Event event;
    event.kind = DS_NETWORK_EVENT_SENT;
    event.code = code;
    event.peer = operation->peer;
    event.token = operation->token;
    event.message = why;
    happened(std::move(event));
  }
  if (status != UCS_OK && peer != nullptr && !ends && !peer->until) {
    peer->code = code;
    peer->last = 0;  // it is lost when UCX is not in the middle of something
    peer->until = Clock::now();
  }
}

// ---- receiving --------------------------------------------------------------------------------------------

// Within UCX, where nothing may be asked of it.
ucs_status_t Engine::came(void* context, const void* header, std::size_t header_size, void* data, std::size_t size,
                          const ucp_am_recv_param_t* param) {
  auto* const engine = static_cast<Engine*>(context);
  Came one{};
  if (header_size != sizeof one.header) return UCS_OK;
  std::memcpy(&one.header, header, sizeof one.header);
  if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) {
    if (one.header.size != size) return UCS_OK;
    one.at_sender = data;
    engine->inbox_.push_back(std::move(one));
    return UCS_INPROGRESS;
  }
  if (one.header.size != size && one.header.kind == static_cast<std::uint64_t>(Kind::kMessage)) return UCS_OK;
  one.bytes.reset(std::malloc(std::max<std::size_t>(size, 1)));
  if (one.bytes != nullptr && size != 0) std::memcpy(one.bytes.get(), data, size);
  engine->inbox_.push_back(std::move(one));
  return UCS_OK;
}

void Engine::take_all() {
  for (Came& one : std::exchange(inbox_, {})) take(std::move(one));
}

void Engine::take(Came came) {
  const auto known = by_key_.find(came.header.key);
  Peer* const peer = known == by_key_.end() ? nullptr : find(known->second);
  if (peer == nullptr || peer->endpoint == nullptr || came.header.size > limits_.max_message) {
    if (came.at_sender != nullptr) ucx_.am_data_release(worker_, came.at_sender);
    if (peer != nullptr) lose(peer, TF_DATA_LOSS, "it sends a message that is too large", true);
    return;
  }
  Message message{peer->id, {came.header.high, came.header.low}, came.header.size, std::move(came.bytes),
                  came.at_sender};
  const auto kind = static_cast<Kind>(came.header.kind);
  if (kind == Kind::kHello && peer->state == State::kOpening) {
    peer->state = State::kOpen;
    peer->until.reset();
    Event event;
    event.kind = DS_NETWORK_EVENT_ACCEPTED;
    event.peer = peer->id;
    happened(std::move(event));
  }
  if (kind == Kind::kCredit) peer->credit += came.header.high;
  if (kind != Kind::kMessage) message.peer = 0;
  if (came.header.number != peer->came) {
    if (came.header.number > peer->came) peer->early.emplace(came.header.number, std::move(message));
    return;
  }
  in_order(peer, std::move(message));
  for (auto next = peer->early.begin(); next != peer->early.end() && next->first == peer->came;
       next = peer->early.begin()) {
    Message waited = std::move(next->second);
    peer->early.erase(next);
    in_order(peer, std::move(waited));
    if (peer->state == State::kEnding) return;
  }
}

// `message` of peer 0 is none: it only has a number.
void Engine::in_order(Peer* peer, Message message) {
  ++peer->came;
  if (message.peer == 0) return;
  if (const auto receive = matching_.take(&message)) give(*receive, std::move(message));
  else matching_.keep(std::move(message));
}

void Engine::receive(const Receive& receive) {
  const Lock lock(mutex_);
  if (auto message = matching_.find(receive)) {
    give(receive, std::move(*message));
    ring();
    return;
  }
  const Peer* const peer = receive.peer == 0 ? nullptr : find(receive.peer);
  if (receive.peer != 0 && (peer == nullptr || peer->state == State::kEnding)) {
    fail(TF_NOT_FOUND, "there is no such peer");
  }
  matching_.post(receive);
}

// A message has found its receive.
void Engine::give(const Receive& receive, Message message) {
  const bool fits = receive.data == nullptr || message.size <= receive.size;
  if (message.at_sender == nullptr) {
    if (Peer* const peer = find(message.peer)) used(peer, message.size);
    finish(receive, std::move(message), fits ? TF_OK : TF_OUT_OF_RANGE, fits ? "" : "it is larger than the memory");
    return;
  }
  if (fits && receive.data == nullptr) message.bytes.reset(std::malloc(message.size));
  Peer* const peer = find(message.peer);
  const bool has_room = receive.data != nullptr || message.bytes != nullptr;
  if (!fits || !has_room || peer == nullptr) {
    ucx_.am_data_release(worker_, message.at_sender);
    const TF_Code code = peer == nullptr ? TF_UNAVAILABLE : fits ? TF_RESOURCE_EXHAUSTED : TF_OUT_OF_RANGE;
    finish(receive, std::move(message), code, fits ? "there is no memory for it" : "it is larger than the memory");
    return;
  }
  auto operation = std::make_unique<Operation>();
  operation->engine = this;
  operation->peer = message.peer;
  operation->sends = false;
  operation->receive = receive;
  void* const into = receive.data != nullptr ? receive.data : message.bytes.get();
  void* const at_sender = std::exchange(message.at_sender, nullptr);
  const std::size_t size = message.size;
  operation->message = std::move(message);
  ++peer->under_way;
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.recv_am = was_fetched;
  param.user_data = operation.get();
  const auto request = ucx_.am_recv_data_nbx(worker_, at_sender, into, size, &param);
  if (request == nullptr) done(operation.release(), UCS_OK);
  else if (UCS_PTR_IS_ERR(request)) done(operation.release(), UCS_PTR_STATUS(request));
  else static_cast<void>(operation.release());  // done() has it
}

// The event of a receive; a short message is copied into its memory.
void Engine::finish(const Receive& receive, Message message, TF_Code code, const std::string& why) {
  Event event;
  event.kind = DS_NETWORK_EVENT_RECEIVED;
  event.code = code;
  event.peer = message.peer;
  event.token = receive.token;
  event.tag = message.tag;
  event.size = message.size;
  event.message = why;
  if (code == TF_OK && receive.data != nullptr) {
    event.data = receive.data;
    if (message.bytes != nullptr && message.size != 0) std::memcpy(receive.data, message.bytes.get(), message.size);
  } else if (code == TF_OK) {
    event.own = std::move(message.bytes);
    event.data = event.own.get();
  }
  happened(std::move(event));
}

// So much of what a peer may send unasked is free again; it is told now and then.
void Engine::used(Peer* peer, std::uint64_t size) {
  if (size == 0) return;
  peer->used += size + kKept;
  if (peer->used < peer->window / 4 || peer->state != State::kOpen) return;
  control(peer, Kind::kCredit, std::exchange(peer->used, 0));
}

void Engine::cancel(std::uint64_t token) {
  const Lock lock(mutex_);
  const auto found = matching_.cancel(token);
  if (!found) return;  // what is under way comes to its end
  Event event;
  event.kind = DS_NETWORK_EVENT_RECEIVED;
  event.code = TF_CANCELLED;
  event.peer = found->peer;
  event.token = token;
  event.message = "it was cancelled";
  happened(std::move(event));
  ring();
}

}  // namespace drystone::ucx

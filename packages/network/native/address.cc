#include "address.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>

#include "errors.h"

namespace drystone::net {

namespace {

constexpr int kMostRefused = 64;  // connections in a row that ended before they were taken
constexpr int kUnixBuffer = 4 << 20;  // bytes under way; the system gives what it allows

void turn_on(int fd, int level, int option, int value = 1) {
  (void)setsockopt(fd, level, option, &value, sizeof value);  // without it is slower, not wrong
}

// A small message goes at once; a machine that is gone is noticed within half a minute. The room of a
// unix socket does not grow as that of TCP does: without more, the two sides take turns.
void settle(Kind kind, int fd) {
  if (kind == Kind::kUnix) turn_on(fd, SOL_SOCKET, SO_SNDBUF, kUnixBuffer);
  if (kind != Kind::kTcp) return;
  turn_on(fd, IPPROTO_TCP, TCP_NODELAY);
  turn_on(fd, SOL_SOCKET, SO_KEEPALIVE);
  turn_on(fd, IPPROTO_TCP, TCP_KEEPIDLE, 10);
  turn_on(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  turn_on(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
  turn_on(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
}

std::string rest_of(Kind kind, const std::string& address) {
  const std::string head = kind == Kind::kTcp ? "tcp://" : kind == Kind::kUnix ? "unix://" : "shm://";
  if (address.compare(0, head.size(), head) != 0)
    fail(TF_INVALID_ARGUMENT, "an address of this transport begins with " + head);
  if (address.find('\0') != std::string::npos) fail(TF_INVALID_ARGUMENT, "an address has no NUL");
  return address.substr(head.size());
}

struct Found {
  addrinfo* list = nullptr;
  ~Found() {
    if (list != nullptr) freeaddrinfo(list);
  }
};

void look_up(const std::string& rest, bool passive, Found* found) {
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == rest.size())
    fail(TF_INVALID_ARGUMENT, "an address is tcp://HOST:PORT");
  std::string host = rest.substr(0, colon);
  const std::string port = rest.substr(colon + 1);
  if (port.size() > 5 || port.find_first_not_of("0123456789") != std::string::npos ||
      std::stoi(port) > 65535)
    fail(TF_INVALID_ARGUMENT, "a port is a number from 0 to 65535");
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
  const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found->list);
  if (error != 0)
    fail(TF_NOT_FOUND, "host " + host + " cannot be looked up: " + gai_strerror(error));
}

// "/path", "@name", or "" for a name of our own; names of shared memory have their own space.
socklen_t local_name(Kind kind, std::string rest, sockaddr_un* out, std::string* address) {
  static std::atomic<unsigned> counter{0};
  if (rest.empty()) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    rest = (kind == Kind::kUnix ? "@drystone-" : "") + std::to_string(getpid()) + "-" +
           std::to_string(counter++) + "-" + std::to_string(now);
  }
  *address = (kind == Kind::kUnix ? "unix://" : "shm://") + rest;
  std::string name = kind == Kind::kUnix ? rest : "@drystone-shm-" + rest;
  if (name[0] != '/' && name[0] != '@')
    fail(TF_INVALID_ARGUMENT, "an address is unix:///PATH, or unix://@NAME without a file");
  if (name.size() >= sizeof out->sun_path)
    fail(TF_INVALID_ARGUMENT, "an address is at most 107 bytes long");
  *out = sockaddr_un{};
  out->sun_family = AF_UNIX;
  std::memcpy(out->sun_path, name.data(), name.size());
  if (name[0] == '@') out->sun_path[0] = '\0';
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() +
                                (name[0] == '/' ? 1 : 0));
}

Descriptor new_socket(int family) {
  Descriptor made(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) fail_errno("no socket can be made", errno);
  return made;
}

// Connect within the time; answers an errno value.
int try_connect(int fd, const sockaddr* to, socklen_t size, long timeout_us) {
  if (connect(fd, to, size) == 0) return 0;
  if (errno == EAGAIN) return ECONNREFUSED;  // a unix socket whose backlog is full
  if (errno != EINPROGRESS && errno != EINTR) return errno;
  pollfd wait{fd, POLLOUT, 0};
  const int ready = poll(&wait, 1, timeout_us < 0 ? -1 : static_cast<int>(timeout_us / 1000 + 1));
  if (ready == 0) return ETIMEDOUT;
  if (ready < 0) return errno;
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
  return error;
}

// Only processes of the same user talk over sockets of one machine.
void check_user(int fd) {
  ucred who{};
  socklen_t size = sizeof who;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 || who.uid != geteuid())
    fail(TF_PERMISSION_DENIED, "the other side belongs to another user");
}

Listener listen_tcp(const std::string& rest) {
  Found found;
  look_up(rest, true, &found);
  Descriptor made = new_socket(found.list->ai_family);
  turn_on(made.get(), SOL_SOCKET, SO_REUSEADDR);
  if (bind(made.get(), found.list->ai_addr, found.list->ai_addrlen) != 0 ||
      listen(made.get(), 128) != 0)
    fail_errno("tcp://" + rest + " cannot be listened at", errno);
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  getsockname(made.get(), reinterpret_cast<sockaddr*>(&own), &size);
  const int port = ntohs(own.ss_family == AF_INET6
                             ? reinterpret_cast<sockaddr_in6*>(&own)->sin6_port
                             : reinterpret_cast<sockaddr_in*>(&own)->sin_port);
  return {std::move(made), "tcp://" + rest.substr(0, rest.rfind(':')) + ":" + std::to_string(port),
          ""};
}

// A file of a listener that is gone is in the way of a new one, and of nobody else.
void clear_stale(const sockaddr_un& name, socklen_t size) {
  Descriptor probe = new_socket(AF_UNIX);
  const auto* to = reinterpret_cast<const sockaddr*>(&name);
  if (connect(probe.get(), to, size) != 0 && errno == ECONNREFUSED) unlink(name.sun_path);
}

Listener listen_local(Kind kind, const std::string& rest) {
  sockaddr_un name;
  std::string address;
  const socklen_t size = local_name(kind, rest, &name, &address);
  if (name.sun_path[0] != '\0') clear_stale(name, size);
  Descriptor made = new_socket(AF_UNIX);
  if (bind(made.get(), reinterpret_cast<sockaddr*>(&name), size) != 0 ||
      listen(made.get(), 128) != 0)
    fail_errno(address + " cannot be listened at", errno);
  return {std::move(made), address, name.sun_path[0] == '\0' ? "" : name.sun_path};
}

}  // namespace

Listener listen_at(Kind kind, const std::string& address) {
  const std::string rest = rest_of(kind, address);
  return kind == Kind::kTcp ? listen_tcp(rest) : listen_local(kind, rest);
}

std::unique_ptr<Stream> connect_to(Kind kind, const std::string& address, long timeout_us) {
  const std::string rest = rest_of(kind, address);
  if (kind == Kind::kTcp) {
    Found found;
    look_up(rest, false, &found);
    int error = 0;
    for (const addrinfo* one = found.list; one != nullptr; one = one->ai_next) {
      Descriptor made = new_socket(one->ai_family);
      error = try_connect(made.get(), one->ai_addr, one->ai_addrlen, timeout_us);
      if (error != 0) continue;
      settle(kind, made.get());
      return socket_stream(std::move(made));
    }
    fail_errno(address + " cannot be connected to", error);
  }
  if (rest.empty()) fail(TF_INVALID_ARGUMENT, "an address to connect to has a name");
  sockaddr_un name;
  std::string whole;
  const socklen_t size = local_name(kind, rest, &name, &whole);
  Descriptor made = new_socket(AF_UNIX);
  const int error =
      try_connect(made.get(), reinterpret_cast<const sockaddr*>(&name), size, timeout_us);
  if (error != 0) fail_errno(address + " cannot be connected to", error);
  check_user(made.get());
  settle(kind, made.get());
  return kind == Kind::kUnix ? socket_stream(std::move(made))
                             : shared_stream_connect(std::move(made));
}

std::unique_ptr<Stream> accept_from(Kind kind, int listener) {
  Descriptor made;
  for (int k = 0; !made; ++k) {
    made = Descriptor(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (made) break;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) throw Exhausted();
    // What else Linux says is of a connection that has ended meanwhile, and the next one may be well.
    if (errno == EAGAIN || errno == EWOULDBLOCK || k == kMostRefused) return nullptr;
  }
  settle(kind, made.get());
  if (kind != Kind::kTcp) check_user(made.get());
  return kind == Kind::kShared ? shared_stream_accept(std::move(made))
                               : socket_stream(std::move(made));
}

}  // namespace drystone::net

#include "sockets.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "failure.h"

namespace drystone::ucx {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses resolved(const Place& place, int flags) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int answer = ::getaddrinfo(place.host.c_str(), place.port.c_str(), &wanted, &found);
  if (answer != 0) {
    fail(TF_INVALID_ARGUMENT, place.host + ":" + place.port + " is no address: " + ::gai_strerror(answer));
  }
  return {found, ::freeaddrinfo};
}

Descriptor socket_for(const addrinfo& at) {
  Descriptor out(::socket(at.ai_family, at.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at.ai_protocol));
  if (out.get() < 0) fail(TF_RESOURCE_EXHAUSTED, std::string("no socket: ") + std::strerror(errno));
  return out;
}

std::string shown(const Place& place, int fd) {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  char port[NI_MAXSERV] = "";
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size);
  ::getnameinfo(reinterpret_cast<sockaddr*>(&at), size, nullptr, 0, port, sizeof port, NI_NUMERICSERV);
  const bool is_long = place.host.find(':') != std::string::npos;
  return place.scheme + "://" + (is_long ? "[" + place.host + "]" : place.host) + ":" + port;
}

}  // namespace

Place place_of(const std::string& address) {
  const std::size_t colon = address.find("://");
  if (colon == std::string::npos) fail(TF_INVALID_ARGUMENT, address + " is no address");
  Place out{address.substr(0, colon), "127.0.0.1", "0"};
  const std::string rest = address.substr(colon + 3);
  if (rest.empty()) return out;
  const std::size_t last = rest.rfind(':');
  if (last == std::string::npos || last == 0) fail(TF_INVALID_ARGUMENT, address + " has no host and port");
  out.host = rest.substr(0, last);
  out.port = rest.substr(last + 1);
  if (out.host.front() == '[' && out.host.back() == ']') out.host = out.host.substr(1, out.host.size() - 2);
  return out;
}

Descriptor listen_at(const Place& place, std::string* bound) {
  const Addresses at = resolved(place, AI_PASSIVE);
  Descriptor out = socket_for(*at);
  const int on = 1;
  ::setsockopt(out.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(out.get(), at->ai_addr, at->ai_addrlen) != 0 || ::listen(out.get(), 128) != 0) {
    const TF_Code code = errno == EADDRINUSE ? TF_ALREADY_EXISTS : TF_INVALID_ARGUMENT;
    fail(code, place.host + ":" + place.port + ": " + std::strerror(errno));
  }
  *bound = shown(place, out.get());
  return out;
}

Descriptor connect_to(const Place& place, std::int64_t timeout_us) {
  const Addresses at = resolved(place, 0);
  Descriptor out = socket_for(*at);
  if (::connect(out.get(), at->ai_addr, at->ai_addrlen) != 0 && errno != EINPROGRESS) {
    fail(TF_UNAVAILABLE, place.host + ":" + place.port + ": " + std::strerror(errno));
  }
  pollfd until{out.get(), POLLOUT, 0};
  int ready = 0;
  do {
    ready = ::poll(&until, 1, static_cast<int>(timeout_us / 1000));
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) fail(TF_DEADLINE_EXCEEDED, "nobody answers at " + place.host + ":" + place.port);
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(out.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) fail(TF_UNAVAILABLE, place.host + ":" + place.port + ": " + std::strerror(error));
  const int on = 1;
  ::setsockopt(out.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return out;
}

bool write_all(int fd, const void* data, std::size_t size) {
  const auto* from = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t done = ::send(fd, from, size, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    from += done;
    size -= static_cast<std::size_t>(done);
  }
  return true;
}

bool read_more(int fd, std::vector<unsigned char>* out) {
  unsigned char piece[4096];
  while (true) {
    const ssize_t done = ::recv(fd, piece, sizeof piece, 0);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (done == 0) return false;
    out->insert(out->end(), piece, piece + done);
    if (out->size() > 2 * kLargestAddress) return false;
  }
}

}  // namespace drystone::ucx

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

namespace {{name}} {
namespace {

using drystone::sdk::Descriptor;

struct FreeAddresses {
  void operator()(addrinfo* all) const { freeaddrinfo(all); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

TF_Code code_of(int error) {
  switch (error) {
    case EADDRINUSE: return TF_ALREADY_EXISTS;
    case EACCES:
    case EPERM: return TF_PERMISSION_DENIED;
    case ETIMEDOUT: return TF_DEADLINE_EXCEEDED;
    case EMFILE:
    case ENFILE:
    case ENOMEM: return TF_RESOURCE_EXHAUSTED;
    case EADDRNOTAVAIL: return TF_INVALID_ARGUMENT;
    default: return TF_UNAVAILABLE;
  }
}

Addresses find(const std::string& scheme, const std::string& address) {
  const std::string start = scheme + "://";
  const std::size_t colon = address.rfind(':');
  if (address.rfind(start, 0) != 0 || colon < start.size() + 1 || colon == std::string::npos)
    fail(TF_INVALID_ARGUMENT, "an address is " + start + "HOST:PORT, and not " + address);
  std::string host = address.substr(start.size(), colon - start.size());
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), address.c_str() + colon + 1, &wanted, &found);
  if (error != 0) fail(TF_INVALID_ARGUMENT, address + ": " + gai_strerror(error));
  return Addresses(found);
}

Descriptor socket_for(const addrinfo& at) {
  Descriptor made(socket(at.ai_family, at.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, at.ai_protocol));
  if (!made) fail_errno("no socket can be made", errno);
  return made;
}

std::string address_of(const std::string& scheme, int socket) {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  char host[NI_MAXHOST], port[NI_MAXSERV];
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&at), &size) != 0 ||
      getnameinfo(reinterpret_cast<sockaddr*>(&at), size, host, sizeof host, port, sizeof port,
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    fail(TF_INTERNAL, "a socket has no address");
  const bool is_six = std::strchr(host, ':') != nullptr;
  return scheme + "://" + (is_six ? "[" + std::string(host) + "]" : host) + ":" + port;
}

}  // namespace

void fail(TF_Code code, const std::string& text) { throw drystone::sdk::NetworkFailure(code, text); }

void fail_errno(const std::string& what, int error) {
  fail(code_of(error), what + ": " + std::strerror(error));
}

void prepare(int socket) {
  const int on = 1;  // short messages are not held back
  (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Descriptor listen_at(const std::string& scheme, const std::string& address, std::string* bound) {
  const Addresses all = find(scheme, address);
  Descriptor made = socket_for(*all);
  const int on = 1;
  (void)setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(made.get(), all->ai_addr, all->ai_addrlen) != 0 || listen(made.get(), SOMAXCONN) != 0)
    fail_errno(address + " cannot be listened at", errno);
  *bound = address_of(scheme, made.get());
  return made;
}

Descriptor connect_to(const std::string& scheme, const std::string& address, std::int64_t timeout_us) {
  const Addresses all = find(scheme, address);
  Descriptor made = socket_for(*all);
  if (connect(made.get(), all->ai_addr, all->ai_addrlen) != 0) {
    if (errno != EINPROGRESS) fail_errno(address + " cannot be reached", errno);
    pollfd one{made.get(), POLLOUT, 0};
    const int ready = poll(&one, 1, static_cast<int>((timeout_us + 999) / 1000));
    if (ready == 0) fail(TF_DEADLINE_EXCEEDED, address + " does not answer");
    int error = 0;
    socklen_t size = sizeof error;
    (void)getsockopt(made.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (ready < 0 || error != 0) fail_errno(address + " cannot be reached", error != 0 ? error : errno);
  }
  prepare(made.get());
  return made;
}

}  // namespace {{name}}

// A connection over a socket, and failures of the system in words.
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

#include "errors.h"
#include "stream.h"

namespace drystone::net {

namespace {

TF_Code code_of(int error) {
  switch (error) {
    case EADDRINUSE:
    case EEXIST: return TF_ALREADY_EXISTS;
    case EACCES:
    case EPERM: return TF_PERMISSION_DENIED;
    case ETIMEDOUT: return TF_DEADLINE_EXCEEDED;
    case EMFILE:
    case ENFILE:
    case ENOMEM: return TF_RESOURCE_EXHAUSTED;
    case EINVAL:
    case EADDRNOTAVAIL: return TF_INVALID_ARGUMENT;
    default: return TF_UNAVAILABLE;
  }
}

class SocketStream : public Stream {
 public:
  explicit SocketStream(Descriptor socket) : socket_(std::move(socket)) {}

  long read(const iovec* pieces, int count) override {
    for (;;) {
      const ssize_t got = readv(socket_.get(), pieces, count);
      if (got >= 0) return got;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return kAgain;
      if (errno != EINTR) fail_errno("the connection is broken", errno);
    }
  }

  long write(const iovec* pieces, int count) override {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(pieces);
    message.msg_iovlen = static_cast<std::size_t>(count);
    for (;;) {
      const ssize_t put = sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
      if (put >= 0) return put;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return kAgain;
      if (errno != EINTR) fail_errno("the connection is broken", errno);
    }
  }

  int socket() const override { return socket_.get(); }

 private:
  Descriptor socket_;
};

}  // namespace

void fail_errno(const std::string& what, int error) {
  fail(code_of(error), what + ": " + std::generic_category().message(error));
}

std::unique_ptr<Stream> socket_stream(Descriptor socket) {
  return std::make_unique<SocketStream>(std::move(socket));
}

}  // namespace drystone::net

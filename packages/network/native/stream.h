// A connection as two streams of bytes, one each way; it never waits.
#ifndef DRYSTONE_NET_STREAM_H_
#define DRYSTONE_NET_STREAM_H_

#include <sys/uio.h>

#include <cstddef>
#include <memory>

#include "drystone/sdk/network.hpp"

namespace drystone::net {

using sdk::Descriptor;

inline constexpr long kAgain = -1;  // nothing can be read or written now
inline constexpr long kEnd = 0;     // the other side has ended

class Stream {
 public:
  virtual ~Stream() = default;
  // How many bytes; kAgain; kEnd (reading only). Throws Failure where the connection is broken.
  virtual long read(const iovec* pieces, int count) = 0;
  virtual long write(const iovec* pieces, int count) = 0;
  // What epoll watches; `doorbell` is -1 where bytes come over the socket itself, and until the memory
  // is there that they come by.
  virtual int socket() const = 0;
  virtual int doorbell() const { return -1; }
  // Called before sleeping: whether there is something to do after all.
  virtual bool about_to_sleep(bool /*reads*/, bool /*writes*/) { return false; }
  virtual void hear() {}  // the doorbell was rung
};

std::unique_ptr<Stream> socket_stream(Descriptor socket);
// Over memory that both processes share; the side that connects makes it.
std::unique_ptr<Stream> shared_stream_connect(Descriptor socket);
std::unique_ptr<Stream> shared_stream_accept(Descriptor socket);

}  // namespace drystone::net

#endif  // DRYSTONE_NET_STREAM_H_

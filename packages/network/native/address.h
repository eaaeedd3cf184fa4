// Addresses: "tcp://host:port", "unix:///path" or "unix://@name", "shm://name".
#ifndef DRYSTONE_NET_ADDRESS_H_
#define DRYSTONE_NET_ADDRESS_H_

#include <memory>
#include <string>

#include "drystone/sdk/network.hpp"
#include "stream.h"

namespace drystone::net {

enum class Kind { kTcp, kUnix, kShared };

// A socket that listens, the address that others connect to, and a file to delete in the end.
struct Listener {
  Descriptor socket;
  std::string address;
  std::string file;
};

Listener listen_at(Kind kind, const std::string& address);
std::unique_ptr<Stream> connect_to(Kind kind, const std::string& address, long timeout_us);
// There are no descriptors or memory left for a connection, which waits where it is.
struct Exhausted {};

// The next connection of a listener, or null where there is none. Throws Exhausted, and Failure for a
// connection that is refused.
std::unique_ptr<Stream> accept_from(Kind kind, int listener);

}  // namespace drystone::net

#endif  // DRYSTONE_NET_ADDRESS_H_

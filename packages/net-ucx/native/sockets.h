// The sockets by which engines meet: who connects says how UCX reaches it, and each learns at once when
// the other is gone, which shared memory does not tell.
#ifndef DRYSTONE_UCX_SOCKETS_H_
#define DRYSTONE_UCX_SOCKETS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "drystone/sdk/network.hpp"

namespace drystone::ucx {

using sdk::Descriptor;

// "HOST:PORT" of "SCHEME://HOST:PORT"; without a host and port it is this machine's, and any.
struct Place {
  std::string scheme, host, port;
};
Place place_of(const std::string& address);

// Both throw Failure: ALREADY_EXISTS, UNAVAILABLE, DEADLINE_EXCEEDED, INVALID_ARGUMENT.
Descriptor listen_at(const Place& place, std::string* bound);
Descriptor connect_to(const Place& place, std::int64_t timeout_us);

// What both sides say first: how they are reached.
struct Greeting {
  std::uint64_t magic, key, window, size;  // the worker's address of `size` bytes follows
};
constexpr std::uint64_t kMagic = 0x0100'5843'5553'4453;  // of this version
constexpr std::uint64_t kLargestAddress = std::uint64_t{1} << 16;

// Writes all of it: it is as short as the buffer of a new connection. False where the other side is gone.
bool write_all(int fd, const void* data, std::size_t size);
// Appends what there is; false at the end of the connection.
bool read_more(int fd, std::vector<unsigned char>* out);

}  // namespace drystone::ucx

#endif  // DRYSTONE_UCX_SOCKETS_H_

// TCP sockets by the addresses of this transport.
#ifndef {{NAME}}_SOCKETS_H_
#define {{NAME}}_SOCKETS_H_

#include <cstdint>
#include <string>

#include "drystone/sdk/network.hpp"

namespace {{name}} {

[[noreturn]] void fail(TF_Code code, const std::string& text);
[[noreturn]] void fail_errno(const std::string& what, int error);

// A socket that listens at SCHEME://HOST:PORT, and the address with the port that it has.
drystone::sdk::Descriptor listen_at(const std::string& scheme, const std::string& address,
                                    std::string* bound);
drystone::sdk::Descriptor connect_to(const std::string& scheme, const std::string& address,
                                     std::int64_t timeout_us);
void prepare(int socket);

}  // namespace {{name}}

#endif  // {{NAME}}_SOCKETS_H_

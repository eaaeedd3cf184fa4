// Failures inside the library; drystone/sdk/network.hpp turns them into statuses.
#ifndef DRYSTONE_NET_ERRORS_H_
#define DRYSTONE_NET_ERRORS_H_

#include <string>

#include "drystone/sdk/network.hpp"

namespace drystone::net {

using Failure = sdk::NetworkFailure;

[[noreturn]] inline void fail(TF_Code code, const std::string& text) { throw Failure(code, text); }

// A failure with the text of an errno value.
[[noreturn]] void fail_errno(const std::string& what, int error);

}  // namespace drystone::net

#endif  // DRYSTONE_NET_ERRORS_H_

// What ends a call with a status.
#ifndef DRYSTONE_UCX_FAILURE_H_
#define DRYSTONE_UCX_FAILURE_H_

#include <string>

#include "drystone/sdk/network.hpp"

namespace drystone::ucx {

using Failure = sdk::NetworkFailure;

[[noreturn]] inline void fail(TF_Code code, const std::string& text) { throw Failure(code, text); }

}  // namespace drystone::ucx

#endif  // DRYSTONE_UCX_FAILURE_H_

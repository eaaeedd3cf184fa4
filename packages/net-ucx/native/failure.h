// What ends a call with a status.
#ifndef DRYSTONE_UCX_FAILURE_H_
#define DRYSTONE_UCX_FAILURE_H_

#include <stdexcept>
#include <string>

#include "drystone/status.h"

namespace drystone::ucx {

struct Failure : std::runtime_error {
  Failure(TF_Code status, const std::string& text) : std::runtime_error(text), code(status) {}
  TF_Code code;
};

[[noreturn]] inline void fail(TF_Code code, const std::string& text) { throw Failure(code, text); }

}  // namespace drystone::ucx

#endif  // DRYSTONE_UCX_FAILURE_H_

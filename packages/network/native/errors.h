// Failures inside the library; tables.cc turns them into statuses.
#ifndef DRYSTONE_NET_ERRORS_H_
#define DRYSTONE_NET_ERRORS_H_

#include <stdexcept>
#include <string>

#include "drystone/status.h"

namespace drystone::net {

class Failure : public std::runtime_error {
 public:
  Failure(TF_Code code, const std::string& text) : std::runtime_error(text), code(code) {}
  TF_Code code;
};

[[noreturn]] inline void fail(TF_Code code, const std::string& text) { throw Failure(code, text); }

// A failure with the text of an errno value.
[[noreturn]] void fail_errno(const std::string& what, int error);

}  // namespace drystone::net

#endif  // DRYSTONE_NET_ERRORS_H_

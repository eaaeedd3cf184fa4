// Plans for tests: their bytes, and a session that runs one.
#ifndef DRYSTONE_HOST_TESTS_PLANS_HELP_H_
#define DRYSTONE_HOST_TESTS_PLANS_HELP_H_

#include <string>
#include <vector>

#include "drystone/session.h"
#include "kernels_help.h"

namespace help {

// The bytes of a list of numbers.
inline std::string packed(const std::vector<int>& values) {
  std::string out;
  for (const int value : values) Writer::pack(&out, static_cast<std::uint64_t>(value));
  return out;
}

// An instruction with a kernel of two inputs and one output; `more` are fields of it.
inline std::string binary(const std::string& name, const char* op, int a, int b, const std::string& more) {
  return field(2, field(1, name) + field(2, op)) + field(4, packed({a, b})) +
         field(5, std::uint64_t{1}) + more;
}

// A session with one plan; `plan` is NULL where it was refused, and `status` says why.
struct LoadedPlan {
  LoadedPlan(const std::string& bytes, int inter_op_threads, std::int64_t micro_batch_bytes) {
    DS_SessionOptions options{};
    options.struct_size = DS_SESSION_OPTIONS_STRUCT_SIZE;
    options.inter_op_threads = inter_op_threads;
    options.micro_batch_bytes = micro_batch_bytes;
    session = DS_NewSession(&options, status);
    plan = DS_NewPlan(session, Bytes(bytes), nullptr, 0, status);
  }
  ~LoadedPlan() {
    DS_DeletePlan(plan);
    DS_DeleteSession(session);
  }
  LoadedPlan(const LoadedPlan&) = delete;
  LoadedPlan& operator=(const LoadedPlan&) = delete;

  Status status;
  DS_Session* session = nullptr;
  DS_Plan* plan = nullptr;
};

}  // namespace help

#endif  // DRYSTONE_HOST_TESTS_PLANS_HELP_H_

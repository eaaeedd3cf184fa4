// How runs end before their end: see executor/run_stop.h.
#include "executor/run_stop.h"

#include <string>

namespace drystone::host::executor {
namespace {

// Where a run was: "node 'a' (Relu)".
std::string place_of(const Instruction* in) {
  return in == nullptr ? "its first node" : Subject{.node = in->node, .op = in->op}.title();
}

// ", and its kernel 'MyRelu' of /path.so has not returned"; "" where it owes nothing.
std::string owed(const Instruction* in, Awaited awaited) {
  if (awaited == Awaited::nothing) return {};
  std::string kernel = "kernel";
  if (in != nullptr && in->compiled != nullptr) {
    kernel.append(" of subgraph backend '").append(in->compiled->backend().itself->name).append("'");
  } else if (in != nullptr && in->kernel != nullptr) {
    kernel.append(" '").append(in->kernel->registered->name).append("' of ").append(in->kernel->registered->library);
  }
  return ", and its " + kernel + (awaited == Awaited::done ? " has not called done" : " has not returned");
}

// `what` and where it was; `more` is only said.
[[noreturn]] void fail_over(TF_Code code, const char* stable, const std::string& what, const std::string& more,
                            const Instruction* in, Awaited awaited) {
  Payloads payloads{{DS_PAYLOAD_WHAT, what}};
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) payloads[key] = value;
  };
  add(DS_PAYLOAD_CODE, stable);
  if (in != nullptr) {
    add(DS_PAYLOAD_NODE, in->node);
    add(DS_PAYLOAD_OP, in->op);
  }
  if (awaited != Awaited::nothing) {
    add(DS_PAYLOAD_AWAITED, awaited == Awaited::done ? "done" : "return");
    if (in != nullptr && in->compiled != nullptr) {
      add(DS_PAYLOAD_BACKEND, in->compiled->backend().itself->name);
    } else if (in != nullptr && in->kernel != nullptr) {
      add(DS_PAYLOAD_KERNEL, in->kernel->registered->name);
      add(DS_PAYLOAD_LIBRARY, in->kernel->registered->library);
    }
  }
  fail(code, what + more + owed(in, awaited), std::move(payloads));
}

}  // namespace

void fail_late(const Instruction* in, Awaited awaited) {
  fail_over(TF_DEADLINE_EXCEEDED, "deadline-exceeded", "the run was stopped at " + place_of(in), ": its deadline has passed", in, awaited);
}

void fail_cancelled(const Instruction* in, const char* where, Awaited awaited) {
  fail_over(TF_CANCELLED, "run-cancelled", std::string("the run was cancelled ") + where + " " + place_of(in), "", in, awaited);
}

void fail_interrupted(const Instruction* in, const char* where, Awaited awaited) {
  fail_over(TF_CANCELLED, "", std::string("the run was interrupted ") + where + " " + place_of(in), "", in, awaited);
}

}  // namespace drystone::host::executor

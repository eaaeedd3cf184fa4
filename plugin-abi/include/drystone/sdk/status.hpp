// A TF_Status that deletes itself, and the way between statuses and errors.
//
// Since ABI 1.0. Needs the host's status functions.
#ifndef DRYSTONE_SDK_STATUS_HPP_
#define DRYSTONE_SDK_STATUS_HPP_

#include <memory>

#include "drystone/sdk/error.hpp"
#include "drystone/status.h"

namespace drystone::sdk {

// Write an error into a status that belongs to other code; TF_OK when there is none.
inline void store(const Error& error, TF_Status* status) {
  TF_SetStatus(status, error.code(), error.message().c_str());
  for (const auto& payload : error.payloads()) {
    TF_SetPayload(status, payload.first.c_str(), payload.second.c_str());
  }
}

// What a status says, as an error.
inline Error load(const TF_Status* status) {
  if (TF_GetCode(status) == TF_OK) return {};
  Error out(TF_GetCode(status), TF_Message(status));
  const TF_PayloadVisitor add = [](const char* key, const char* value, void* error) {
    static_cast<Error*>(error)->with(key, value);
  };
  TF_ForEachPayload(status, add, &out);
  return out;
}

// A status of one's own, to hand to functions of the host:
//   Status status;
//   TF_InferStatically(..., status.get());
//   if (Error error = status.take(); !error.ok()) return error;
class Status {
 public:
  Status() : status_(TF_NewStatus()) {}
  TF_Status* get() const { return status_.get(); }
  // What it says; it is OK again afterwards.
  Error take() {
    Error out = load(get());
    if (!out.ok()) TF_SetStatus(get(), TF_OK, "");
    return out;
  }

 private:
  struct Delete {
    void operator()(TF_Status* status) const { TF_DeleteStatus(status); }
  };
  std::unique_ptr<TF_Status, Delete> status_;
};

}  // namespace drystone::sdk

#endif  // DRYSTONE_SDK_STATUS_HPP_

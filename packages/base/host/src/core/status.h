// What a TF_Status is inside the host.
#ifndef DRYSTONE_HOST_CORE_STATUS_H_
#define DRYSTONE_HOST_CORE_STATUS_H_

#include <map>
#include <string>

#include "drystone/status.h"

struct TF_Status {
  TF_Status();
  ~TF_Status();
  TF_Status(const TF_Status&) = delete;
  TF_Status& operator=(const TF_Status&) = delete;

  TF_Code code = TF_OK;
  std::string message;
  std::map<std::string, std::string> payloads;
};

namespace drystone::host {

// Make it OK; NULL is ignored.
void clear(TF_Status* status) noexcept;

// Set code and "FUNCTION: TEXT"; NULL is ignored. Without memory the message stays empty.
void set(TF_Status* status, TF_Code code, const char* function, const char* text) noexcept;

// "INVALID_ARGUMENT" and so on.
const char* code_name(TF_Code code) noexcept;

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_STATUS_H_

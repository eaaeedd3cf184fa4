// What a TF_Status is inside the host.
#ifndef DRYSTONE_HOST_CORE_STATUS_H_
#define DRYSTONE_HOST_CORE_STATUS_H_

#include <cstdint>
#include <map>
#include <string>

#include "drystone/buffer.h"
#include "drystone/status.h"

namespace drystone::host {
// By key: see drystone/payloads.h.
using Payloads = std::map<std::string, std::string>;
}  // namespace drystone::host

struct TF_Status {
  TF_Status();
  ~TF_Status();
  TF_Status(const TF_Status&) = delete;
  TF_Status& operator=(const TF_Status&) = delete;

  // First, and empty but for optimizers in an old form, which take a status for their answer: see
  // optimizer/form.h.
  TF_Buffer answer{};
  // While the status is alive, kMark: see status_or_none().
  std::uint64_t mark = kMark;
  static constexpr std::uint64_t kMark = 0x7d5a'c3e1'905b'48f6;

  TF_Code code = TF_OK;
  std::string message;
  drystone::host::Payloads payloads;
};

namespace drystone::host {

// Make it OK; NULL is ignored.
void clear(TF_Status* status) noexcept;

// Set code and "FUNCTION: TEXT"; NULL is ignored. Without memory the message stays empty.
void set(TF_Status* status, TF_Code code, const char* function, const char* text) noexcept;

// The argument where it points to a status that is alive, else NULL. For functions that once had no
// status: a caller of that time leaves anything at all in its place.
TF_Status* status_or_none(TF_Status* candidate) noexcept;

// "INVALID_ARGUMENT" and so on.
const char* code_name(TF_Code code) noexcept;

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_CORE_STATUS_H_

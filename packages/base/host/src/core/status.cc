// TF_Status: see drystone/status.h.
#include "core/status.h"

#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>
#include <system_error>

#include "core/failure.h"
#include "core/handles.h"
#include "core/live.h"
#include "core/memory_guards.h"
#include "core/readable.h"
#include "drystone/payloads.h"

using drystone::host::Kind;

TF_Status::TF_Status() { drystone::host::born(Kind::status); }
TF_Status::~TF_Status() {
  *const_cast<volatile std::uint64_t*>(&mark) = 0;
  drystone::host::died(Kind::status);
}

namespace drystone::host {
namespace {

// Bytes of a message: readers and holders must not be flooded by a plugin's. There is
// room for what the host says beside that.
constexpr std::size_t kLongest = 3072;
constexpr std::size_t kLongestOfOthers = 2048;

// Cut between two characters of UTF-8, with a word on what was left out.
void bound(std::string* text, std::size_t longest) {
  if (text->size() <= longest) return;
  std::size_t end = longest;
  while (end > longest - 4 && (static_cast<unsigned char>((*text)[end]) & 0xC0) == 0x80) --end;
  const std::string more = "... (" + std::to_string(text->size() - end) + " bytes more)";
  text->resize(end);
  text->append(more);
  text->shrink_to_fit();
}

// Whether it is one of the keys that a plugin attaches as well as the host.
bool is_part_of_message(std::string_view key) {
  return key == DS_PAYLOAD_CHECK || key == DS_PAYLOAD_FOUND || key == DS_PAYLOAD_NEEDED;
}

constexpr const char* kNames[] = {
    "OK",           "CANCELLED",       "UNKNOWN",           "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED", "NOT_FOUND",  "ALREADY_EXISTS",    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
    "UNIMPLEMENTED", "INTERNAL",       "UNAVAILABLE",       "DATA_LOSS",
    "UNAUTHENTICATED"};
constexpr int kCodes = sizeof kNames / sizeof kNames[0];

TF_Code known(TF_Code code) noexcept {
  const int number = static_cast<int>(code);
  return number >= 0 && number < kCodes ? code : TF_UNKNOWN;
}

}  // namespace

TF_Status* status_or_none(TF_Status* candidate) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(candidate);
  if (at == 0 || at % alignof(TF_Status) != 0 || !is_readable(&candidate->mark)) return nullptr;
  return *const_cast<volatile std::uint64_t*>(&candidate->mark) == TF_Status::kMark ? candidate
                                                                                     : nullptr;
}

const char* code_name(TF_Code code) noexcept { return kNames[static_cast<int>(known(code))]; }

void clear(TF_Status* status) noexcept {
  if (status == nullptr) return;
  status->code = TF_OK;
  status->message.clear();
  if (!status->payloads.empty()) status->payloads.clear();
}

namespace {

void set_at_most(TF_Status* status, TF_Code code, const char* function, const char* text,
                 std::size_t longest) noexcept {
  if (status == nullptr) return;
  std::string message;
  if (known(code) != TF_OK) {
    try {
      if (function != nullptr) message.append(function).append(": ");
      message.append(text == nullptr ? "" : text);  // which may be this status's own message
      bound(&message, longest);
    } catch (...) {
      message.clear();
    }
  }
  clear(status);
  status->code = known(code);
  status->message.swap(message);
}

}  // namespace

void set(TF_Status* status, TF_Code code, const char* function, const char* text) noexcept {
  set_at_most(status, code, function, text, kLongest);
}

namespace {

// The code for an errno value, as POSIX error texts suggest.
TF_Code code_of_errno(int number) noexcept {
  switch (number) {
    case 0:
      return TF_OK;
    case EINVAL: case ENAMETOOLONG: case E2BIG: case EDESTADDRREQ: case EDOM: case EFAULT:
    case EILSEQ: case ENOPROTOOPT: case ENOTSOCK: case ENOTTY: case EPROTOTYPE: case ESPIPE:
      return TF_INVALID_ARGUMENT;
    case ETIMEDOUT:
      return TF_DEADLINE_EXCEEDED;
    case ENODEV: case ENOENT: case ENXIO: case ESRCH:
      return TF_NOT_FOUND;
    case EEXIST: case EADDRNOTAVAIL: case EALREADY:
      return TF_ALREADY_EXISTS;
    case EPERM: case EACCES: case EROFS:
      return TF_PERMISSION_DENIED;
    case ENOTEMPTY: case EISDIR: case ENOTDIR: case EADDRINUSE: case EBADF: case EBUSY:
    case ECHILD: case EISCONN: case ENOTBLK: case ENOTCONN: case EPIPE: case ESHUTDOWN:
    case ETXTBSY:
      return TF_FAILED_PRECONDITION;
    case ENOSPC: case EDQUOT: case EMFILE: case EMLINK: case ENFILE: case ENOBUFS: case ENODATA:
    case ENOMEM: case EUSERS:
      return TF_RESOURCE_EXHAUSTED;
    case EFBIG: case EOVERFLOW: case ERANGE:
      return TF_OUT_OF_RANGE;
    case ENOSYS: case ENOTSUP: case EAFNOSUPPORT: case EPFNOSUPPORT: case EPROTONOSUPPORT:
    case ESOCKTNOSUPPORT: case EXDEV:
      return TF_UNIMPLEMENTED;
    case EAGAIN: case ECONNREFUSED: case ECONNABORTED: case ECONNRESET: case EINTR:
    case EHOSTDOWN: case EHOSTUNREACH: case ENETDOWN: case ENETRESET: case ENETUNREACH:
    case ENOLCK: case ENOLINK: case ENONET:
      return TF_UNAVAILABLE;
    case EDEADLK: case ESTALE:
      return TF_ABORTED;
    case ECANCELED:
      return TF_CANCELLED;
    default:
      return TF_UNKNOWN;
  }
}

}  // namespace
}  // namespace drystone::host

using namespace drystone::host;

extern "C" {

TF_Status* TF_NewStatus(void) {
  static_assert(sizeof(TF_Status) <= kHandleLayouts[1].bytes && sizeof(TF_Buffer) == kHandleLayouts[1].mark);
  void* const room = take_handle(HandleKind::status);
  return room == nullptr ? nullptr : ::new (room) TF_Status();
}

void TF_DeleteStatus(TF_Status* status) {
  if (status == nullptr) return;
  if (!is_handle(HandleKind::status, status)) return note_misuse("it deleted a status that is the host's, or none");
  if (*const_cast<volatile std::uint64_t*>(&status->mark) != TF_Status::kMark) {
    return note_misuse("it deleted a status that had been deleted");
  }
  status->~TF_Status();
  give_handle(HandleKind::status, status);
}

void TF_SetStatus(TF_Status* status, TF_Code code, const char* message) {
  set_at_most(status, code, nullptr, message, kLongestOfOthers);
}

void TF_SetPayload(TF_Status* status, const char* key, const char* value) {
  if (key == nullptr || value == nullptr) return;
  if (!std::string_view(key).starts_with(DS_PAYLOAD_PREFIX)) return DS_SetPayload(status, key, value);
  if (!is_part_of_message(key)) return;
  answered(0, [&] {
    std::string part = value;
    bound(&part, kLongestOfOthers);
    DS_SetPayload(status, key, part.c_str());
    return 0;
  });
}

void DS_SetPayload(TF_Status* status, const char* key, const char* value) {
  if (status == nullptr || status->code == TF_OK || key == nullptr || value == nullptr) return;
  try {
    status->payloads[key] = value;
  } catch (...) {
    return;  // a payload is a hint: without memory for it the error still stands
  }
}

void TF_ForEachPayload(const TF_Status* status, TF_PayloadVisitor visitor, void* capture) {
  if (status == nullptr || visitor == nullptr) return;
  for (const auto& [key, value] : status->payloads) visitor(key.c_str(), value.c_str(), capture);
}

void TF_SetStatusFromIOError(TF_Status* status, int error_code, const char* context) {
  if (status == nullptr) return;
  try {
    const std::string text = std::string(context == nullptr ? "" : context) + "; " +
                             std::generic_category().message(error_code);
    set(status, code_of_errno(error_code), nullptr, text.c_str());
  } catch (...) {
    set(status, code_of_errno(error_code), nullptr, context);
  }
}

TF_Code TF_GetCode(const TF_Status* status) { return status == nullptr ? TF_OK : status->code; }

const char* TF_Message(const TF_Status* status) {
  return status == nullptr ? "" : status->message.c_str();
}

TSL_Status* TSL_NewStatus(void) { return TF_NewStatus(); }

void TSL_DeleteStatus(TSL_Status* status) { TF_DeleteStatus(status); }

void TSL_SetStatus(TSL_Status* status, TSL_Code code, const char* message) {
  TF_SetStatus(status, code, message);
}

void TSL_SetPayload(TSL_Status* status, const char* key, const char* value) {
  TF_SetPayload(status, key, value);
}

void TSL_ForEachPayload(const TSL_Status* status, TSL_PayloadVisitor visitor, void* capture) {
  TF_ForEachPayload(status, visitor, capture);
}

void TSL_SetStatusFromIOError(TSL_Status* status, int error_code, const char* context) {
  TF_SetStatusFromIOError(status, error_code, context);
}

TSL_Code TSL_GetCode(const TSL_Status* status) { return TF_GetCode(status); }

const char* TSL_Message(const TSL_Status* status) { return TF_Message(status); }

}  // extern "C"

// Failures with what they are about: see core/failure.h.
#include "core/failure.h"

#include <string_view>

#include "core/json.h"

namespace drystone::host {
namespace {

bool is_hosts(std::string_view key) { return key.starts_with(DS_PAYLOAD_PREFIX); }

// The status's payloads; those of plugins within bounds.
Payloads bounded(const Payloads& given) {
  Payloads out;
  int kept = 0, left_out = 0;
  for (const auto& [key, value] : given) {
    if (is_hosts(key)) {
      out.emplace(key, value);
    } else if (kept < DS_MOST_PAYLOADS && key.size() <= DS_MOST_PAYLOAD_KEY && value.size() <= DS_MOST_PAYLOAD_VALUE) {
      out.emplace(key, value);
      ++kept;
    } else {
      ++left_out;
    }
  }
  if (left_out != 0) out[DS_PAYLOAD_LEFT_OUT] = std::to_string(left_out);
  return out;
}

}  // namespace

std::string Subject::title() const {
  std::string out("node '");
  out.append(node).append("' (");
  if (kernel.empty()) return out.append(op).append(")");
  return out.append("op ").append(op).append(", kernel '").append(kernel).append("' of ").append(library).append(")");
}

const std::string& Failure::found() const {
  const auto at = payloads.find(DS_PAYLOAD_FOUND);
  return at == payloads.end() ? message : at->second;
}

void Failure::reached_through(const std::string& function, const std::string& node) {
  payloads.try_emplace(DS_PAYLOAD_FOUND, message);
  Json pair;
  pair.array();
  pair.text(function);
  pair.text(node);
  pair.close();
  std::string& calls = payloads[DS_PAYLOAD_CALLS];
  if (calls.empty()) calls.push_back('[');
  else calls.back() = ',';
  calls.append(pair.str()).append("]");
  message.append("\n  in function '").append(function).append("', called by node '").append(node).append("'");
}

Failure failure_at(const Subject& subject, Failure failure) {
  failure.payloads.try_emplace(DS_PAYLOAD_FOUND, failure.message);
  const auto name = [&](const char* key, const std::string& value) {
    if (!value.empty()) failure.payloads[key] = value;
  };
  name(DS_PAYLOAD_NODE, subject.node);
  name(DS_PAYLOAD_OP, subject.op);
  name(DS_PAYLOAD_KERNEL, subject.kernel);
  name(DS_PAYLOAD_LIBRARY, subject.library);
  name(DS_PAYLOAD_DEVICE, subject.device);
  failure.message = subject.title().append(": ").append(failure.message);
  return failure;
}

void fail_at(const Subject& subject, Failure failure) { throw failure_at(subject, std::move(failure)); }

Failure failure_in(const TF_Status& status, const std::string& before, Payloads more) {
  Payloads payloads = bounded(status.payloads);
  payloads.erase(DS_PAYLOAD_FUNCTION);
  const auto found = payloads.find(DS_PAYLOAD_FOUND);
  if (found != payloads.end() && !payloads.contains(DS_PAYLOAD_CHECK)) {
    const bool is_part = payloads.contains(DS_PAYLOAD_NODE) || payloads.contains(DS_PAYLOAD_CALLS);
    if (is_part) found->second.insert(0, before);
    else payloads.erase(found);  // the whole message, which is about to get longer
  }
  payloads.merge(more);
  return {status.code, before + status.message, std::move(payloads)};
}

void pass_on(const TF_Status& status, const std::string& before, Payloads more) {
  throw failure_in(status, before, std::move(more));
}

Failure failed_check(TF_Code code, const std::string& check, const std::string& found, const std::string& needed) {
  return {code, check + ": " + found + "; needed: " + needed,
          {{DS_PAYLOAD_CHECK, check}, {DS_PAYLOAD_FOUND, found}, {DS_PAYLOAD_NEEDED, needed}}};
}

void fail_check(TF_Code code, const std::string& check, const std::string& found, const std::string& needed) {
  throw failed_check(code, check, found, needed);
}

namespace {

// The function as the message says it. A plugin often hands on no more than the message of what it called,
// embedders know what they call.
const char* said(const char* function) noexcept {
  return function == nullptr || std::string_view(function).starts_with("DS_") ? nullptr : function;
}

// Without memory for its payloads an error still stands.
template <class Fill>
void attach(TF_Status* status, const char* function, Fill&& fill) noexcept {
  if (status == nullptr || status->code == TF_OK) return;
  try {
    std::forward<Fill>(fill)(status->payloads);
    if (function != nullptr) status->payloads[DS_PAYLOAD_FUNCTION] = function;
  } catch (...) {
    return;
  }
}

}  // namespace

void set(TF_Status* status, const char* function, const Failure& failure) noexcept {
  set(status, failure.code, said(function), failure.message.c_str());
  attach(status, function, [&](Payloads& payloads) {
    payloads = failure.payloads;
    payloads.try_emplace(DS_PAYLOAD_FOUND, failure.message);
  });
}

void set_found(TF_Status* status, TF_Code code, const char* function, const char* text) noexcept {
  set(status, code, said(function), text);
  attach(status, function, [&](Payloads& payloads) { payloads[DS_PAYLOAD_FOUND] = text; });
}

}  // namespace drystone::host

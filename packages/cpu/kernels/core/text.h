// Strings of tensors.
#ifndef DRYSTONE_CPU_CORE_TEXT_H_
#define DRYSTONE_CPU_CORE_TEXT_H_

#include <string_view>

#include "core/kernel.h"
#include "drystone/tstring.h"

namespace drystone::cpu {

inline std::string_view text_of(const TF_TString& string) {
  return {TF_TString_GetDataPointer(&string), TF_TString_GetSize(&string)};
}

inline std::string_view text_of(const Tensor& strings, std::int64_t k) {
  return text_of(strings.as<TF_TString>()[k]);
}

// Room for `size` bytes in a string of an output; fails with RESOURCE_EXHAUSTED without memory.
inline char* room_in(TF_TString* string, std::size_t size) {
  char* out = TF_TString_ResizeUninitialized(string, size);
  if (out == nullptr) {
    fail_no_memory("a string of " + std::to_string(size) + " bytes");
  }
  return out;
}

inline void set_text(TF_TString* string, std::string_view text) {
  char* out = room_in(string, text.size());
  if (!text.empty()) text.copy(out, text.size());
}

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_CORE_TEXT_H_

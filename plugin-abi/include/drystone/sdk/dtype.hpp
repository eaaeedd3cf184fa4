// Names of data types, for messages that people read.
//
// Since ABI 1.0. Header-only C++17; needs nothing of the host.
#ifndef DRYSTONE_SDK_DTYPE_HPP_
#define DRYSTONE_SDK_DTYPE_HPP_

#include <cstddef>
#include <string>
#include <string_view>

namespace drystone::sdk {

// By number, as specs of ops have them ("float", "int32"); "" for a number that is none.
inline constexpr std::string_view kDtypeNames[] = {
    "",         "float",       "double",        "int32",           "uint8",
    "int16",    "int8",        "string",        "complex64",       "int64",
    "bool",     "qint8",       "quint8",        "qint32",          "bfloat16",
    "qint16",   "quint16",     "uint16",        "complex128",      "half",
    "resource", "variant",     "uint32",        "uint64",          "float8_e5m2",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2fnuz", "int4",
    "uint4",    "int2",        "uint2",         "float4_e2m1fn"};
inline constexpr int kDtypes = sizeof kDtypeNames / sizeof kDtypeNames[0];
inline constexpr int kReferenceDtypes = 100;  // the number of a reference to type N is N + 100

// "float", or "float_ref" of a reference; "type 77" for a number that is none.
inline std::string dtype_name(int number) {
  if (number > 0 && number < kDtypes) return std::string(kDtypeNames[static_cast<std::size_t>(number)]);
  const int referenced = number - kReferenceDtypes;
  if (referenced > 0 && referenced < kDtypes) return dtype_name(referenced) + "_ref";
  return "type " + std::to_string(number);
}

}  // namespace drystone::sdk

#endif  // DRYSTONE_SDK_DTYPE_HPP_

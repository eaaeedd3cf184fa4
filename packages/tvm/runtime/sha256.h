// SHA-256 of bytes (FIPS 180-4), as hexadecimal digits: what tells one library from another.
#ifndef DRYSTONE_TVM_SHA256_H_
#define DRYSTONE_TVM_SHA256_H_

#include <string>
#include <string_view>

namespace drystone_tvm {

std::string sha256(std::string_view bytes);

}  // namespace drystone_tvm

#endif  // DRYSTONE_TVM_SHA256_H_

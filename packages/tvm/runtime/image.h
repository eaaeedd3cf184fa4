// A private copy of a library's file, in which what it imports from TVM's run time is ours.
//
// A library that TVM has compiled imports functions such as TVMFFIErrorSetRaisedFromCStrParts from
// whatever TVM run time is in the process, by names that are global there. Ours are not: another run
// time may be in the same process, for the same library. So the imports of a copy are made symbols
// that are defined, with the addresses of our functions as absolute values and not visible to others,
// which the dynamic linker (glibc 2.28 on) takes as they are. The copy is what is opened, so a file
// that changes on disk changes nothing that runs.
#ifndef DRYSTONE_TVM_IMAGE_H_
#define DRYSTONE_TVM_IMAGE_H_

#include <string>
#include <string_view>
#include <vector>

#include "drystone/sdk/error.hpp"

namespace drystone_tvm {

struct Image {
  std::string bytes;
  std::vector<std::string> variables;  // __TVM...: a host fills them in
  std::vector<std::string> functions;  // without the prefix
  std::size_t modules = 0;             // bytes of what it carries for devices
};

// Takes over the bytes of a shared library for this processor. FAILED_PRECONDITION for bytes that are
// none, or that import what only TVM's own run time has.
drystone::sdk::Result<Image> make_image(std::string bytes);

}  // namespace drystone_tvm

#endif  // DRYSTONE_TVM_IMAGE_H_

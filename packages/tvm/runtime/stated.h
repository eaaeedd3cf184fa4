// What a library says of itself, in the section ".drystone_tvm" of its file.
//
// Compiling regions (drystone_tvm/compiling/stated.py) writes it: text, whose second line names what
// the processor must have.
#ifndef DRYSTONE_TVM_STATED_H_
#define DRYSTONE_TVM_STATED_H_

#include <string>
#include <string_view>

namespace drystone_tvm {

// Names of what the library needs and this processor lacks, with commas between; "" for nothing, and
// for a library that says nothing.
std::string lacking(std::string_view file);

}  // namespace drystone_tvm

#endif  // DRYSTONE_TVM_STATED_H_

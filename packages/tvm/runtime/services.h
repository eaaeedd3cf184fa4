// What compiled functions call: errors, work space, loops on several threads.
//
// TVM's own run time is not needed for these; a library gets the addresses of our functions when it
// is opened (image.h, library.cc).
#ifndef DRYSTONE_TVM_SERVICES_H_
#define DRYSTONE_TVM_SERVICES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "convention.h"

namespace drystone_tvm {

class Imports;

// The address of a function that a library imports by this name; null for one that only TVM's run
// time has.
void* imported(std::string_view name);

// The value for a variable of the library that a host fills in, by the variable's name; null for one
// that is not known. `with_barriers`: its loops wait for each other, so that they run on one thread.
// `imports`: what it carries for devices, null for nothing.
void* context_value(std::string_view name, bool with_barriers, Imports* imports);

// The error that a function has set on this thread, which is forgotten then; empty for none.
struct Raised {
  std::string kind;
  std::string message;
};
Raised take_raised();
void forget_raised();
void set_raised(const std::string& kind, const std::string& message);

// While it lives, a function on this thread that asks for the stream of the device gets this one.
class CurrentStream {
 public:
  CurrentStream(DLDevice device, void* stream);
  ~CurrentStream();
  CurrentStream(const CurrentStream&) = delete;
  CurrentStream& operator=(const CurrentStream&) = delete;
};

// That stream, null for none.
void* current_stream();

}  // namespace drystone_tvm

#endif  // DRYSTONE_TVM_SERVICES_H_

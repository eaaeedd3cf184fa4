// Modules that a library of TVM carries for devices: kernels for CUDA, which its functions launch.
//
// A library has them as bytes, behind __tvm_ffi__library_bin, and asks its host for kernels by name.
// Source: apache-tvm 0.27, runtime/module.cc, metadata.h and thread_storage_scope.h.
#ifndef DRYSTONE_TVM_IMPORTS_H_
#define DRYSTONE_TVM_IMPORTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "convention.h"
#include "driver.h"
#include "drystone/sdk/error.hpp"

namespace drystone_tvm {

constexpr char kModules[] = "__tvm_ffi__library_bin";
constexpr char kContext[] = "__tvm_ffi__library_ctx";  // what the library gives to its host with a name

// What a compiled function calls through its host.
class Callee {
 public:
  virtual ~Callee() = default;
  virtual int call(const Any* arguments, std::int32_t count) const = 0;
};

// Where the numbers behind the arguments of a kernel go: grid, then block, x to z.
struct Launch {
  std::string key;  // by which it is asked for
  std::string name;
  std::size_t arguments = 0;  // pointers and whole numbers
  std::vector<std::size_t> places;
  bool with_shared_memory = false;
};

class Imports {
 public:
  // Takes the modules; UNIMPLEMENTED for those of other devices and for text, FAILED_PRECONDITION for
  // bytes that are none, and where CUDA has no device that they are for.
  static drystone::sdk::Result<std::unique_ptr<Imports>> load(std::string_view bytes);
  ~Imports();
  Imports(const Imports&) = delete;
  Imports& operator=(const Imports&) = delete;

  const cuda::Driver& driver() const { return driver_; }
  // Null for a name that is not there.
  const Callee* find(const std::string& name) const;

 private:
  explicit Imports(const cuda::Driver& driver) : driver_(driver) {}
  drystone::sdk::Error add(const std::string& code, std::vector<Launch> launches);

  const cuda::Driver& driver_;
  std::vector<cuda::Module> modules_;
  std::map<std::string, std::unique_ptr<Callee>> callees_;
};

}  // namespace drystone_tvm

#endif  // DRYSTONE_TVM_IMPORTS_H_

// CUDA's driver: memory, streams and kernels, through libcuda as it is installed on the machine.
//
// It is opened when the first library with code for CUDA is, so that nothing of CUDA is needed where
// there is none. Source: CUDA Driver API 12 (cuda.h), of which only what is called here is declared.
#ifndef DRYSTONE_TVM_DRIVER_H_
#define DRYSTONE_TVM_DRIVER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "drystone/sdk/error.hpp"

namespace drystone_tvm::cuda {

using Result = int;  // 0 for success
using Device = int;
using Address = std::uint64_t;
struct Context_;
struct Stream_;
struct Module_;
struct Kernel_;
struct Pool_;
using Context = Context_*;
using Stream = Stream_*;
using Module = Module_*;
using Kernel = Kernel_*;
using Pool = Pool_*;

struct Functions {
  Result (*init)(unsigned);
  Result (*error_text)(Result, const char**);
  Result (*device)(Device*, int);
  Result (*retain)(Context*, Device);
  Result (*push)(Context);
  Result (*pop)(Context*);
  Result (*new_stream)(Stream*, unsigned);
  Result (*wait)(Stream);
  Result (*allocate)(Address*, std::size_t, Stream);
  Result (*release)(Address, Stream);
  Result (*to_device)(Address, const void*, std::size_t, Stream);
  Result (*to_host)(void*, Address, std::size_t, Stream);
  Result (*load)(Module*, const void*);
  Result (*unload)(Module);
  Result (*kernel)(Kernel*, Module, const char*);
  Result (*kernel_attribute)(Kernel, int, int);
  Result (*launch)(Kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void**, void**);
  Result (*pool)(Pool*, Device);
  Result (*pool_attribute)(Pool, int, void*);
};

// The first device that CUDA shows, and its primary context, which CUDA's run time uses, too.
class Driver {
 public:
  // FAILED_PRECONDITION where there is no driver, or no device.
  static drystone::sdk::Result<const Driver*> get();

  const Functions& call() const { return functions_; }
  Context context() const { return context_; }
  // No error for 0; else INTERNAL, or RESOURCE_EXHAUSTED, with CUDA's words.
  drystone::sdk::Error error(const std::string& what, Result result) const;

 private:
  drystone::sdk::Error open();

  Functions functions_{};
  Context context_ = nullptr;
};

// While it lives, the context is this thread's.
class Current {
 public:
  explicit Current(const Driver& driver) : driver_(driver) { driver_.call().push(driver_.context()); }
  ~Current() {
    Context before = nullptr;
    driver_.call().pop(&before);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  const Driver& driver_;
};

// The device memory and the stream of one call. Streams are used again, one call at a time each.
class Call {
 public:
  explicit Call(const Driver& driver) : driver_(driver), current_(driver) {}
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  drystone::sdk::Error begin();
  Stream stream() const { return stream_; }
  // Memory until the end of the call, with what is at `from` where that is not null.
  drystone::sdk::Result<void*> copied(const void* from, std::size_t size);
  // Copies to the host's memory, in the order of the stream.
  drystone::sdk::Error take(void* to, const void* from, std::size_t size) const;
  // Waits for all of it; errors of kernels come here.
  drystone::sdk::Error finish();

 private:
  const Driver& driver_;
  Current current_;
  Stream stream_ = nullptr;
  std::vector<Address> memory_;
  bool waited_ = false;
};

}  // namespace drystone_tvm::cuda

#endif  // DRYSTONE_TVM_DRIVER_H_

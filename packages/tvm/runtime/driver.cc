#include "driver.h"

#include <dlfcn.h>

#include <mutex>

namespace drystone_tvm::cuda {
namespace {

using drystone::sdk::Error;

constexpr const char* kLibrary = "libcuda.so.1";
constexpr Result kOutOfMemory = 2;
constexpr unsigned kBesideTheNull = 1;  // CU_STREAM_NON_BLOCKING
constexpr int kReleaseThreshold = 4;    // CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
constexpr std::uint64_t kKept = std::uint64_t{256} << 20;  // bytes that stay with the process between calls

template <class F>
bool find(void* library, const char* name, F*& function) {
  function = reinterpret_cast<F*>(::dlsym(library, name));
  return function != nullptr;
}

// The first name that the driver does not have; null where it has all.
const char* fill(void* library, Functions& f) {
  const char* missing = nullptr;
  const auto take = [&](const char* name, auto*& function) {
    if (missing == nullptr && !find(library, name, function)) missing = name;
  };
  take("cuInit", f.init);
  take("cuGetErrorString", f.error_text);
  take("cuDeviceGet", f.device);
  take("cuDevicePrimaryCtxRetain", f.retain);
  take("cuCtxPushCurrent_v2", f.push);
  take("cuCtxPopCurrent_v2", f.pop);
  take("cuStreamCreate", f.new_stream);
  take("cuStreamSynchronize", f.wait);
  take("cuMemAllocAsync", f.allocate);
  take("cuMemFreeAsync", f.release);
  take("cuMemcpyHtoDAsync_v2", f.to_device);
  take("cuMemcpyDtoHAsync_v2", f.to_host);
  take("cuModuleLoadData", f.load);
  take("cuModuleUnload", f.unload);
  take("cuModuleGetFunction", f.kernel);
  take("cuFuncSetAttribute", f.kernel_attribute);
  take("cuLaunchKernel", f.launch);
  take("cuDeviceGetDefaultMemPool", f.pool);
  take("cuMemPoolSetAttribute", f.pool_attribute);
  return missing;
}

Error none(const std::string& what) { return Error(TF_FAILED_PRECONDITION, what); }

struct Streams {
  std::mutex lock;
  std::vector<Stream> idle;
};

Streams& streams() {
  static auto* all = new Streams();
  return *all;
}

}  // namespace

Error Driver::error(const std::string& what, Result result) const {
  if (result == 0) return {};
  const char* text = nullptr;
  if (functions_.error_text(result, &text) != 0 || text == nullptr) text = "an unknown error";
  return Error(result == kOutOfMemory ? TF_RESOURCE_EXHAUSTED : TF_INTERNAL,
               "CUDA: " + what + ": " + text + " (" + std::to_string(result) + ")");
}

Error Driver::open() {
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return none(std::string("CUDA's driver cannot be opened: ") + (why == nullptr ? kLibrary : why));
  }
  if (const char* missing = fill(library, functions_)) {
    return none(std::string("CUDA's driver has no ") + missing + ": it is older than 11.2");
  }
  Device device = 0;
  Result result = functions_.init(0);
  if (result == 0) result = functions_.device(&device, 0);
  if (result == 0) result = functions_.retain(&context_, device);
  if (result != 0) return none(error("no device", result).message());
  Pool pool = nullptr;
  std::uint64_t kept = kKept;
  if (functions_.pool(&pool, device) == 0) functions_.pool_attribute(pool, kReleaseThreshold, &kept);
  return {};
}

drystone::sdk::Result<const Driver*> Driver::get() {
  static std::mutex lock;
  static Driver* opened = nullptr;
  const std::lock_guard<std::mutex> guard(lock);
  if (opened != nullptr) return static_cast<const Driver*>(opened);
  auto driver = std::make_unique<Driver>();
  if (Error error = driver->open(); !error.ok()) return error;
  opened = driver.release();
  return static_cast<const Driver*>(opened);
}

Error Call::begin() {
  Streams& all = streams();
  {
    const std::lock_guard<std::mutex> guard(all.lock);
    if (!all.idle.empty()) {
      stream_ = all.idle.back();
      all.idle.pop_back();
      return {};
    }
  }
  return driver_.error("no stream", driver_.call().new_stream(&stream_, kBesideTheNull));
}

Call::~Call() {
  if (stream_ == nullptr) return;
  if (!waited_) driver_.call().wait(stream_);  // what failed half-way may still copy to the host
  for (const Address memory : memory_) driver_.call().release(memory, stream_);
  Streams& all = streams();
  const std::lock_guard<std::mutex> guard(all.lock);
  all.idle.push_back(stream_);
}

drystone::sdk::Result<void*> Call::copied(const void* from, std::size_t size) {
  Address memory = 0;
  if (Error error = driver_.error("no memory of " + std::to_string(size) + " bytes",
                                  driver_.call().allocate(&memory, size, stream_));
      !error.ok()) {
    return error;
  }
  memory_.push_back(memory);
  if (from != nullptr) {
    const Result result = driver_.call().to_device(memory, from, size, stream_);
    if (Error error = driver_.error("an input cannot be copied", result); !error.ok()) return error;
  }
  return reinterpret_cast<void*>(memory);
}

Error Call::take(void* to, const void* from, std::size_t size) const {
  const auto address = static_cast<Address>(reinterpret_cast<std::uintptr_t>(from));
  return driver_.error("a result cannot be copied", driver_.call().to_host(to, address, size, stream_));
}

Error Call::finish() {
  waited_ = true;
  return driver_.error("the kernels failed", driver_.call().wait(stream_));
}

}  // namespace drystone_tvm::cuda

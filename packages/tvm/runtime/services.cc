#include "services.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>

#include "convention.h"
#include "driver.h"
#include "drystone/threads.h"
#include "imports.h"

namespace drystone_tvm {
namespace {

constexpr std::size_t kMostText = 4096;

Raised& raised() {
  thread_local Raised error;
  return error;
}

void add(std::string& text, const char* part) {
  if (part == nullptr) return;
  text.append(part);
  if (text.size() > kMostText) text.resize(kMostText);
}

void set_from_parts(const char* kind, const char** parts, std::int32_t count) {
  Raised& error = raised();
  error.kind = kind == nullptr ? "" : kind;
  error.message.clear();
  for (std::int32_t i = 0; parts != nullptr && i < count; ++i) add(error.message, parts[i]);
}

void set_from_text(const char* kind, const char* message) { set_from_parts(kind, &message, 1); }

struct Stream {
  DLDevice device;
  void* handle;
};

Stream& current() {
  thread_local Stream stream{{0, 0}, nullptr};
  return stream;
}

void* stream_of(std::int32_t device_type, std::int32_t device_id) {
  const Stream& stream = current();
  return stream.device.type == device_type && stream.device.id == device_id ? stream.handle : nullptr;
}

void* allocate_on_cuda(std::uint64_t bytes) {
  const auto driver = cuda::Driver::get();
  if (!driver.ok()) return nullptr;
  cuda::Address memory = 0;
  const cuda::Result result =
      (*driver)->call().allocate(&memory, bytes == 0 ? 1 : bytes, static_cast<cuda::Stream>(current().handle));
  const auto error = (*driver)->error("no work space of " + std::to_string(bytes) + " bytes", result);
  if (error.ok()) return reinterpret_cast<void*>(memory);
  set_from_text("MemoryError", error.message().c_str());
  return nullptr;
}

void release_on_cuda(void* memory) {
  const auto driver = cuda::Driver::get();
  if (!driver.ok()) return;
  const auto address = static_cast<cuda::Address>(reinterpret_cast<std::uintptr_t>(memory));
  (*driver)->call().release(address, static_cast<cuda::Stream>(current().handle));
}

void* allocate(int device_type, int /*device_id*/, std::uint64_t bytes, int /*dtype_code*/, int /*dtype_bits*/) {
  if (device_type == kCuda) return allocate_on_cuda(bytes);
  if (device_type != kCpu) {
    set_from_text("NotImplementedError", "there is work space in the host's memory and on CUDA's devices only");
    return nullptr;
  }
  if (bytes > SIZE_MAX - kAlignment) return nullptr;
  const std::uint64_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return std::aligned_alloc(kAlignment, rounded == 0 ? kAlignment : rounded);
}

int release(int device_type, int /*device_id*/, void* memory) {
  if (device_type == kCuda) {
    release_on_cuda(memory);
  } else {
    std::free(memory);
  }
  return 0;
}

// What a library carries for devices, and asks for by name.
int find_import(void* library, const char* name, void** out) {
  const Callee* found = library == nullptr ? nullptr : static_cast<const Imports*>(library)->find(name);
  *out = const_cast<Callee*>(found);
  if (found != nullptr) return 0;
  set_from_text("RuntimeError", ("it calls " + std::string(name) + ", which only TVM's own run time has").c_str());
  return -1;
}

int call_import(void* function, const Any* arguments, std::int32_t count, Any* result) {
  *result = {kNone, 0, {}};
  return static_cast<const Callee*>(function)->call(arguments, count);
}

int init_once(void** handle, int (*init)(void** result)) {
  static std::recursive_mutex lock;
  const std::lock_guard<std::recursive_mutex> guard(lock);
  std::atomic_ref<void*> shared(*handle);
  if (shared.load(std::memory_order_acquire) != nullptr) return 0;
  void* made = nullptr;
  const int code = init(&made);
  if (code == 0) shared.store(made, std::memory_order_release);
  return code;
}

struct Group {
  void* sync;
  std::int32_t tasks;
};

using Task = int (*)(int number, Group* group, void* closure);

struct Launch {
  Task task;
  Group group;
  void* closure;
  std::mutex lock;
  std::optional<Raised> error;  // the first; each is set on the thread of its part
};

void run_tasks(void* argument, std::int64_t begin, std::int64_t end) {
  auto* launch = static_cast<Launch*>(argument);
  for (std::int64_t i = begin; i < end; ++i) {
    if (launch->task(static_cast<int>(i), &launch->group, launch->closure) == 0) continue;
    Raised error = take_raised();
    const std::lock_guard<std::mutex> guard(launch->lock);
    if (!launch->error) launch->error = std::move(error);
  }
}

int launch_on(int threads, Task task, void* closure) {
  Launch launch{task, {nullptr, threads}, closure, {}, {}};
  DS_ParallelForGrain(threads, 1, run_tasks, &launch);
  if (!launch.error) return 0;
  raised() = std::move(*launch.error);
  return -1;
}

int launch(Task task, void* closure, int tasks) {
  return launch_on(tasks > 0 ? tasks : DS_NumThreads(), task, closure);
}

int launch_alone(Task task, void* closure, int /*tasks*/) { return launch_on(1, task, closure); }

int barrier(int /*task*/, Group* /*group*/) { return 0; }

template <class F>
void* address(F* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

void* imported(std::string_view name) {
  if (name == "TVMFFIErrorSetRaisedFromCStr") return address(&set_from_text);
  if (name == "TVMFFIErrorSetRaisedFromCStrParts") return address(&set_from_parts);
  if (name == "TVMFFIEnvGetStream") return address(&stream_of);
  return nullptr;
}

namespace {

void* value_for_imports(std::string_view name, Imports* imports) {
  if (name == kContext) return imports;
  if (name == "__TVMFFIFunctionCall") return address(&call_import);
  if (name == "__TVMFFIEnvModLookupFromImports") return address(&find_import);
  if (name == "__TVMFFIHandleInitOnce") return address(&init_once);
  return nullptr;
}

}  // namespace

void* context_value(std::string_view name, bool with_barriers, Imports* imports) {
  if (imports != nullptr) {
    void* found = value_for_imports(name, imports);
    if (found != nullptr) return found;
  }
  if (name == "__TVMBackendAllocWorkspace") return address(&allocate);
  if (name == "__TVMBackendFreeWorkspace") return address(&release);
  if (name == "__TVMBackendParallelBarrier") return address(&barrier);
  if (name == "__TVMBackendParallelLaunch") return address(with_barriers ? &launch_alone : &launch);
  if (name == "__TVMFFIErrorSetRaisedFromCStr") return address(&set_from_text);
  if (name == "__TVMFFIErrorSetRaisedFromCStrParts") return address(&set_from_parts);
  return nullptr;
}

CurrentStream::CurrentStream(DLDevice device, void* stream) { current() = {device, stream}; }

CurrentStream::~CurrentStream() { current() = {{0, 0}, nullptr}; }

void forget_raised() {
  Raised& error = raised();
  error.kind.clear();
  error.message.clear();
}

void set_raised(const std::string& kind, const std::string& message) {
  set_from_text(kind.c_str(), message.c_str());
}

void* current_stream() { return current().handle; }

Raised take_raised() { return std::exchange(raised(), Raised()); }

}  // namespace drystone_tvm

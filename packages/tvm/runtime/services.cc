#include "services.h"

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>

#include "convention.h"
#include "drystone/threads.h"

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

void* allocate(int device_type, int /*device_id*/, std::uint64_t bytes, int /*dtype_code*/, int /*dtype_bits*/) {
  if (device_type != kCpu) {
    set_from_text("NotImplementedError", "there is work space in the host's memory only");
    return nullptr;
  }
  if (bytes > SIZE_MAX - kAlignment) return nullptr;
  const std::uint64_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return std::aligned_alloc(kAlignment, rounded == 0 ? kAlignment : rounded);
}

int release(int /*device_type*/, int /*device_id*/, void* memory) {
  std::free(memory);
  return 0;
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

void* context_value(std::string_view name, bool with_barriers) {
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

Raised take_raised() { return std::exchange(raised(), Raised()); }

}  // namespace drystone_tvm

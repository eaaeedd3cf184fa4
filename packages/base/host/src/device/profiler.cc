// Profilers: the entry symbol TF_InitProfiler, their registry and the DS_ functions on them.
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/answers.h"
#include "core/buffer.h"
#include "core/json.h"
#include "device/calls.h"
#include "device/init.h"
#include "device/locked_call.h"
#include "device/padded_struct.h"
#include "device/shutdown.h"
#include "drystone/profiler.h"
#include "drystone_host/device.h"
#include "library/of_programs.h"
#include "threads/abandonable_call.h"

namespace drystone::host {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 31;
constexpr std::size_t kGuard = 64;
constexpr std::size_t kLongestType = 256;
constexpr unsigned char kPattern = 0xD5;

using Init = void (*)(TF_ProfilerRegistrationParams*, TF_Status*);

struct Profiler {
  std::string library;
  bool is_watched = true;  // its functions may take forever
  std::string type;
  std::string version;
  PaddedStruct<TP_Profiler> profiler = DRYSTONE_PADDED_STRUCT(TP_Profiler, TP_PROFILER_STRUCT_SIZE);
  PaddedStruct<TP_ProfilerFns> fns = DRYSTONE_PADDED_STRUCT(TP_ProfilerFns, TP_PROFILER_FNS_STRUCT_SIZE);
  void (*destroy_profiler)(TP_Profiler*) = nullptr;
  void (*destroy_profiler_fns)(TP_ProfilerFns*) = nullptr;
  std::mutex mutex;  // the plugin is never called twice at once
  std::atomic<bool> running{false};  // listed without the mutex

  void destroy() noexcept {
    answered(0, [&] {
      if (has_abandoned_call(library)) return 0;
      const PluginCall running("destroy_profiler", library.c_str());
      destroy_profiler_fns(fns.get());
      destroy_profiler(profiler.get());
      return 0;
    });
  }
};

struct Profilers {
  std::mutex mutex;
  std::vector<std::unique_ptr<Profiler>> profilers;
};

Profilers& all_profilers() {
  static auto* const the = new Profilers;
  return *the;
}

void check(Profiler& made, const TF_ProfilerRegistrationParams& params) {
  require_major("profiler interface", TP_MAJOR, params.major_version, params.minor_version,
                params.patch_version);
  if (params.profiler != made.profiler.get() || params.profiler_fns != made.fns.get()) {
    fail(TF_FAILED_PRECONDITION,
         "TF_ProfilerRegistrationParams: the plugin replaced profiler or profiler_fns; it must "
         "fill in the structs that they point to");
  }
  require_members("TF_ProfilerRegistrationParams",
                  {{"destroy_profiler", params.destroy_profiler != nullptr},
                   {"destroy_profiler_fns", params.destroy_profiler_fns != nullptr}});
  made.profiler.settle();
  made.fns.settle();
  const char* const type = made.profiler->device_type;
  const auto text = type == nullptr ? std::string() : text_at(type);
  require_members("TP_Profiler", {{"device_type", text != std::string()}});
  if (!text || text->size() > kLongestType) {
    fail(TF_FAILED_PRECONDITION, "TP_Profiler.device_type is no text of at most " + std::to_string(kLongestType) + " bytes");
  }
  made.type = *text;
  require_members("TP_ProfilerFns",
                  {{"start", made.fns->start != nullptr},
                   {"stop", made.fns->stop != nullptr},
                   {"collect_data_xspace", made.fns->collect_data_xspace != nullptr}});
}

std::unique_ptr<Profiler> make(const std::string& library, Init init) {
  auto made = std::make_unique<Profiler>();
  auto padded = DRYSTONE_PADDED_STRUCT(TF_ProfilerRegistrationParams,
                            TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE);
  padded->major_version = TP_MAJOR;
  padded->minor_version = TP_MINOR;
  padded->patch_version = TP_PATCH;
  padded->profiler = made->profiler.get();
  padded->profiler_fns = made->fns.get();
  call_entry("TF_InitProfiler", [&](TF_Status* status) { init(padded.get(), status); });
  padded.settle();
  check(*made, *padded);
  made->library = library;
  made->version = std::to_string(padded->major_version) + "." + std::to_string(padded->minor_version) +
                  "." + std::to_string(padded->patch_version);
  made->destroy_profiler = padded->destroy_profiler;
  made->destroy_profiler_fns = padded->destroy_profiler_fns;
  return made;
}

// Takes the profiler, unless there is one of its type: then the library that registered that.
std::string added(std::unique_ptr<Profiler>& profiler) {
  Profilers& all = all_profilers();
  const std::scoped_lock lock(all.mutex);
  for (const auto& other : all.profilers) {
    if (other->type == profiler->type) return other->library;
  }
  all.profilers.push_back(std::move(profiler));
  return "";
}

void add(std::unique_ptr<Profiler> profiler) {
  const std::string first = added(profiler);
  if (profiler == nullptr) return;
  profiler->destroy();  // calls the plugin, so without the lock
  fail(TF_ALREADY_EXISTS, "a profiler of device type '" + profiler->type +
                              "' is registered by " + first + " already; " + profiler->library +
                              " offers another and is refused");
}

Profiler& find(const char* type) {
  require(type, "type");
  Profilers& all = all_profilers();
  const std::scoped_lock lock(all.mutex);
  std::string known;
  for (const auto& profiler : all.profilers) {
    if (profiler->type == type) return *profiler;
    known += (known.empty() ? "" : ", ") + profiler->type;
  }
  fail(TF_NOT_FOUND, "no library registered a profiler of device type '" + std::string(type) +
                         "'; registered: " + (known.empty() ? "none" : known));
}

void require_running(const Profiler& profiler, bool running) {
  if (profiler.running == running) return;
  fail(TF_FAILED_PRECONDITION, "the profiler of " + profiler.type +
                                   (running ? " is not running" : " is running already"));
}

// Two calls: how many bytes, then the bytes. Guard bytes behind them catch what is written past.
std::string collect(Profiler& profiler) {
  const std::string what = profiler.type + " collect_data_xspace";
  std::size_t size = 0;
  const auto call = [&](std::uint8_t* buffer) {
    call_plugin(what, profiler.library, [&](TF_Status* status) {
      profiler.fns->collect_data_xspace(profiler.profiler.get(), buffer, &size, status);
    });
  };
  call(nullptr);
  if (size > kMostBytes) {
    misbehaved(what, profiler.library,
               "asks for " + std::to_string(size) + " bytes, limit " + std::to_string(kMostBytes));
  }
  const std::size_t asked = size;
  std::string bytes(asked + kGuard, static_cast<char>(kPattern));
  call(reinterpret_cast<std::uint8_t*>(bytes.data()));
  const bool intact = bytes.find_first_not_of(static_cast<char>(kPattern), asked) ==
                      std::string::npos;
  if (size > asked || !intact) {
    misbehaved(what, profiler.library, "wrote past the " + std::to_string(asked) + " bytes it asked for");
  }
  bytes.resize(size);
  return bytes;
}

void locked(Profiler& profiler, const char* what, std::function<void()> work) {
  call_locked(profiler.mutex, {profiler.type + " " + what, profiler.library, profiler.is_watched}, std::move(work));
}

}  // namespace

void destroy_profilers() noexcept {
  std::vector<std::unique_ptr<Profiler>> gone;
  {
    const std::scoped_lock lock(all_profilers().mutex);
    gone.swap(all_profilers().profilers);
  }
  for (const auto& profiler : gone) profiler->destroy();  // calls plugins, so without the lock
}

void init_profiler(Library& library, void* function) {
  auto made = make(library.path, reinterpret_cast<Init>(function));
  made->is_watched = !library.is_vouched_for;
  const std::string type = made->type;
  add(std::move(made));
  library.profilers.push_back(type);
}

}  // namespace drystone::host

using namespace drystone::host;

extern "C" {

void DS_ListProfilers(TF_Buffer* json, TF_Status* status) {
  guarded(status, __func__, [&] {
    Profilers& all = all_profilers();
    const std::scoped_lock lock(all.mutex);
    Json text;
    text.array();
    for (const auto& profiler : all.profilers) {
      text.object();
      text.text("type", profiler->type);
      text.text("library", profiler->library);
      text.text("version", profiler->version);
      text.boolean("running", profiler->running.load());
      text.close();
    }
    text.close();
    fill(json, text.str());
  });
}

void DS_StartProfiler(const char* type, TF_Status* status) {
  guarded(status, __func__, [&] {
    Profiler& profiler = find(type);
    locked(profiler, "start", [&profiler] {
      require_running(profiler, false);
      call_plugin(profiler.type + " start", profiler.library,
                  [&](TF_Status* inner) { profiler.fns->start(profiler.profiler.get(), inner); });
      profiler.running = true;
    });
  });
}

void DS_StopProfiler(const char* type, TF_Status* status) {
  guarded(status, __func__, [&] {
    Profiler& profiler = find(type);
    locked(profiler, "stop", [&profiler] {
      require_running(profiler, true);
      profiler.running = false;
      call_plugin(profiler.type + " stop", profiler.library,
                  [&](TF_Status* inner) { profiler.fns->stop(profiler.profiler.get(), inner); });
    });
  });
}

void DS_CollectProfile(const char* type, TF_Buffer* xspace, TF_Status* status) {
  guarded(status, __func__, [&] {
    Profiler& profiler = find(type);
    const auto found = std::make_shared<std::string>();
    locked(profiler, "collect_data_xspace", [&profiler, found] {
      require_running(profiler, false);
      *found = collect(profiler);
    });
    fill(xspace, *found);
  });
}

void DS_ShutdownDevices(void) {
  if (is_refused("DS_ShutdownDevices", __builtin_return_address(0))) return;
  destroy_profilers();
  destroy_platforms();
}

}  // extern "C"

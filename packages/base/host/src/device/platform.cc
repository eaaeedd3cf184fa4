// Registration of a platform and creation of its devices.
#include "device/platform.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/answers.h"
#include "core/quoted.h"
#include "device/calls.h"
#include "device/locked_call.h"
#include "device/objects.h"
#include "threads/abandonable_call.h"

namespace drystone::host {
namespace {

constexpr int kMostDevices = 4096;

// As TensorFlow has it: [A-Z][A-Z_]*
bool is_platform_name(const std::string& text) {
  const auto is_letter = [](char c) { return c >= 'A' && c <= 'Z'; };
  return !text.empty() && is_letter(text[0]) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || c == '_'; });
}

std::string required_name(const char* member, const char* value) {
  const auto text = value == nullptr ? std::nullopt : text_at(value);
  if (text && is_platform_name(*text)) return *text;
  const std::string found = value == nullptr ? "NULL" : text ? quoted(*text) : "at an address where no text is";
  fail(TF_FAILED_PRECONDITION, std::string(member) + " is " + found + "; it must be set and match [A-Z][A-Z_]*");
}

void require_functions(const SP_PlatformFns& fns) {
  require_members(
      "SP_PlatformFns",
      {{"get_device_count", fns.get_device_count != nullptr},
       {"create_device", fns.create_device != nullptr},
       {"destroy_device", fns.destroy_device != nullptr},
       {"create_device_fns", fns.create_device_fns != nullptr},
       {"destroy_device_fns", fns.destroy_device_fns != nullptr},
       {"create_stream_executor", fns.create_stream_executor != nullptr},
       {"destroy_stream_executor", fns.destroy_stream_executor != nullptr}});
  if ((fns.create_timer_fns == nullptr) != (fns.destroy_timer_fns == nullptr)) {
    fail(TF_FAILED_PRECONDITION,
         "SP_PlatformFns must set both or none of create_timer_fns and destroy_timer_fns");
  }
}

}  // namespace

Platform::Platform(std::string library, bool is_watched, Init init)
    : library_(std::move(library)), is_watched_(is_watched) {
  auto padded = DRYSTONE_PADDED_STRUCT(SE_PlatformRegistrationParams,
                            SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE);
  padded->major_version = SE_MAJOR;
  padded->minor_version = SE_MINOR;
  padded->patch_version = SE_PATCH;
  padded->platform = platform_.get();
  padded->platform_fns = fns_.get();
  call_entry("SE_InitPlugin", [&](TF_Status* status) { init(padded.get(), status); });
  padded.settle();
  check(*padded);
}

void Platform::check(const SE_PlatformRegistrationParams& params) {
  version_ = {params.major_version, params.minor_version, params.patch_version};
  require_major("device interface", SE_MAJOR, version_[0], version_[1], version_[2]);
  if (params.platform != platform_.get() || params.platform_fns != fns_.get()) {
    fail(TF_FAILED_PRECONDITION,
         "SE_PlatformRegistrationParams: the plugin replaced platform or platform_fns; it must "
         "fill in the structs that they point to");
  }
  require_members("SE_PlatformRegistrationParams",
                  {{"destroy_platform", params.destroy_platform != nullptr},
                   {"destroy_platform_fns", params.destroy_platform_fns != nullptr}});
  platform_.settle();
  fns_.settle();
  std::string name = required_name("SP_Platform.name", platform_->name);
  std::string type = required_name("SP_Platform.type", platform_->type);
  require_functions(*fns_);
  name_ = std::move(name);
  type_ = std::move(type);
  destroy_platform_ = params.destroy_platform;
  destroy_platform_fns_ = params.destroy_platform_fns;
}

template <class Result>
Result Platform::locked(const char* what, std::function<Result()> body) {
  const auto answer = std::make_shared<Result>();
  call_locked(mutex_, {name_ + " " + what, library_, is_watched_}, [=] { *answer = body(); });
  return *answer;
}

int Platform::device_count() {
  return locked<int>("get_device_count", [this] { return ask_count(); });
}

int Platform::ask_count() {
  int count = 0;
  const std::string what = name_ + " get_device_count";
  call_plugin(what, library_, [&](TF_Status* status) { fns_->get_device_count(platform_.get(), &count, status); });
  if (count < 0 || count > kMostDevices) {
    misbehaved(what, library_,
               "answers " + std::to_string(count) + "; between 0 and " + std::to_string(kMostDevices) + " can be");
  }
  return count;
}

DS_Device& Platform::device(int ordinal) {
  return *locked<DS_Device*>("create_device", [this, ordinal] { return &made_device(ordinal); });
}

DS_Device& Platform::made_device(int ordinal) {
  const int count = ask_count();
  if (ordinal < 0 || ordinal >= count) {
    fail(TF_NOT_FOUND, "no device " + type_ + ":" + std::to_string(ordinal) + ": platform " +
                           name_ + " of " + library_ + " has " + std::to_string(count) +
                           " devices");
  }
  const auto index = static_cast<std::size_t>(ordinal);
  if (devices_.size() <= index) devices_.resize(index + 1);
  if (devices_[index] == nullptr) devices_[index] = make_device(ordinal);
  return *devices_[index];
}

std::unique_ptr<DS_Device> Platform::make_device(int ordinal) {
  auto made = std::make_unique<DS_Device>(*this);
  made->name = "/device:" + type_ + ":" + std::to_string(ordinal);
  try {
    fill_device(*made, ordinal);
  } catch (...) {
    destroy_device(*made);
    throw;
  }
  return made;
}

void Platform::fill_device(DS_Device& made, int ordinal) {
  const auto create = [&](const char* what, auto function, auto& params) {
    call_plugin(made.name + " " + what, library_,
                [&](TF_Status* status) { function(platform_.get(), params.get(), status); }, made.name);
    ++made.made;
    params.settle();
  };
  auto device = DRYSTONE_PADDED_STRUCT(SE_CreateDeviceParams, SE_CREATE_DEVICE_PARAMS_STRUCT_SIZE);
  made.device->ordinal = ordinal;
  device->ordinal = ordinal;
  device->device = made.device.get();
  create("create_device", fns_->create_device, device);
  made.device.settle();
  auto facts = DRYSTONE_PADDED_STRUCT(SE_CreateDeviceFnsParams, SE_CREATE_DEVICE_FNS_PARAMS_STRUCT_SIZE);
  facts->device_fns = made.facts.get();
  create("create_device_fns", fns_->create_device_fns, facts);
  made.facts.settle();
  auto executor =
      DRYSTONE_PADDED_STRUCT(SE_CreateStreamExecutorParams, SE_CREATE_STREAM_EXECUTOR_PARAMS_STRUCT_SIZE);
  executor->stream_executor = made.executor.get();
  create("create_stream_executor", fns_->create_stream_executor, executor);
  settle_executor(made, unified_memory());
  if (fns_->create_timer_fns != nullptr) {
    create("create_timer_fns", fns_->create_timer_fns, made.timer);
    made.has_timer = made.timer->nanoseconds != nullptr && made.executor->create_timer != nullptr;
  }
}

void Platform::each_device(const std::function<void(DS_Device&)>& body) {
  if (has_abandoned_call(library_)) return;  // which may hold the lock
  const std::scoped_lock lock(mutex_);
  for (const auto& device : devices_) {
    if (device != nullptr) body(*device);
  }
}

void Platform::destroy_device(DS_Device& device) noexcept {
  answered(0, [&] {
    wait_for_left(device);
    if (!device.left.empty()) static_cast<void>(new auto(std::move(device.left)));  // its work may be under way
    const std::string what = device.name + " destroy_device";
    const PluginCall running(what.c_str(), library_.c_str());
    if (device.made > 3) fns_->destroy_timer_fns(platform_.get(), device.timer.get());
    if (device.made > 2) fns_->destroy_stream_executor(platform_.get(), device.executor.get());
    if (device.made > 1) fns_->destroy_device_fns(platform_.get(), device.facts.get());
    if (device.made > 0) fns_->destroy_device(platform_.get(), device.device.get());
    return 0;
  });
}

void Platform::destroy() noexcept {
  answered(0, [&] {
    if (has_abandoned_call(library_)) return 0;
    each_device([&](DS_Device& device) { destroy_device(device); });
    devices_.clear();
    const PluginCall running("destroy_platform", library_.c_str());
    destroy_platform_fns_(fns_.get());
    destroy_platform_(platform_.get());
    return 0;
  });
}

}  // namespace drystone::host

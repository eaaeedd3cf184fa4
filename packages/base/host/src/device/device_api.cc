// DS_ functions that list, give and describe devices.
#include <cmath>
#include <utility>

#include "core/answers.h"
#include "core/buffer.h"
#include "core/json.h"
#include "device/description.h"
#include "device/objects.h"

namespace drystone::host {
namespace {

std::string dotted(const std::array<int, 3>& version) {
  return std::to_string(version[0]) + "." + std::to_string(version[1]) + "." +
         std::to_string(version[2]);
}

void count_devices(Json& json, Platform& platform) {
  try {
    json.integer("device_count", platform.device_count());
  } catch (const Failure& failure) {
    json.text("error", failure.message);
  }
}

void list_platform(Json& json, Platform& platform) {
  json.object();
  json.text("platform", platform.name());
  json.text("type", platform.type());
  json.text("library", platform.library());
  json.text("version", dotted(platform.version()));
  json.boolean("unified_memory", platform.sp().supports_unified_memory != 0);
  json.boolean("use_bfc_allocator", platform.sp().use_bfc_allocator != 0);
  json.boolean("force_memory_growth", platform.sp().force_memory_growth != 0);
  count_devices(json, platform);
  std::vector<std::string> names;
  platform.each_device([&](DS_Device& device) { names.push_back(device.name); });
  json.texts("devices", names);
  json.close();
}

void describe_facts(Json& json, DS_Device& device) {
  const SP_DeviceFns& facts = *device.facts;
  const auto fact = [&](const char* what, auto function) -> decltype(function(device.sp())) {
    if (function == nullptr) return -1;
    return in_plugin(device.name + " " + what, device.platform.library(), [&] { return function(device.sp()); });
  };
  json.integer("numa_node", fact("get_numa_node", facts.get_numa_node));
  json.integer("memory_bandwidth", fact("get_memory_bandwidth", facts.get_memory_bandwidth));
  const double gflops = fact("get_gflops", facts.get_gflops);
  if (!std::isfinite(gflops)) {
    misbehaved(device.name + " get_gflops", device.platform.library(), "answers " + std::to_string(gflops), device.name);
  }
  json.key("gflops");
  json.number(gflops);
}

void describe(Json& json, DS_Device& device) {
  const auto known = [&](const char* text) -> std::string {
    if (text == nullptr) return "unknown";
    auto found = text_at(text);
    if (!found) {
      misbehaved(device.name + " create_device", device.platform.library(),
                 "gave a text that has no end, or cannot be read", device.name);
    }
    return *std::move(found);
  };
  json.object();
  json.text("name", device.name);
  json.text("platform", device.platform.name());
  json.text("library", device.platform.library());
  json.text("hardware_name", known(device.device->hardware_name));
  json.text("vendor", known(device.device->device_vendor));
  json.text("pci_bus_id", known(device.device->pci_bus_id));
  json.integer("executor_size", static_cast<std::int64_t>(device.executor_size));
  describe_facts(json, device);
  describe_memory(json, device);
  json.close();
}

}  // namespace
}  // namespace drystone::host

using namespace drystone::host;

extern "C" {

void DS_ListDevices(TF_Buffer* json, TF_Status* status) {
  guarded(status, __func__, [&] {
    Json text;
    text.array();
    for (Platform* platform : all_platforms()) list_platform(text, *platform);
    text.close();
    fill(json, text.str());
  });
}

int DS_DeviceCount(const char* type, TF_Status* status) {
  int count = 0;
  guarded(status, __func__, [&] {
    require(type, "type");
    count = platform_of(type).device_count();
  });
  return count;
}

DS_Device* DS_GetDevice(const char* type, int ordinal, TF_Status* status) {
  DS_Device* device = nullptr;
  guarded(status, __func__, [&] {
    require(type, "type");
    device = &platform_of(type).device(ordinal);
  });
  return device;
}

void DS_DescribeDevice(DS_Device* device, TF_Buffer* json, TF_Status* status) {
  guarded(status, __func__, [&] {
    require(device, "device");
    Json text;
    describe(text, *device);
    fill(json, text.str());
  });
}

}  // extern "C"

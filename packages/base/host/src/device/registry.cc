// Which platforms there are, and the entry symbol SE_InitPlugin.
#include <algorithm>

#include "device/init.h"
#include "device/platform.h"

namespace drystone::host {
namespace {

struct Registry {
  std::mutex mutex;
  std::vector<std::unique_ptr<Platform>> platforms;
};

// Never destroyed: libraries stay loaded until the process ends, and may call then.
Registry& registry() {
  static auto* const the = new Registry;
  return *the;
}

[[noreturn]] void taken(const char* what, const std::string& value, const std::string& first,
                        const std::string& second) {
  fail(TF_ALREADY_EXISTS, std::string(what) + " '" + value + "' is registered by " + first +
                              " already; " + second + " offers it again and is refused");
}

std::string known_types(const Registry& all) {
  std::string text;
  for (const auto& platform : all.platforms) {
    text += (text.empty() ? "" : ", ") + platform->type();
  }
  return text.empty() ? "none" : text;
}

}  // namespace

void add_platform(std::unique_ptr<Platform>& platform) {
  Registry& all = registry();
  const std::scoped_lock lock(all.mutex);
  if (platform->type() == "CPU") {
    taken("device type", "CPU", "the host", platform->library());
  }
  for (const auto& other : all.platforms) {
    if (other->name() == platform->name()) {
      taken("platform", platform->name(), other->library(), platform->library());
    }
    if (other->type() == platform->type()) {
      taken("device type", platform->type(), other->library(), platform->library());
    }
  }
  all.platforms.push_back(std::move(platform));
}

std::vector<Platform*> all_platforms() {
  Registry& all = registry();
  const std::scoped_lock lock(all.mutex);
  std::vector<Platform*> found;
  for (const auto& platform : all.platforms) found.push_back(platform.get());
  return found;
}

Platform& platform_of(const std::string& type) {
  Registry& all = registry();
  const std::scoped_lock lock(all.mutex);
  for (const auto& platform : all.platforms) {
    if (platform->type() == type) return *platform;
  }
  fail(TF_NOT_FOUND, "no library registered device type '" + type +
                         "'; registered: " + known_types(all));
}

void destroy_platforms() noexcept {
  std::vector<std::unique_ptr<Platform>> gone;
  {
    const std::scoped_lock lock(registry().mutex);
    gone.swap(registry().platforms);
  }
  for (const auto& platform : gone) platform->destroy();  // calls plugins, so without the lock
}

void init_device(Library& library, void* function) {
  auto platform =
      std::make_unique<Platform>(library.path, !library.is_vouched_for, reinterpret_cast<Platform::Init>(function));
  const std::string type = platform->type();
  try {
    add_platform(platform);
  } catch (...) {
    platform->destroy();
    throw;
  }
  library.devices.push_back(type);
}

}  // namespace drystone::host

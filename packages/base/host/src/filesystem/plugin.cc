// How a plugin is called: see plugin.h.
#include "filesystem/plugin.h"

#include "core/guarded.h"
#include "drystone/logging.h"
#include "library/loaded.h"

namespace drystone::host {

std::string Plugin::told(const std::string& path, const char* member,
                         const std::string& text) const {
  return path + ": " + member + " of the " + scheme + " filesystem (" + library + "): " + text;
}

void Plugin::not_offered(const std::string& path, const char* member) const {
  fail(TF_UNIMPLEMENTED, path + ": " + member + " is not offered by the " + scheme +
                             " filesystem (" + library + ")");
}

std::int64_t Plugin::not_negative(std::int64_t number, const std::string& path,
                                  const char* member) const {
  if (number >= 0) return number;
  fail(TF_INTERNAL, told(path, member, "answered " + std::to_string(number) + " without an error"));
}

std::string Plugin::taken(char* text) const {
  if (text == nullptr) return {};
  std::string out(text);
  release(text);
  return out;
}

std::vector<std::string> Plugin::taken(char** entries, int count, const std::string& path,
                                       const char* member) const {
  not_negative(count, path, member);
  if (entries == nullptr) {
    if (count == 0) return {};
    fail(TF_INTERNAL, told(path, member, "answered " + std::to_string(count) + " and no array"));
  }
  std::vector<std::string> out;
  bool whole = true;
  for (int k = 0; k < count; ++k) {
    whole = whole && entries[k] != nullptr;
    out.push_back(taken(entries[k]));
  }
  release(static_cast<void*>(entries));
  if (!whole) fail(TF_INTERNAL, told(path, member, "answered an array with a NULL in it"));
  return out;
}

PluginState::PluginState(Plugin given) : plugin(std::move(given)) {
  Guarded<TF_Filesystem> handle;
  HostState host;
  plugin.call(plugin.scheme + "://", "init",
              [&](TF_Status* status) { plugin.tables.filesystem.init(handle.get(), status); });
  settle_changes(plugin.library, host, "while init of its filesystem ran");
  handle.check("TF_Filesystem");
  handle_ = std::make_unique<TF_Filesystem>(*handle);
}

PluginState::~PluginState() {
  const PluginCall running("cleanup", plugin.library.c_str());
  try {
    plugin.tables.filesystem.cleanup(handle_.get());
  } catch (...) {
    TF_Log(TF_ERROR, "%s: cleanup of the %s filesystem threw an exception", plugin.library.c_str(),
           plugin.scheme.c_str());
  }
}

}  // namespace drystone::host

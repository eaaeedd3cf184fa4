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

Failure Plugin::said(const TF_Status& status, const std::string& path, const char* member) const {
  return failure_in(status, told(path, member, ""), {{DS_PAYLOAD_LIBRARY, library}});
}

void Plugin::not_offered(const std::string& path, const char* member) const {
  fail(TF_UNIMPLEMENTED, path + ": " + member + " is not offered by the " + scheme +
                             " filesystem (" + library + ")");
}

std::int64_t Plugin::checked_size(std::int64_t number, const std::string& path,
                                  const char* member) const {
  if (number >= 0 && static_cast<std::uint64_t>(number) <= kMostBytes) return number;
  const std::string answered = "answered " + std::to_string(number);
  fail(TF_INTERNAL, told(path, member, answered + (number < 0 ? " without an error" : ", which is more than there can be")));
}

void Plugin::wrote_outside(const std::string& path, const char* member, const char* what) const {
  fail(TF_INTERNAL, told(path, member, std::string("wrote outside of the ") + what + " that it was given"));
}

std::string Plugin::taken(char* text, const std::string& path, const char* member) const {
  if (text == nullptr) return {};
  auto out = text_at(text);
  if (!out) fail(TF_INTERNAL, told(path, member, "answered a text that has no end, or cannot be read"));
  release(text);
  return *std::move(out);
}

std::vector<std::string> Plugin::taken(char** entries, int count, const std::string& path,
                                       const char* member) const {
  checked_size(count, path, member);
  if (entries == nullptr && count == 0) return {};
  const std::string answered = "answered " + std::to_string(count);
  if (entries == nullptr) fail(TF_INTERNAL, told(path, member, answered + " and no array"));
  if (!can_read(static_cast<const void*>(entries), static_cast<std::size_t>(count) * sizeof *entries)) {
    fail(TF_INTERNAL, told(path, member, answered + ", and its array has not so many"));
  }
  std::vector<std::string> out;
  bool whole = true;
  for (int k = 0; k < count; ++k) {
    whole = whole && entries[k] != nullptr;
    out.push_back(taken(entries[k], path, member));
  }
  release(static_cast<void*>(entries));
  if (!whole) fail(TF_INTERNAL, told(path, member, "answered an array with a NULL in it"));
  return out;
}

PluginState::PluginState(Plugin given) : plugin(std::move(given)) {
  HostState host;
  const std::string path = plugin.scheme + "://";
  plugin.call(path, "init", [&](TF_Status* status) { plugin.tables.filesystem.init(handle(), status); });
  settle_changes(plugin.library, host, "while init of its filesystem ran");
  check_handle(path, "init");
}

PluginState::~PluginState() {
  const PluginCall running("cleanup", plugin.library.c_str());
  try {
    plugin.tables.filesystem.cleanup(handle());
  } catch (...) {
    TF_Log(TF_ERROR, "%s: cleanup of the %s filesystem threw an exception", plugin.library.c_str(),
           plugin.scheme.c_str());
  }
}

}  // namespace drystone::host

// Transactions and options in the embedding interface: drystone_host/filesystem.h.
#include <cstring>

#include "core/buffer.h"
#include "core/json.h"
#include "drystone_host/filesystem.h"
#include "filesystem/handles.h"
#include "filesystem/plugin.h"
#include "filesystem/registry.h"
#include "library/of_programs.h"

namespace drystone::host {
namespace {

constexpr const char* kToken = "pointer to a transaction";

std::shared_ptr<PluginState> state_for(const Filesystem& filesystem, const std::string& path) {
  auto state = plugin_state(filesystem);
  if (state == nullptr) {
    fail(TF_UNIMPLEMENTED, path + ": the local filesystem has no transactions and no options");
  }
  return state;
}

std::shared_ptr<PluginState> state_of_scheme(const char* scheme) {
  require(scheme, "scheme");
  const std::string path = std::string(scheme) + "://";
  return state_for(*filesystem_for_scheme(scheme, path), path);
}

// What a member fills in: a block and how many are in it.
template <class T>
struct Listed {
  T* all;
  int count;
};

[[noreturn]] void not_so_many(const Plugin& plugin, const std::string& path, const char* member, int count,
                              const char* what) {
  fail(TF_INTERNAL, plugin.told(path, member, "answered " + std::to_string(count) + " " + what +
                                                  ", and no block that has so many"));
}

// Calls a member that answers 0 for success beside its status.
template <class Member, class... Arguments>
void transact(const PluginState& state, const std::string& path, const char* name, Member member,
              Arguments... arguments) {
  const int answer = state.plugin.need(path, name, member, [&](TF_Status* status) {
    return member(state.handle(), arguments..., status);
  });
  state.check_handle(path, name);
  if (answer != 0) {
    fail(TF_UNKNOWN, state.plugin.told(path, name, "answered " + std::to_string(answer)));
  }
}

void write_value(const TF_Filesystem_Option_Value& value, int k, Json* json) {
  const TF_Filesystem_Option_Value_Union& one = value.values[k];
  switch (value.type_tag) {
    case TF_Filesystem_Option_Type_Int:
      return json->integer(one.int_val);
    case TF_Filesystem_Option_Type_Real:
      return json->number(one.real_val);
    case TF_Filesystem_Option_Type_Buffer:
      if (one.buffer_val.buf == nullptr || one.buffer_val.buf_length < 0) return json->null();
      return json->text({one.buffer_val.buf, static_cast<std::size_t>(one.buffer_val.buf_length)});
    default:
      return json->null();
  }
}

void write_option(const TF_Filesystem_Option& option, Json* json) {
  json->object();
  json->text("name", option.name == nullptr ? "" : option.name);
  json->text("description", option.description == nullptr ? "" : option.description);
  json->boolean("per_file", option.per_file != 0);
  json->key("values");
  json->array();
  if (option.value != nullptr && option.value->values != nullptr) {
    for (int k = 0; k < option.value->num_values; ++k) write_value(*option.value, k, json);
  }
  json->close();
  json->close();
}

}  // namespace
}  // namespace drystone::host

using namespace drystone::host;

extern "C" {

TF_TransactionToken* DS_StartTransaction(const char* scheme, TF_Status* status) {
  TF_TransactionToken* out = nullptr;
  guarded(status, "DS_StartTransaction", [&] {
    const auto state = state_of_scheme(scheme);
    const std::string path = std::string(scheme) + "://";
    Guarded<TF_TransactionToken*> token;
    transact(*state, path, "start_transaction", state->plugin.tables.filesystem.start_transaction, token.get());
    state->plugin.check_whole(token, path, "start_transaction", kToken);
    out = *token;
  });
  return out;
}

void DS_EndTransaction(const char* scheme, TF_TransactionToken* token, TF_Status* status) {
  guarded(status, "DS_EndTransaction", [&] {
    require(token, "token");
    const auto state = state_of_scheme(scheme);
    transact(*state, std::string(scheme) + "://", "end_transaction",
             state->plugin.tables.filesystem.end_transaction, token);
  });
}

void DS_AddToTransaction(const char* path, TF_TransactionToken* token, TF_Status* status) {
  guarded(status, "DS_AddToTransaction", [&] {
    const std::string name = needed_path(path);
    require(token, "token");
    const auto filesystem = filesystem_of(name);
    const auto state = state_for(*filesystem, name);
    const std::string local = filesystem->translated(name);
    transact(*state, name, "add_to_transaction",
             state->plugin.tables.filesystem.add_to_transaction, local.c_str(), token);
  });
}

TF_TransactionToken* DS_TransactionOfPath(const char* path, int start, TF_Status* status) {
  TF_TransactionToken* out = nullptr;
  guarded(status, "DS_TransactionOfPath", [&] {
    const std::string name = needed_path(path);
    const auto filesystem = filesystem_of(name);
    const auto state = state_for(*filesystem, name);
    const std::string local = filesystem->translated(name);
    const TF_FilesystemOps& ops = state->plugin.tables.filesystem;
    const char* member = start != 0 ? "get_or_start_transaction_for_path" : "get_transaction_for_path";
    Guarded<TF_TransactionToken*> token;
    if (start != 0) {
      transact(*state, name, member, ops.get_or_start_transaction_for_path, local.c_str(), token.get());
    } else {
      transact(*state, name, member, ops.get_transaction_for_path, local.c_str(), token.get());
    }
    state->plugin.check_whole(token, name, member, kToken);
    out = *token;
  });
  return out;
}

void DS_DescribeTransaction(const char* scheme, const TF_TransactionToken* token, TF_Buffer* out,
                            TF_Status* status) {
  guarded(status, "DS_DescribeTransaction", [&] {
    require(token, "token");
    const auto state = state_of_scheme(scheme);
    const auto member = state->plugin.tables.filesystem.decode_transaction_token;
    char* text = state->plugin.need(
        std::string(scheme) + "://", "decode_transaction_token", member,
        [&](TF_Status*) { return member(state->handle(), token); });
    const std::string path = std::string(scheme) + "://";
    state->check_handle(path, "decode_transaction_token");
    fill(out, state->plugin.taken(text, path, "decode_transaction_token"));
  });
}

void DS_SetFilesystemOption(const char* scheme, const TF_Filesystem_Option* option,
                            TF_Status* status) {
  const void* const caller = __builtin_return_address(0);
  guarded(status, "DS_SetFilesystemOption", [&] {
    require_program("DS_SetFilesystemOption", caller);
    require(option, "option");
    const auto state = state_of_scheme(scheme);
    const auto member = state->plugin.tables.filesystem.set_filesystem_configuration_option;
    state->plugin.need(
        std::string(scheme) + "://", "set_filesystem_configuration_option", member,
        [&](TF_Status* plugin_status) { member(state->handle(), option, plugin_status); });
  });
}

void DS_SetFilesystemOptions(const char* scheme, const TF_Filesystem_Option* options,
                             int num_options, TF_Status* status) {
  const void* const caller = __builtin_return_address(0);
  guarded(status, "DS_SetFilesystemOptions", [&] {
    require_program("DS_SetFilesystemOptions", caller);
    require(options, "options");
    const auto state = state_of_scheme(scheme);
    const auto member = state->plugin.tables.filesystem.set_filesystem_configuration;
    state->plugin.need(std::string(scheme) + "://", "set_filesystem_configuration", member,
                       [&](TF_Status* plugin_status) {
                         member(state->handle(), options, num_options, plugin_status);
                       });
  });
}

void DS_GetFilesystemOption(const char* scheme, const char* key, TF_Buffer* json,
                            TF_Status* status) {
  guarded(status, "DS_GetFilesystemOption", [&] {
    require(key, "key");
    const auto state = state_of_scheme(scheme);
    const auto member = state->plugin.tables.filesystem.get_filesystem_configuration_option;
    const char* name = "get_filesystem_configuration_option";
    const std::string path = std::string(scheme) + "://";
    Guarded<TF_Filesystem_Option*> answer;
    state->plugin.need(path, name, member, [&](TF_Status* plugin_status) {
      member(state->handle(), key, answer.get(), plugin_status);
    });
    state->plugin.check_whole(answer, path, name, "pointer to an option");
    const TF_Filesystem_Option* const option = *answer;
    if (option == nullptr || !can_read(option, sizeof *option)) fail(TF_INTERNAL, state->plugin.told(path, name, "answered no option"));
    Json out;
    write_option(*option, &out);
    fill(json, out.str());
  });
}

void DS_ListFilesystemOptions(const char* scheme, TF_Buffer* json, TF_Status* status) {
  guarded(status, "DS_ListFilesystemOptions", [&] {
    const auto state = state_of_scheme(scheme);
    const auto member = state->plugin.tables.filesystem.get_filesystem_configuration_keys;
    const char* name = "get_filesystem_configuration_keys";
    const std::string path = std::string(scheme) + "://";
    Guarded<Listed<char>> found;
    state->plugin.need(path, name, member, [&](TF_Status* plugin_status) {
      member(state->handle(), &found->all, &found->count, plugin_status);
    });
    state->plugin.check_whole(found, path, name, "pointers to a list");
    const auto& [keys, count] = *found;
    Json out;
    out.array();
    const char* at = keys;
    if (count < 0 || (count > 0 && keys == nullptr)) not_so_many(state->plugin, path, name, count, "keys");
    for (int k = 0; k < count; ++k) {
      const auto key = text_at(at);
      if (!key) not_so_many(state->plugin, path, name, count, "keys");
      out.text(*key);
      at += key->size() + 1;
    }
    out.close();
    if (keys != nullptr) state->plugin.release(keys);
    fill(json, out.str());
  });
}

void DS_GetFilesystemOptions(const char* scheme, TF_Buffer* json, TF_Status* status) {
  guarded(status, "DS_GetFilesystemOptions", [&] {
    const auto state = state_of_scheme(scheme);
    const auto member = state->plugin.tables.filesystem.get_filesystem_configuration;
    Guarded<Listed<TF_Filesystem_Option>> found;
    const char* name = "get_filesystem_configuration";
    const std::string path = std::string(scheme) + "://";
    state->plugin.need(path, name, member, [&](TF_Status* plugin_status) {
      member(state->handle(), &found->all, &found->count, plugin_status);
    });
    state->plugin.check_whole(found, path, name, "pointers to a list");
    const auto& [options, count] = *found;
    if (count < 0 || !can_read(options, static_cast<std::size_t>(count) * sizeof *options)) {
      not_so_many(state->plugin, path, name, count, "options");
    }
    Json out;
    out.array();
    for (int k = 0; k < count; ++k) write_option(options[k], &out);
    out.close();
    fill(json, out.str());
  });
}

}  // extern "C"

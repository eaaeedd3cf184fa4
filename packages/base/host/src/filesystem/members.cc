// Names of the members of a plugin's tables.
#include <cstddef>
#include <cstring>

#include "filesystem/plugin.h"

namespace drystone::host {
namespace {

struct Member {
  std::size_t offset;
  const char* name;
};

#define MEMBER(path, name) {offsetof(Tables, path), name}

// All but the ones that are always there: init and cleanup.
constexpr Member kMembers[] = {
    MEMBER(filesystem.new_random_access_file, "new_random_access_file"),
    MEMBER(filesystem.new_writable_file, "new_writable_file"),
    MEMBER(filesystem.new_appendable_file, "new_appendable_file"),
    MEMBER(filesystem.new_read_only_memory_region_from_file,
           "new_read_only_memory_region_from_file"),
    MEMBER(filesystem.create_dir, "create_dir"),
    MEMBER(filesystem.recursively_create_dir, "recursively_create_dir"),
    MEMBER(filesystem.delete_file, "delete_file"),
    MEMBER(filesystem.delete_dir, "delete_dir"),
    MEMBER(filesystem.delete_recursively, "delete_recursively"),
    MEMBER(filesystem.rename_file, "rename_file"),
    MEMBER(filesystem.copy_file, "copy_file"),
    MEMBER(filesystem.path_exists, "path_exists"),
    MEMBER(filesystem.paths_exist, "paths_exist"),
    MEMBER(filesystem.stat, "stat"),
    MEMBER(filesystem.is_directory, "is_directory"),
    MEMBER(filesystem.get_file_size, "get_file_size"),
    MEMBER(filesystem.translate_name, "translate_name"),
    MEMBER(filesystem.get_children, "get_children"),
    MEMBER(filesystem.get_matching_paths, "get_matching_paths"),
    MEMBER(filesystem.flush_caches, "flush_caches"),
    MEMBER(filesystem.start_transaction, "start_transaction"),
    MEMBER(filesystem.end_transaction, "end_transaction"),
    MEMBER(filesystem.add_to_transaction, "add_to_transaction"),
    MEMBER(filesystem.get_transaction_for_path, "get_transaction_for_path"),
    MEMBER(filesystem.get_or_start_transaction_for_path, "get_or_start_transaction_for_path"),
    MEMBER(filesystem.decode_transaction_token, "decode_transaction_token"),
    MEMBER(filesystem.get_filesystem_configuration, "get_filesystem_configuration"),
    MEMBER(filesystem.set_filesystem_configuration, "set_filesystem_configuration"),
    MEMBER(filesystem.get_filesystem_configuration_option, "get_filesystem_configuration_option"),
    MEMBER(filesystem.set_filesystem_configuration_option, "set_filesystem_configuration_option"),
    MEMBER(filesystem.get_filesystem_configuration_keys, "get_filesystem_configuration_keys"),
    MEMBER(readable.read, "random_access_file.read"),
    MEMBER(writable.append, "writable_file.append"),
    MEMBER(writable.tell, "writable_file.tell"),
    MEMBER(writable.flush, "writable_file.flush"),
    MEMBER(writable.sync, "writable_file.sync"),
    MEMBER(writable.close, "writable_file.close"),
    MEMBER(region.data, "read_only_memory_region.data"),
    MEMBER(region.length, "read_only_memory_region.length"),
};

#undef MEMBER

}  // namespace

std::vector<std::string> members_of(const Tables& tables) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&tables);
  std::vector<std::string> out;
  for (const Member& member : kMembers) {
    void* pointer = nullptr;
    std::memcpy(static_cast<void*>(&pointer), bytes + member.offset, sizeof pointer);
    if (pointer != nullptr) out.emplace_back(member.name);
  }
  return out;
}

}  // namespace drystone::host

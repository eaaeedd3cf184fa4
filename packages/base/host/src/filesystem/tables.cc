// Checking and copying the tables of one scheme: version first, then members.
#include "filesystem/tables.h"

#include <algorithm>
#include <cstring>

namespace drystone::host {
namespace {

// What a plugin says of one of its tables, and what this host has.
struct Side {
  int abi;
  int api;
  std::size_t size;
};

std::string number(std::size_t value) { return std::to_string(value); }
std::string number(int value) { return std::to_string(value); }

[[noreturn]] void unfit(const std::string& text) { fail(TF_FAILED_PRECONDITION, text); }

void check_version(const char* table, const Side& plugin, const Side& host,
                   std::vector<std::string>& warnings) {
  if (plugin.abi != host.abi) {
    unfit(std::string(table) + " has ABI " + number(plugin.abi) + ", and this host's is " +
          number(host.abi) + "; needed: a plugin built for ABI " + number(host.abi));
  }
  if (plugin.size % sizeof(void*) != 0) {
    unfit(std::string(table) + " has a size of " + number(plugin.size) +
          " bytes, which is no whole number of functions");
  }
  if (plugin.api != host.api) {
    warnings.push_back(std::string(table) + " has API " + number(plugin.api) +
                       ", and this host's is " + number(host.api));
  }
  if (plugin.size > host.size) {
    warnings.push_back(std::string(table) + " has " + number(plugin.size) +
                       " bytes, of which this host knows " + number(host.size));
  }
}

// Copies a table that is there; answers whether it is.
template <class Table>
bool copy_table(const char* name, const Table* offered, const Side& plugin, const Side& host,
                Table& out, std::vector<std::string>& warnings) {
  if (offered == nullptr) return false;
  check_version(name, plugin, host, warnings);
  std::memcpy(&out, offered, std::min(plugin.size, sizeof(Table)));
  return true;
}

template <class Member>
void require_member(Member* member, const char* name, const char* table) {
  if (member == nullptr) unfit(std::string(name) + " in " + table + " must be set");
}

template <class Member>
void require_table(Member* member, bool there, const char* name, const char* table) {
  if (member != nullptr && !there) {
    unfit(std::string(name) + " is set, and its table " + table + " is not");
  }
}

void check_members(const Tables& tables, bool readable, bool writable, bool region) {
  const TF_FilesystemOps& ops = tables.filesystem;
  require_member(ops.init, "init", "TF_FilesystemOps");
  require_member(ops.cleanup, "cleanup", "TF_FilesystemOps");
  require_table(ops.new_random_access_file, readable, "new_random_access_file",
                "random_access_file_ops");
  require_table(ops.new_writable_file, writable, "new_writable_file", "writable_file_ops");
  require_table(ops.new_appendable_file, writable, "new_appendable_file", "writable_file_ops");
  require_table(ops.new_read_only_memory_region_from_file, region,
                "new_read_only_memory_region_from_file", "read_only_memory_region_ops");
  if (readable) require_member(tables.readable.cleanup, "cleanup", "TF_RandomAccessFileOps");
  if (writable) require_member(tables.writable.cleanup, "cleanup", "TF_WritableFileOps");
  if (region) {
    const char* table = "TF_ReadOnlyMemoryRegionOps";
    require_member(tables.region.cleanup, "cleanup", table);
    require_member(tables.region.data, "data", table);
    require_member(tables.region.length, "length", table);
  }
}

}  // namespace

Tables checked_tables(const TF_FilesystemPluginOps& offered, std::vector<std::string>& warnings) {
  Tables out;
  const bool filesystem = copy_table(
      "filesystem_ops", offered.filesystem_ops,
      {offered.filesystem_ops_abi, offered.filesystem_ops_api, offered.filesystem_ops_size},
      {TF_FILESYSTEM_OPS_ABI, TF_FILESYSTEM_OPS_API, TF_FILESYSTEM_OPS_SIZE}, out.filesystem,
      warnings);
  if (!filesystem) unfit("filesystem_ops must be set");
  const bool readable = copy_table(
      "random_access_file_ops", offered.random_access_file_ops,
      {offered.random_access_file_ops_abi, offered.random_access_file_ops_api,
       offered.random_access_file_ops_size},
      {TF_RANDOM_ACCESS_FILE_OPS_ABI, TF_RANDOM_ACCESS_FILE_OPS_API,
       TF_RANDOM_ACCESS_FILE_OPS_SIZE},
      out.readable, warnings);
  const bool writable = copy_table(
      "writable_file_ops", offered.writable_file_ops,
      {offered.writable_file_ops_abi, offered.writable_file_ops_api,
       offered.writable_file_ops_size},
      {TF_WRITABLE_FILE_OPS_ABI, TF_WRITABLE_FILE_OPS_API, TF_WRITABLE_FILE_OPS_SIZE},
      out.writable, warnings);
  const bool region = copy_table(
      "read_only_memory_region_ops", offered.read_only_memory_region_ops,
      {offered.read_only_memory_region_ops_abi, offered.read_only_memory_region_ops_api,
       offered.read_only_memory_region_ops_size},
      {TF_READ_ONLY_MEMORY_REGION_OPS_ABI, TF_READ_ONLY_MEMORY_REGION_OPS_API,
       TF_READ_ONLY_MEMORY_REGION_OPS_SIZE},
      out.region, warnings);
  check_members(out, readable, writable, region);
  return out;
}

}  // namespace drystone::host

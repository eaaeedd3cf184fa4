// Calls of the filesystem interface on a plugin that answers whatever the bytes say.
//
// Counts, sizes, statuses and strings are fuzzed freely; arrays hold as many strings as they say,
// or are NULL. One scheme has every member, the other leaves all to the host that has a default.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/library.h"
#include "drystone_host/filesystem.h"
#include "filesystem/filesystem.h"
#include "filesystem/init.h"
#include "filesystem/uri.h"
#include "fuzz_input.h"

namespace {

Input* in = nullptr;
int calls = 0;

void* allocate(std::size_t size) { return std::calloc(1, size == 0 ? 1 : size); }

bool answer(TF_Status* status) {
  if (++calls > 500) TF_SetStatus(status, TF_ABORTED, "enough");
  if (in->below(4) == 0) TF_SetStatus(status, static_cast<TF_Code>(in->below(20)), "as fuzzed");
  return TF_GetCode(status) == TF_OK;
}

std::int64_t any_count(std::size_t right) {
  return in->below(6) == 0 ? static_cast<std::int64_t>(in->number())
                           : static_cast<std::int64_t>(in->below(right + 2));
}

void init(TF_Filesystem*, TF_Status*) {}
void cleanup(TF_Filesystem*) {}
void on_path(const TF_Filesystem*, const char*, TF_Status* status) { answer(status); }
void on_two(const TF_Filesystem*, const char*, const char*, TF_Status* status) { answer(status); }

template <class Handle>
void open(const TF_Filesystem*, const char*, Handle*, TF_Status* status) {
  answer(status);
}
template <class Handle>
void close(Handle*) {}

std::int64_t read(const TF_RandomAccessFile*, std::uint64_t, std::size_t n, char* buffer,
                  TF_Status* status) {
  answer(status);
  std::memset(buffer, 'x', std::min<std::size_t>(n, 64));
  return in->left() == 0 ? 0 : any_count(n);
}
void append(const TF_WritableFile*, const char*, std::size_t, TF_Status* status) { answer(status); }
std::int64_t tell(const TF_WritableFile*, TF_Status* status) {
  answer(status);
  return any_count(100);
}
void on_file(const TF_WritableFile*, TF_Status* status) { answer(status); }
const void* data(const TF_ReadOnlyMemoryRegion*) { return in->below(2) == 0 ? nullptr : "region"; }
std::uint64_t length(const TF_ReadOnlyMemoryRegion*) { return in->below(7); }

void delete_recursively(const TF_Filesystem*, const char*, std::uint64_t* files,
                        std::uint64_t* directories, TF_Status* status) {
  *files = in->number();
  *directories = in->number();
  answer(status);
}
bool paths_exist(const TF_Filesystem*, char**, int count, TF_Status** statuses) {
  for (int k = 0; k < count; ++k) answer(statuses[k]);
  return in->below(2) == 0;
}
void stat_path(const TF_Filesystem*, const char*, TF_FileStatistics* stats, TF_Status* status) {
  stats->length = static_cast<std::int64_t>(in->number());
  const std::uint8_t byte = in->byte();
  std::memcpy(&stats->is_directory, &byte, 1);
  answer(status);
}
bool is_directory(const TF_Filesystem*, const char*, TF_Status* status) {
  answer(status);
  return in->below(2) == 0;
}
std::int64_t get_file_size(const TF_Filesystem*, const char*, TF_Status* status) {
  answer(status);
  return any_count(9);
}
char* translate_name(const TF_Filesystem*, const char* uri) {
  return in->below(3) == 0 ? nullptr : strdup(in->below(2) == 0 ? uri : in->text(20).c_str());
}
int list(const TF_Filesystem*, const char*, char*** entries, TF_Status* status) {
  if (!answer(status)) return -1;
  if (in->below(8) == 0) return static_cast<int>(in->number());  // and no array
  const std::size_t count = in->below(5);
  *entries = static_cast<char**>(allocate(count * sizeof(char*)));
  for (std::size_t k = 0; k < count; ++k) {
    (*entries)[k] = in->below(12) == 0 ? nullptr : strdup(in->text(8).c_str());
  }
  return static_cast<int>(count);
}

template <class Table>
Table* table() {
  return static_cast<Table*>(allocate(sizeof(Table)));
}

void offer(TF_FilesystemPluginOps* ops, const char* scheme, bool everything) {
  TF_SetFilesystemVersionMetadata(ops);
  ops->scheme = strdup(scheme);
  auto* fs = ops->filesystem_ops = table<TF_FilesystemOps>();
  fs->init = init;
  fs->cleanup = cleanup;
  fs->new_random_access_file = open<TF_RandomAccessFile>;
  fs->new_writable_file = fs->new_appendable_file = open<TF_WritableFile>;
  fs->new_read_only_memory_region_from_file = open<TF_ReadOnlyMemoryRegion>;
  fs->create_dir = fs->delete_file = fs->delete_dir = fs->path_exists = on_path;
  fs->stat = stat_path;
  fs->get_children = list;
  if (everything) {
    fs->recursively_create_dir = on_path;
    fs->delete_recursively = delete_recursively;
    fs->rename_file = fs->copy_file = on_two;
    fs->paths_exist = paths_exist;
    fs->is_directory = is_directory;
    fs->get_file_size = get_file_size;
    fs->translate_name = translate_name;
    fs->get_matching_paths = list;
  }
  auto* readable = ops->random_access_file_ops = table<TF_RandomAccessFileOps>();
  *readable = {close<TF_RandomAccessFile>, read};
  auto* writable = ops->writable_file_ops = table<TF_WritableFileOps>();
  *writable = {close<TF_WritableFile>, append, tell, on_file, on_file, on_file};
  if (!everything) writable->flush = writable->sync = writable->close = nullptr;
  auto* region = ops->read_only_memory_region_ops = table<TF_ReadOnlyMemoryRegionOps>();
  *region = {close<TF_ReadOnlyMemoryRegion>, data, length};
}

void init_plugin(TF_FilesystemPluginInfo* info) {
  info->plugin_memory_allocate = allocate;
  info->plugin_memory_free = std::free;
  info->num_schemes = 2;
  info->ops = static_cast<TF_FilesystemPluginOps*>(allocate(2 * sizeof *info->ops));
  offer(info->ops, "full", true);
  offer(info->ops + 1, "bare", false);
}

bool registered() {
  static drystone::host::Library library;
  library.path = "fuzzed.so";
  drystone::host::init_filesystem(library, reinterpret_cast<void*>(&init_plugin));
  return library.schemes.size() == 2;
}

void drain(TF_StringStream* stream) {
  const char* text = nullptr;
  while (TF_StringStreamNext(stream, &text)) {
    if (text == nullptr) std::abort();
  }
  TF_StringStreamDone(stream);
}

std::string uri() { return (in->below(2) == 0 ? "full://" : "bare://") + in->text(24); }

void with_files(const char* path, TF_Status* status) {
  DS_ReadableFile* file = DS_OpenReadableFile(path, status);
  char bytes[64];
  const std::int64_t got = file == nullptr ? 0 : DS_ReadFile(file, in->number(), 64, bytes, status);
  if (got > 64) std::abort();
  DS_CloseReadableFile(file);
  TF_WritableFileHandle* output = DS_NewAppendableFile(path, status);
  if (output == nullptr) return;
  TF_AppendWritableFile(output, bytes, 0, status);
  DS_TellWritableFile(output, status);
  TF_SyncWritableFile(output, status);
  TF_CloseWritableFile(output, status);
}

void with_memory(const char* path, TF_Status* status) {
  const void* memory = nullptr;
  std::uint64_t size = 0;
  DS_MemoryRegion* region = DS_OpenMemoryRegion(path, &memory, &size, status);
  if (region != nullptr && size != 0 && memory == nullptr) std::abort();
  DS_CloseMemoryRegion(region);
  TF_Buffer* whole = TF_NewBuffer();
  DS_ReadWholeFile(path, whole, status);
  TF_DeleteBuffer(whole);
}

void one_call(TF_Status* status) {
  const std::string path = uri();
  const std::string other = uri();
  const char* const both[] = {path.c_str(), other.c_str()};
  TF_FileStatistics found{};
  std::int64_t files = 0;
  switch (in->below(14)) {
    case 0: return with_files(path.c_str(), status);
    case 1: return with_memory(path.c_str(), status);
    case 2: return drain(TF_GetChildren(path.c_str(), status));
    case 3: return drain(DS_GetMatchingPaths(path.c_str(), status));
    case 4: return TF_DeleteRecursively(path.c_str(), &files, nullptr, status);
    case 5: return DS_RecursivelyCreateDir(path.c_str(), status);
    case 6: return DS_CopyFile(path.c_str(), other.c_str(), status);
    case 7: return DS_RenameFile(path.c_str(), other.c_str(), status);
    case 8: return TF_FileStat(path.c_str(), &found, status);
    case 9: return DS_WriteWholeFile(path.c_str(), "abc", 3, status);
    case 10: return static_cast<void>(DS_PathsExist(both, 2, nullptr));
    case 11: return static_cast<void>(DS_IsDirectory(path.c_str(), status));
    case 12: return static_cast<void>(DS_GetFileSize(path.c_str(), status));
    default: return DS_PathExists(path.c_str(), status);
  }
}

// A name matches itself with every character escaped, and so does "*".
void check_matching() {
  const std::string name = in->text(20);
  std::string escaped;
  for (const char c : name) escaped.append(1, '\\').append(1, c);
  if (!drystone::host::matches(escaped, name) || !drystone::host::matches("*", name)) std::abort();
  drystone::host::matches(in->text(40), in->text(40));
  const std::string clean = drystone::host::clean_path(in->text(40));
  if (drystone::host::clean_path(clean) != clean) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  Input input(bytes, size);
  in = &input;
  calls = 0;
  static const bool ready = registered();
  if (!ready) std::abort();
  TF_Status* status = TF_NewStatus();
  for (int k = 0; k < 8 && input.left() > 0; ++k) {
    TF_SetStatus(status, TF_OK, "");
    one_call(status);
    if (TF_GetCode(status) != TF_OK && *TF_Message(status) == '\0') std::abort();
  }
  check_matching();
  TF_DeleteStatus(status);
  in = nullptr;
  return 0;
}

// Filesystems and the environment from C++, under sanitizers.
// Arguments: a folder to work in, the ramdemo example, and filesystem_full.c as scheme "full".
#include <dirent.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "checking.h"
#include "drystone/registry.h"
#include "drystone_host/core.h"
#include "drystone_host/filesystem.h"

namespace {

// A status for one call, and what it says.
struct Status {
  Status() : pointer(TF_NewStatus()) {}
  ~Status() { TF_DeleteStatus(pointer); }
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;
  operator TF_Status*() const { return pointer; }
  TF_Code code() const { return TF_GetCode(pointer); }
  bool says(const char* text) const { return std::strstr(TF_Message(pointer), text) != nullptr; }
  TF_Status* pointer;
};

std::vector<std::string> drain(TF_StringStream* stream) {
  std::vector<std::string> out;
  const char* text = nullptr;
  while (TF_StringStreamNext(stream, &text)) out.emplace_back(text);
  CHECK(text == nullptr);
  TF_StringStreamDone(stream);
  return out;
}

std::string contents(const std::string& path) {
  Status status;
  TF_Buffer* buffer = TF_NewBuffer();
  DS_ReadWholeFile(path.c_str(), buffer, status);
  std::string out = status.code() == TF_OK
                        ? std::string(static_cast<const char*>(buffer->data), buffer->length)
                        : "failed";
  TF_DeleteBuffer(buffer);
  return out;
}

// ---- the environment, on any filesystem ----

void writing(const std::string& base) {
  Status status;
  const std::string path = base + "/file";
  TF_WritableFileHandle* file = nullptr;
  TF_NewWritableFile(path.c_str(), &file, status);
  CHECK(status.code() == TF_OK && file != nullptr);
  TF_AppendWritableFile(file, "hello", 5, status);
  TF_AppendWritableFile(file, nullptr, 0, status);
  CHECK(status.code() == TF_OK);
  TF_AppendWritableFile(file, nullptr, 3, status);
  CHECK(status.code() == TF_INVALID_ARGUMENT && status.says("data must not be NULL"));
  TF_FlushWritableFile(file, status);
  CHECK(status.code() == TF_OK && contents(path) == "hello");
  TF_SyncWritableFile(file, status);
  CHECK(status.code() == TF_OK && DS_TellWritableFile(file, status) == 5);
  TF_CloseWritableFile(file, status);
  CHECK(status.code() == TF_OK);
  file = DS_NewAppendableFile(path.c_str(), status);
  TF_AppendWritableFile(file, "!", 1, status);
  CHECK(DS_TellWritableFile(file, status) == 6);
  TF_CloseWritableFile(file, status);
  CHECK(contents(path) == "hello!");
}

void reading(const std::string& base) {
  Status status;
  DS_ReadableFile* file = DS_OpenReadableFile((base + "/file").c_str(), status);
  CHECK(status.code() == TF_OK);
  char bytes[16] = {};
  CHECK(DS_ReadFile(file, 1, 4, bytes, status) == 4 && std::memcmp(bytes, "ello", 4) == 0);
  CHECK(DS_ReadFile(file, 4, 16, bytes, status) == 2 && status.code() == TF_OUT_OF_RANGE);
  CHECK(DS_ReadFile(file, 99, 16, bytes, status) == 0 && status.code() == TF_OUT_OF_RANGE);
  CHECK(DS_ReadFile(file, UINT64_MAX, 16, bytes, status) == 0);
  CHECK(DS_ReadFile(file, 0, 0, nullptr, status) == 0 && status.code() == TF_OK);
  CHECK(DS_ReadFile(file, 0, SIZE_MAX, bytes, status) == -1);
  CHECK(DS_ReadFile(file, 0, 1, nullptr, status) == -1);
  DS_CloseReadableFile(file);
  const void* data = nullptr;
  uint64_t length = 0;
  DS_MemoryRegion* region = DS_OpenMemoryRegion((base + "/file").c_str(), &data, &length, status);
  CHECK(region != nullptr && length == 6 && std::memcmp(data, "hello!", 6) == 0);
  DS_CloseMemoryRegion(region);
}

void directories(const std::string& base) {
  Status status;
  const std::string deep = base + "/a/b/c";
  TF_CreateDir(deep.c_str(), status);
  CHECK(status.code() == TF_NOT_FOUND);
  DS_RecursivelyCreateDir(deep.c_str(), status);
  CHECK(status.code() == TF_OK);
  TF_CreateDir(deep.c_str(), status);
  CHECK(status.code() == TF_ALREADY_EXISTS);
  TF_DeleteFile(deep.c_str(), status);
  CHECK(status.code() == TF_FAILED_PRECONDITION);
  TF_DeleteDir((base + "/a").c_str(), status);
  CHECK(status.code() == TF_FAILED_PRECONDITION);
  DS_CopyFile((base + "/file").c_str(), (deep + "/copy").c_str(), status);
  DS_RenameFile((deep + "/copy").c_str(), (deep + "/moved").c_str(), status);
  CHECK(status.code() == TF_OK && contents(deep + "/moved") == "hello!");
  CHECK(drain(TF_GetChildren(deep.c_str(), status)) == std::vector<std::string>{"moved"});
  CHECK(drain(DS_GetMatchingPaths((base + "/?/*/c/m*").c_str(), status)).size() == 1);
  TF_FileStatistics found{};
  TF_FileStat((deep + "/moved").c_str(), &found, status);
  CHECK(found.length == 6 && !found.is_directory && found.mtime_nsec > 0);
  CHECK(DS_IsDirectory(deep.c_str(), status) && DS_GetFileSize(deep.c_str(), status) == -1);
  int64_t files = -1;
  int64_t left = -1;
  TF_DeleteRecursively(base.c_str(), &files, &left, status);
  CHECK(status.code() == TF_OK && files == 0 && left == 0);
  TF_DeleteRecursively(base.c_str(), nullptr, &left, status);
  CHECK(status.code() == TF_NOT_FOUND && left == 1);
}

void round_trip(const std::string& base) {
  Status status;
  DS_RecursivelyCreateDir(base.c_str(), status);
  CHECK(status.code() == TF_OK);
  writing(base);
  reading(base);
  directories(base);
}

// ---- what is only local ----

void links(const std::string& folder) {
  Status status;
  const std::string keep = folder + "/keep";
  const std::string tree = folder + "/tree";
  TF_CreateDir(keep.c_str(), status);
  DS_WriteWholeFile((keep + "/file").c_str(), "x", 1, status);
  TF_CreateDir(tree.c_str(), status);
  CHECK(symlink(keep.c_str(), (tree + "/link").c_str()) == 0);
  CHECK(symlink("/nowhere/at/all", (tree + "/dangling").c_str()) == 0);
  TF_DeleteRecursively(tree.c_str(), nullptr, nullptr, status);
  CHECK(status.code() == TF_OK && contents(keep + "/file") == "x");
  CHECK(symlink("file", (keep + "/self").c_str()) == 0);
  DS_CopyFile((keep + "/file").c_str(), (keep + "/self").c_str(), status);
  CHECK(status.code() == TF_OK && contents(keep + "/file") == "x");
  DS_WriteWholeFile((keep + "/empty").c_str(), nullptr, 0, status);
  const void* data = nullptr;
  uint64_t length = 1;
  DS_MemoryRegion* region = DS_OpenMemoryRegion((keep + "/empty").c_str(), &data, &length, status);
  CHECK(region != nullptr && length == 0);
  DS_CloseMemoryRegion(region);
  CHECK(DS_OpenReadableFile(keep.c_str(), status) == nullptr);
  CHECK(status.code() == TF_FAILED_PRECONDITION && status.says("Is a directory"));
}

void temporary() {
  for (const char* extension : {"json", ".json"}) {
    char* path = TF_GetTempFileName(extension);
    const std::string text = path;
    CHECK(text.size() > 5 && text.substr(text.size() - 5) == ".json");
    CHECK(text.find("..json") == std::string::npos && access(path, F_OK) == 0);
    unlink(path);
    std::free(path);
  }
  CHECK(TF_GetTempFileName("../../escape") == nullptr);
  char* one = TF_GetTempFileName(nullptr);
  char* two = TF_GetTempFileName("");
  CHECK(one != nullptr && two != nullptr && std::strcmp(one, two) != 0);
  unlink(one);
  unlink(two);
  std::free(one);
  std::free(two);
  const auto places = drain(TF_GetLocalTempDirectories());
  CHECK(!places.empty() && places.back() == "/tmp");
}

void clocks() {
  const uint64_t nanos = TF_NowNanos();
  CHECK(TF_NowSeconds() - nanos / 1'000'000'000 <= 1);
  CHECK(TF_NowMicros() - nanos / 1'000 <= 1'000'000);
}

std::atomic<int> counted{0};
TF_Thread* self = nullptr;
std::atomic<bool> started{false};

void threads() {
  TF_ThreadOptions options{9, 9, 9};
  TF_DefaultThreadOptions(&options);
  CHECK(options.stack_size == 0 && options.guard_size == 0 && options.numa_node == -1);
  TF_DefaultThreadOptions(nullptr);
  const auto add = [](void* amount) { counted += *static_cast<int*>(amount); };
  int seven = 7;
  std::vector<TF_Thread*> all;
  const TF_ThreadOptions small{1, 4096, 0};
  for (int k = 0; k < 20; ++k) {
    const TF_ThreadOptions* chosen = k % 2 == 0 ? nullptr : &small;
    all.push_back(TF_StartThread(chosen, "a name of many letters", add, &seven));
  }
  for (TF_Thread* thread : all) TF_JoinThread(thread);
  CHECK(counted == 140);
  CHECK(TF_StartThread(nullptr, nullptr, nullptr, nullptr) == nullptr);
  const TF_ThreadOptions absurd{SIZE_MAX, 0, 0};
  CHECK(TF_StartThread(&absurd, nullptr, add, &seven) == nullptr);
  TF_JoinThread(nullptr);
  TF_JoinThread(TF_StartThread(nullptr, "thrower", [](void*) { throw 7; }, nullptr));
  self = TF_StartThread(
      nullptr, nullptr,
      [](void*) {
        while (!started) std::this_thread::yield();
        TF_JoinThread(self);
        counted = 1;
      },
      nullptr);
  started = true;
  while (counted != 1) std::this_thread::yield();
}

void libraries(const char* plugin) {
  Status status;
  void* opened = TF_LoadSharedLibrary(plugin, status);
  CHECK(opened != nullptr && TF_GetSymbolFromLibrary(opened, "TF_InitPlugin", status) != nullptr);
  CHECK(TF_GetSymbolFromLibrary(opened, "none", status) == nullptr);
  CHECK(status.code() == TF_NOT_FOUND);
  int nothing = 0;
  CHECK(TF_GetSymbolFromLibrary(&nothing, "x", status) == nullptr);
  CHECK(status.code() == TF_INVALID_ARGUMENT);
  CHECK(TF_LoadSharedLibrary("/nowhere.so", status) == nullptr && status.code() == TF_NOT_FOUND);
}

// ---- NULL everywhere ----

void null_paths() {
  using Function = void (*)(const char*, TF_Status*);
  const Function functions[] = {TF_CreateDir, TF_DeleteDir, TF_DeleteFile, DS_PathExists,
                                DS_RecursivelyCreateDir, TF_RegisterFilesystemPlugin};
  for (const Function function : functions) {
    Status status;
    function(nullptr, status);
    CHECK(status.code() == TF_INVALID_ARGUMENT && status.says("must not be NULL"));
    function("nobody://x", nullptr);
    function(nullptr, nullptr);
  }
  Status status;
  CHECK(TF_GetChildren(nullptr, status) == nullptr && status.code() == TF_INVALID_ARGUMENT);
  CHECK(DS_GetMatchingPaths(nullptr, status) == nullptr);
  TF_FileStat("/tmp", nullptr, status);
  CHECK(status.code() == TF_INVALID_ARGUMENT && status.says("stats must not be NULL"));
  TF_NewWritableFile("/tmp/x", nullptr, status);
  CHECK(status.says("handle must not be NULL"));
  DS_RenameFile("/tmp/x", nullptr, status);
  CHECK(status.says("dst must not be NULL"));
  DS_CopyFile(nullptr, "/tmp/x", status);
  CHECK(status.says("src must not be NULL"));
  const char* paths[] = {"/tmp", nullptr};
  TF_Status* statuses[] = {status, nullptr};
  CHECK(!DS_PathsExist(paths, 2, statuses) && status.code() == TF_OK);
  CHECK(!DS_PathsExist(nullptr, 2, nullptr) && !DS_PathsExist(paths, -1, nullptr));
  CHECK(DS_PathsExist(nullptr, 0, nullptr));
  TF_Buffer full = {"x", 1, nullptr};
  DS_ReadWholeFile("/proc/self/status", &full, status);
  CHECK(status.code() == TF_INVALID_ARGUMENT);
  DS_ListFilesystems(nullptr, status);
  CHECK(status.code() == TF_INVALID_ARGUMENT);
}

void null_handles() {
  using Function = void (*)(TF_WritableFileHandle*, TF_Status*);
  const Function functions[] = {TF_CloseWritableFile, TF_SyncWritableFile, TF_FlushWritableFile};
  for (const Function function : functions) {
    Status status;
    function(nullptr, status);
    CHECK(status.code() == TF_INVALID_ARGUMENT && status.says("handle must not be NULL"));
  }
  Status status;
  TF_AppendWritableFile(nullptr, "x", 1, status);
  CHECK(status.says("handle must not be NULL"));
  CHECK(DS_TellWritableFile(nullptr, status) == -1);
  CHECK(DS_ReadFile(nullptr, 0, 0, nullptr, status) == -1);
  DS_CloseReadableFile(nullptr);
  DS_CloseMemoryRegion(nullptr);
  TF_StringStreamDone(nullptr);
  CHECK(!TF_StringStreamNext(nullptr, nullptr));
  CHECK(DS_StartTransaction(nullptr, status) == nullptr && status.says("scheme must not be NULL"));
  DS_EndTransaction("full", nullptr, status);
  CHECK(status.says("token must not be NULL"));
  DS_SetFilesystemOption("full", nullptr, status);
  CHECK(status.says("option must not be NULL"));
}

// ---- plugins ----

void plugins(const char* ramdemo, const char* full) {
  Status status;
  TF_RegisterFilesystemPlugin(ramdemo, status);
  CHECK(status.code() == TF_OK);
  TF_RegisterFilesystemPlugin(full, status);
  CHECK(status.code() == TF_OK);
  round_trip("ramdemo://host/base");
  TF_Filesystem_Option option{};
  char name[] = "name";
  option.name = name;
  DS_SetFilesystemOption("full", &option, status);
  CHECK(status.code() == TF_OK);
  TF_Buffer* json = TF_NewBuffer();
  DS_GetFilesystemOptions("full", json, status);
  CHECK(json->length > 100);
  TF_DeleteBuffer(json);
  DS_WriteWholeFile("ramdemo://host/across", "bytes", 5, status);
  DS_RenameFile("ramdemo://host/across", "full://there", status);
  CHECK(status.code() == TF_OK);
  DS_PathExists("ramdemo://host/across", status);
  CHECK(status.code() == TF_NOT_FOUND);
  CHECK(contents("full://there") == "0123456789");
}

void many_at_once() {
  std::vector<std::thread> all;
  std::atomic<int> wrong{0};
  for (int k = 0; k < 8; ++k) {
    all.emplace_back([k, &wrong] {
      const std::string path = "ramdemo://host/thread" + std::to_string(k);
      for (int n = 0; n < 50; ++n) {
        Status status;
        const std::string text(static_cast<std::size_t>(n), 'x');
        DS_WriteWholeFile(path.c_str(), text.data(), text.size(), status);
        if (contents(path) != text) ++wrong;
        drain(DS_GetMatchingPaths("ramdemo://host/thread*", status));
        if (status.code() != TF_OK) ++wrong;
      }
    });
  }
  for (auto& thread : all) thread.join();
  CHECK(wrong == 0);
}

void cleaning_up() {
  Status status;
  DS_ReadableFile* file = DS_OpenReadableFile("ramdemo://host/thread3", status);
  CHECK(file != nullptr);
  DS_CleanupFilesystems();
  char bytes[8];
  CHECK(DS_ReadFile(file, 0, 8, bytes, status) == 8);
  DS_CloseReadableFile(file);
  DS_PathExists("ramdemo://host/thread3", status);
  CHECK(status.code() == TF_UNIMPLEMENTED && status.says("(registered: file)"));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const std::string folder = arguments[1];
  round_trip(folder + "/base");
  round_trip("file://" + folder + "/base");
  links(folder);
  temporary();
  clocks();
  threads();
  libraries(arguments[2]);
  plugins(arguments[2], arguments[3]);
  null_paths();
  null_handles();
  many_at_once();
  cleaning_up();
  DS_LiveObjects live{};
  live.struct_size = DS_LIVE_OBJECTS_STRUCT_SIZE;
  DS_GetLiveObjects(&live);
  CHECK(live.files == 0 && live.statuses == 0 && live.buffers == 0);
  return help::report();
}

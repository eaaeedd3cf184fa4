// Files and directories of the environment: drystone/env.h.
#include "drystone/env.h"
#include "filesystem/handles.h"
#include "filesystem/registry.h"

using namespace drystone::host;

extern "C" {

void TF_CreateDir(const char* dirname, TF_Status* status) {
  guarded(status, "TF_CreateDir", [&] {
    const std::string path = needed_path(dirname, "dirname");
    filesystem_of(path)->create_dir(path);
  });
}

void TF_DeleteDir(const char* dirname, TF_Status* status) {
  guarded(status, "TF_DeleteDir", [&] {
    const std::string path = needed_path(dirname, "dirname");
    filesystem_of(path)->delete_dir(path);
  });
}

void TF_DeleteRecursively(const char* dirname, int64_t* undeleted_file_count,
                          int64_t* undeleted_dir_count, TF_Status* status) {
  guarded(status, "TF_DeleteRecursively", [&] {
    const std::string path = needed_path(dirname, "dirname");
    const Undeleted left = filesystem_of(path)->delete_recursively(path);
    if (undeleted_file_count != nullptr) {
      *undeleted_file_count = static_cast<int64_t>(left.files);
    }
    if (undeleted_dir_count != nullptr) {
      *undeleted_dir_count = static_cast<int64_t>(left.directories);
    }
    if (left.failure) fail(left.failure->code, left.failure->message);
  });
}

void TF_FileStat(const char* filename, TF_FileStatistics* stats, TF_Status* status) {
  guarded(status, "TF_FileStat", [&] {
    const std::string path = needed_path(filename, "filename");
    require(stats, "stats");
    *stats = filesystem_of(path)->stat(path);
  });
}

void TF_NewWritableFile(const char* filename, TF_WritableFileHandle** handle, TF_Status* status) {
  guarded(status, "TF_NewWritableFile", [&] {
    require(handle, "handle");
    *handle = nullptr;
    const std::string path = needed_path(filename, "filename");
    *handle = new TF_WritableFileHandle(filesystem_of(path)->open_writable(path));
  });
}

void TF_CloseWritableFile(TF_WritableFileHandle* handle, TF_Status* status) {
  guarded(status, "TF_CloseWritableFile", [&] {
    require(handle, "handle");
    const std::unique_ptr<TF_WritableFileHandle> owned(handle);
    owned->file->close();
  });
}

void TF_SyncWritableFile(TF_WritableFileHandle* handle, TF_Status* status) {
  guarded(status, "TF_SyncWritableFile", [&] {
    require(handle, "handle");
    handle->file->sync();
  });
}

void TF_FlushWritableFile(TF_WritableFileHandle* handle, TF_Status* status) {
  guarded(status, "TF_FlushWritableFile", [&] {
    require(handle, "handle");
    handle->file->flush();
  });
}

void TF_AppendWritableFile(TF_WritableFileHandle* handle, const char* data, size_t length,
                           TF_Status* status) {
  guarded(status, "TF_AppendWritableFile", [&] {
    require(handle, "handle");
    if (length != 0) require(data, "data");
    handle->file->append({length == 0 ? "" : data, length});
  });
}

void TF_DeleteFile(const char* filename, TF_Status* status) {
  guarded(status, "TF_DeleteFile", [&] {
    const std::string path = needed_path(filename, "filename");
    filesystem_of(path)->delete_file(path);
  });
}

TF_StringStream* TF_GetChildren(const char* filename, TF_Status* status) {
  TF_StringStream* out = nullptr;
  guarded(status, "TF_GetChildren", [&] {
    const std::string path = needed_path(filename, "filename");
    out = new TF_StringStream(filesystem_of(path)->children(path));
  });
  return out;
}

bool TF_StringStreamNext(TF_StringStream* list, const char** result) {
  const bool more = list != nullptr && list->next < list->texts.size();
  const char* text = more ? list->texts[list->next++].c_str() : nullptr;
  if (result != nullptr) *result = text;
  return more;
}

void TF_StringStreamDone(TF_StringStream* list) { delete list; }

}  // extern "C"

// Reading and writing in the embedding interface: drystone_host/filesystem.h.
#include "drystone_host/filesystem.h"

#include "core/buffer.h"
#include "core/json.h"
#include "core/status.h"
#include "drystone/registry.h"
#include "filesystem/handles.h"
#include "filesystem/registry.h"
#include "library/loaded.h"
#include "library/of_programs.h"
#include "library/registering.h"

struct DS_ReadableFile {
  drystone::host::CountedFile counted;
  std::string path;
  std::unique_ptr<drystone::host::ReadableFile> file;
};

struct DS_MemoryRegion {
  drystone::host::CountedFile counted;
  std::unique_ptr<drystone::host::MemoryRegion> region;
};

namespace drystone::host {
namespace {

// Most files end in their first piece, which is read into memory that this thread keeps: to ask for
// so much again, and to clear it, takes longer than to read a small file.
std::string whole_file(const std::string& path) {
  thread_local const std::unique_ptr<char[]> first(new char[kPiece]);
  const auto file = filesystem_of(path)->open_readable(path);
  std::size_t got = file->read(0, first.get(), kPiece);
  std::string bytes(first.get(), got);
  while (got == kPiece) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kPiece);
    got = file->read(before, bytes.data() + before, kPiece);
    bytes.resize(before + got);
  }
  return bytes;
}

void register_plugin(const char* path, const void* caller) {
  if (current_library() != nullptr) {
    fail(TF_FAILED_PRECONDITION, "a plugin must not load another one while it is being loaded");
  }
  require_registering("filesystems are registered in entry functions only, such as TF_InitPlugin", caller);
  init_library(*open_library(path), "TF_InitPlugin");
}

}  // namespace
}  // namespace drystone::host

using namespace drystone::host;

extern "C" {

void DS_ListFilesystems(TF_Buffer* json, TF_Status* status) {
  guarded(status, "DS_ListFilesystems", [&] {
    Json out;
    out.array();
    for (const auto& [scheme, filesystem] : registered_filesystems()) {
      out.object();
      out.text("scheme", scheme);
      out.text("library", filesystem->library());
      out.texts("offers", filesystem->offers());
      out.close();
    }
    out.close();
    fill(json, out.str());
  });
}

void DS_CleanupFilesystems(void) {
  if (!is_refused("DS_CleanupFilesystems", __builtin_return_address(0))) cleanup_filesystems();
}

void DS_FlushCaches(const char* scheme, TF_Status* status) {
  guarded(status, "DS_FlushCaches", [&] {
    if (scheme != nullptr) {
      return filesystem_for_scheme(scheme, std::string(scheme) + "://")->flush_caches();
    }
    for (const auto& [name, filesystem] : registered_filesystems()) filesystem->flush_caches();
  });
}

void TF_RegisterFilesystemPlugin(const char* plugin_filename, TF_Status* status) {
  const void* const caller = __builtin_return_address(0);
  guarded(status, "TF_RegisterFilesystemPlugin", [&] { register_plugin(plugin_filename, caller); });
}

DS_ReadableFile* DS_OpenReadableFile(const char* path, TF_Status* status) {
  DS_ReadableFile* out = nullptr;
  guarded(status, "DS_OpenReadableFile", [&] {
    auto opened = std::make_unique<DS_ReadableFile>();
    opened->path = needed_path(path);
    opened->file = filesystem_of(opened->path)->open_readable(opened->path);
    out = opened.release();
  });
  return out;
}

int64_t DS_ReadFile(DS_ReadableFile* file, uint64_t offset, size_t n, char* buffer,
                    TF_Status* status) {
  int64_t out = -1;
  guarded(status, "DS_ReadFile", [&] {
    require(file, "file");
    if (n != 0) require(buffer, "buffer");
    if (n > static_cast<size_t>(INT64_MAX)) fail(TF_INVALID_ARGUMENT, "n is too large");
    const std::size_t got = n == 0 ? 0 : file->file->read(offset, buffer, n);
    out = static_cast<int64_t>(got);
    if (got == n) return;
    // Not thrown: most files are read by asking for more than they have.
    const std::string text = file->path + ": the file ends after " + std::to_string(got) + " of " +
                             std::to_string(n) + " bytes from " + std::to_string(offset);
    set(status, TF_OUT_OF_RANGE, "DS_ReadFile", text.c_str());
  });
  return out;
}

void DS_CloseReadableFile(DS_ReadableFile* file) { delete file; }

void DS_ReadWholeFile(const char* path, TF_Buffer* out, TF_Status* status) {
  guarded(status, "DS_ReadWholeFile", [&] { fill(out, whole_file(needed_path(path))); });
}

DS_MemoryRegion* DS_OpenMemoryRegion(const char* path, const void** data, uint64_t* length,
                                     TF_Status* status) {
  DS_MemoryRegion* out = nullptr;
  guarded(status, "DS_OpenMemoryRegion", [&] {
    const std::string name = needed_path(path);
    require(data, "data");
    require(length, "length");
    auto opened = std::make_unique<DS_MemoryRegion>();
    opened->region = filesystem_of(name)->open_region(name);
    const std::uint64_t bytes = opened->region->length();
    *data = opened->region->data();
    *length = bytes;
    out = opened.release();
  });
  return out;
}

void DS_CloseMemoryRegion(DS_MemoryRegion* region) { delete region; }

TF_WritableFileHandle* DS_NewAppendableFile(const char* path, TF_Status* status) {
  TF_WritableFileHandle* out = nullptr;
  guarded(status, "DS_NewAppendableFile", [&] {
    const std::string name = needed_path(path);
    out = new TF_WritableFileHandle(filesystem_of(name)->open_appendable(name));
  });
  return out;
}

int64_t DS_TellWritableFile(TF_WritableFileHandle* file, TF_Status* status) {
  int64_t out = -1;
  guarded(status, "DS_TellWritableFile", [&] {
    require(file, "file");
    out = file->file->tell();
  });
  return out;
}

void DS_WriteWholeFile(const char* path, const void* data, size_t length, TF_Status* status) {
  guarded(status, "DS_WriteWholeFile", [&] {
    const std::string name = needed_path(path);
    if (length != 0) require(data, "data");
    const auto file = filesystem_of(name)->open_writable(name);
    if (length != 0) file->append({static_cast<const char*>(data), length});
    file->close();
  });
}

}  // extern "C"

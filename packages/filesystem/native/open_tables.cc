// Open files and memory regions behind the functions of the contract.
#include <memory>

#include "errors.h"
#include "files.h"
#include "tables.h"

namespace drystone::files {
namespace {

const Reader& reader(const TF_RandomAccessFile* file) {
  return *static_cast<const Reader*>(file->plugin_file);
}

Writer& writer(const TF_WritableFile* file) { return *static_cast<Writer*>(file->plugin_file); }

const Region& region(const TF_ReadOnlyMemoryRegion* region) {
  return *static_cast<const Region*>(region->plugin_memory_region);
}

void close_readable(TF_RandomAccessFile* file) { delete static_cast<Reader*>(file->plugin_file); }

int64_t read(const TF_RandomAccessFile* file, uint64_t offset, size_t n, char* buffer,
             TF_Status* status) {
  int64_t got = -1;
  guarded(status, [&] {
    const std::size_t count = reader(file).read(offset, buffer, n);
    got = static_cast<int64_t>(count);
    if (count < n) fail(TF_OUT_OF_RANGE, "the file ends here");
  });
  return got;
}

void close_writable(TF_WritableFile* file) { delete static_cast<Writer*>(file->plugin_file); }

void append(const TF_WritableFile* file, const char* buffer, size_t n, TF_Status* status) {
  guarded(status, [&] { writer(file).append({buffer, n}); });
}

int64_t tell(const TF_WritableFile* file, TF_Status* status) {
  int64_t place = -1;
  guarded(status, [&] { place = writer(file).tell(); });
  return place;
}

void flush(const TF_WritableFile* file, TF_Status* status) {
  guarded(status, [&] { writer(file).flush(); });
}

void sync(const TF_WritableFile* file, TF_Status* status) {
  guarded(status, [&] { writer(file).sync(); });
}

void close(const TF_WritableFile* file, TF_Status* status) {
  guarded(status, [&] { writer(file).close(); });
}

void close_region(TF_ReadOnlyMemoryRegion* memory) {
  delete static_cast<Region*>(memory->plugin_memory_region);
}

const void* data(const TF_ReadOnlyMemoryRegion* memory) { return region(memory).data(); }

uint64_t length(const TF_ReadOnlyMemoryRegion* memory) { return region(memory).length(); }

}  // namespace

void fill_files(TF_RandomAccessFileOps* readable, TF_WritableFileOps* writable,
                TF_ReadOnlyMemoryRegionOps* region) {
  *readable = {close_readable, read};
  *writable = {close_writable, append, tell, flush, sync, close};
  *region = {close_region, data, length};
}

}  // namespace drystone::files

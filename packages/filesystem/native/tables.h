// The functions of the contract (drystone/filesystem.h) for any filesystem of this library.
#ifndef DRYSTONE_FILES_TABLES_H_
#define DRYSTONE_FILES_TABLES_H_

#include <cstddef>

#include "drystone/filesystem.h"

namespace drystone::files {

using Init = void (*)(TF_Filesystem* filesystem, TF_Status* status);

// Fills in one scheme, all 33 members; `init` puts a Files into the filesystem. Without
// memory the host sees members that are missing, and says so.
void fill_scheme(TF_FilesystemPluginOps* ops, const char* scheme, Init init);

void* allocate(std::size_t size);
void release(void* memory);

// Tables of open files; open_tables.cc.
void fill_files(TF_RandomAccessFileOps* readable, TF_WritableFileOps* writable,
                TF_ReadOnlyMemoryRegionOps* region);

}  // namespace drystone::files

#endif  // DRYSTONE_FILES_TABLES_H_

// Filesystems of the program itself, and files that are given up: drystone_host/filesystem.h.
#include <memory>

#include "core/failure.h"
#include "drystone_host/filesystem.h"
#include "filesystem/handles.h"
#include "filesystem/init.h"
#include "library/of_programs.h"

using namespace drystone::host;

extern "C" {

void DS_RegisterFilesystems(const char* origin, DS_InitFilesystems entry, TF_Status* status) {
  const void* const caller = __builtin_return_address(0);
  guarded(status, "DS_RegisterFilesystems", [&] {
    require_program("DS_RegisterFilesystems", caller);
    require(origin, "origin");
    require(entry, "entry");
    Library program;
    program.path = origin;
    const LibraryScope scope(&program);
    init_filesystem(program, reinterpret_cast<void*>(entry));
  });
}

void DS_AbandonWritableFile(TF_WritableFileHandle* file) { delete file; }

}  // extern "C"

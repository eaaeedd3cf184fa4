// The libraries that are open, and what came of their entry functions.
#ifndef DRYSTONE_HOST_LIBRARY_LOADED_H_
#define DRYSTONE_HOST_LIBRARY_LOADED_H_

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/failure.h"
#include "core/library.h"
#include "core/status.h"
#include "drystone_host/library.h"
#include "library/entries.h"
#include "library/host_state.h"

// What an entry function answered.
struct DS_EntryResult {
  const drystone::host::Entry* entry;
  bool called = false;
  std::optional<drystone::host::Failure> failure;
};

struct DS_Library : drystone::host::Library {
  bool exports(std::string_view symbol) const;

  std::vector<DS_EntryResult> results;  // one for each entry symbol it exports, in calling order
};

namespace drystone::host {

// Opens the file, or finds it among those open; functions that it needs `without` anybody who defines
// them fail when they are called. Throws Failure.
DS_Library* open_library(const char* path, const std::vector<std::string>& without = {});

// Held while libraries are opened, initialised or described. Recursive: a library's constructor or
// entry function may open another library.
std::recursive_mutex& library_lock();

// Puts back what the library at `path` had changed: remarks of its, or its failure. Whether there was
// nothing. Throws.
bool settle_changes(std::string_view path, HostState& state, const std::string& when);

// Remarks on what the library at `path` had changed in a run, and a warning to who runs it.
void remark_changes(std::string_view path, const Changes& changes, const std::string& when);

// Calls an entry function the first time it is asked to; sets `status` to its result. Throws.
void init_library(DS_Library& library, const char* symbol);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_LIBRARY_LOADED_H_

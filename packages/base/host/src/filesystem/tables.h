// Checking and copying the tables of one scheme.
#ifndef DRYSTONE_HOST_FILESYSTEM_TABLES_H_
#define DRYSTONE_HOST_FILESYSTEM_TABLES_H_

#include <string>
#include <vector>

#include "filesystem/plugin.h"

namespace drystone::host {

// The host's copy of what a plugin offers for a scheme. Fails (FAILED_PRECONDITION) with the table
// and what is wrong with it; differences that do no harm are added to `warnings`.
Tables checked_tables(const TF_FilesystemPluginOps& offered, std::vector<std::string>& warnings);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_FILESYSTEM_TABLES_H_

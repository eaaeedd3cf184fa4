// Transactions and options behind the functions of the contract, and what all tables need.
#ifndef DRYSTONE_FILES_TABLES_SPECIAL_H_
#define DRYSTONE_FILES_TABLES_SPECIAL_H_

#include <string>
#include <vector>

#include "drystone/filesystem.h"
#include "files.h"

namespace drystone::files {

inline Files& files_of(const TF_Filesystem* filesystem) {
  return *static_cast<Files*>(filesystem->plugin_filesystem);
}

// Memory for the host: a string; an array of them, whose length is the answer. Throw bad_alloc.
char* copied(const std::string& text);
int given(const std::vector<std::string>& texts, char*** entries);

void fill_transactions(TF_FilesystemOps* ops);
void fill_options(TF_FilesystemOps* ops);

}  // namespace drystone::files

#endif  // DRYSTONE_FILES_TABLES_SPECIAL_H_

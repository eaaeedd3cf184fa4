// Open files and memory regions of "ram://".
#ifndef DRYSTONE_FILES_RAM_OPEN_H_
#define DRYSTONE_FILES_RAM_OPEN_H_

#include <memory>
#include <string>
#include <vector>

#include "files.h"
#include "ram_tree.h"

namespace drystone::files {

// Options of "ram://", by index.
enum RamOption : std::size_t { kByteLimit };
std::vector<Option> ram_options();

std::unique_ptr<Reader> ram_open(std::shared_ptr<Blob> blob);
std::unique_ptr<Region> ram_map(const Blob& blob);

// A file that shows when it is flushed or closed; `path` is where.
std::unique_ptr<Writer> ram_write(Files& files, std::shared_ptr<Tree> tree, std::string path,
                                  std::shared_ptr<Blob> blob);

}  // namespace drystone::files

#endif  // DRYSTONE_FILES_RAM_OPEN_H_

// Libraries of compiled functions: opened once for each file and version, closed with the last node.
#ifndef DRYSTONE_TVM_LIBRARY_H_
#define DRYSTONE_TVM_LIBRARY_H_

#include <memory>
#include <string>

#include "convention.h"
#include "driver.h"
#include "drystone/sdk/error.hpp"
#include "imports.h"

namespace drystone_tvm {

class Library {
 public:
  // The library in a file. `hash`: the SHA-256 that it must have, "" for any. NOT_FOUND for no file,
  // FAILED_PRECONDITION for another one, and for one that cannot be opened.
  static drystone::sdk::Result<std::shared_ptr<Library>> open(const std::string& path, const std::string& hash);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // NOT_FOUND for a function that the library does not have; the message lists those that it has.
  drystone::sdk::Result<Function> function(const std::string& name) const;
  // CUDA's driver, where its functions take tensors of CUDA's devices; else null.
  const cuda::Driver* driver() const { return imports_ ? &imports_->driver() : nullptr; }

 private:
  Library(std::string path, void* handle, std::string functions, std::string hash)
      : path_(std::move(path)), handle_(handle), functions_(std::move(functions)), hash_(std::move(hash)) {}
  friend class Opening;

  std::string path_;
  void* handle_;
  std::string functions_;  // for messages
  std::string hash_;
  std::unique_ptr<Imports> imports_;
};

}  // namespace drystone_tvm

#endif  // DRYSTONE_TVM_LIBRARY_H_

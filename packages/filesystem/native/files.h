// What a filesystem of this library is; tables.cc puts one behind the functions of the contract.
//
// Paths are those that `translated` gives. Members throw the failures of errors.h, and are called
// by several threads at once.
#ifndef DRYSTONE_FILES_FILES_H_
#define DRYSTONE_FILES_FILES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "options.h"
#include "transactions.h"

namespace drystone::files {

class Reader {
 public:
  virtual ~Reader() = default;
  // How many bytes there were: fewer than `size` only at the end of the file. For several threads.
  virtual std::size_t read(std::uint64_t offset, char* buffer, std::size_t size) const = 0;
};

// A file open for writing; one that goes without `close` gives up what others do not see yet.
class Writer {
 public:
  virtual ~Writer() = default;
  virtual void append(std::string_view bytes) = 0;
  virtual std::int64_t tell() const = 0;
  virtual void flush() = 0;
  virtual void sync() = 0;
  virtual void close() = 0;
};

class Region {
 public:
  virtual ~Region() = default;
  virtual const void* data() const = 0;
  virtual std::uint64_t length() const = 0;
};

struct Found {
  std::int64_t length = 0;  // 0 for a directory
  std::int64_t mtime_nsec = 0;
  bool is_directory = false;
};

// What is left of a tree after it was deleted.
struct Left {
  std::uint64_t files = 0;
  std::uint64_t directories = 0;
  std::exception_ptr first;  // why, for the first
};

enum class Writing { kReplace, kAppend };

class Files {
 public:
  explicit Files(std::vector<Option> known) : options(std::move(known)) {}
  virtual ~Files() = default;
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  virtual std::string translated(const std::string& uri) const = 0;
  virtual std::optional<Found> look(const std::string& path) const = 0;  // nothing: no value
  virtual std::vector<std::string> children(const std::string& path) const = 0;

  virtual std::unique_ptr<Reader> open(const std::string& path) const = 0;
  virtual std::unique_ptr<Writer> write(const std::string& path, Writing how) = 0;
  virtual std::unique_ptr<Region> map(const std::string& path) const = 0;

  virtual void make_directory(const std::string& path) = 0;
  virtual void remove(const std::string& path) = 0;
  virtual void remove_directory(const std::string& path) = 0;
  virtual void rename(const std::string& from, const std::string& to) = 0;
  virtual void copy(const std::string& from, const std::string& to) = 0;

  // Whether remove_tree goes into it: not into what a symbolic link points to.
  virtual bool walkable(const std::string& path) const;

  // What the members above are enough for.
  Found found(const std::string& path) const;  // fails with NOT_FOUND
  void make_directories(const std::string& path);
  Left remove_tree(const std::string& path);

  Options options;
  Transactions transactions;
};

}  // namespace drystone::files

#endif  // DRYSTONE_FILES_FILES_H_

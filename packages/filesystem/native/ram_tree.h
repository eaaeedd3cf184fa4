// The files of "ram://": bytes in memory, in directories that are real.
#ifndef DRYSTONE_FILES_RAM_TREE_H_
#define DRYSTONE_FILES_RAM_TREE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "files.h"

namespace drystone::files {

// How many bytes all buffers together hold, and may hold.
struct Budget {
  std::atomic<std::int64_t> used{0};
  const Options& options;
  void take(std::size_t size);  // fails with RESOURCE_EXHAUSTED
};

// Memory of a fixed size. What was written is not written again, so a reader that saw a length may read as
// far while others append behind it.
class Buffer {
 public:
  Buffer(std::shared_ptr<Budget> budget, std::size_t size);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  char* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  std::shared_ptr<Budget> budget_;
  std::size_t size_;
  std::unique_ptr<char[]> data_;
};

// A file's bytes at one moment.
struct Bytes {
  std::shared_ptr<const Buffer> buffer;
  std::size_t length = 0;
};

// A file's bytes, which grow.
class Blob {
 public:
  explicit Blob(std::shared_ptr<Budget> budget) : budget_(std::move(budget)) {}
  // A copy, which shares memory until one of the two grows.
  Blob(std::shared_ptr<Budget> budget, Bytes bytes);

  void append(std::string_view bytes);
  Bytes bytes() const;
  std::int64_t mtime() const;

 private:
  void grow(std::size_t needed);

  mutable std::shared_mutex mutex_;
  std::shared_ptr<Budget> budget_;
  std::shared_ptr<Buffer> own_;  // NULL while what there is belongs to another blob, too
  Bytes bytes_;
  std::int64_t mtime_nsec_ = 0;
};

// A file (blob set) or a directory.
struct Node {
  std::shared_ptr<Blob> blob;
  std::map<std::string, std::unique_ptr<Node>, std::less<>> children;
  std::int64_t mtime_nsec = 0;
};

// Nodes by path ("/host/a/b"). The first part of a path is a host, whose directory is made by the
// first thing in it. The caller holds the mutex: shared for const members.
class Tree {
 public:
  mutable std::shared_mutex mutex;

  const Node* find(std::string_view path) const;
  Node* find(std::string_view path);
  // The directory that a path is in, made where it is a host's; fails with NOT_FOUND, or
  // FAILED_PRECONDITION for a file. `name` becomes the path's last part.
  Node& above(std::string_view path, std::string* name);
  // Puts a file under a name, in place of a file; fails with FAILED_PRECONDITION for a directory.
  void put(std::string_view path, std::shared_ptr<Blob> blob);

 private:
  Node root_;
};

std::int64_t now_nsec();

}  // namespace drystone::files

#endif  // DRYSTONE_FILES_RAM_TREE_H_

// Open files and memory regions of "ram://": see ram_open.h.
#include "ram_open.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <utility>

#include "errors.h"

namespace drystone::files {
namespace {

class RamReader : public Reader {
 public:
  explicit RamReader(std::shared_ptr<Blob> blob) : blob_(std::move(blob)) {}

  std::size_t read(std::uint64_t offset, char* buffer, std::size_t size) const override {
    const Bytes bytes = blob_->bytes();
    if (offset >= bytes.length) return 0;
    const std::size_t got = std::min<std::size_t>(size, bytes.length - offset);
    std::memcpy(buffer, bytes.buffer->data() + offset, got);
    return got;
  }

 private:
  std::shared_ptr<Blob> blob_;
};

class RamRegion : public Region {
 public:
  explicit RamRegion(Bytes bytes) : bytes_(std::move(bytes)) {}
  const void* data() const override {
    return bytes_.length == 0 ? nullptr : bytes_.buffer->data();
  }
  std::uint64_t length() const override { return bytes_.length; }

 private:
  Bytes bytes_;
};

// A file that will be put under its name.
class Named : public Staged {
 public:
  Named(std::shared_ptr<Tree> tree, std::string path, std::shared_ptr<Blob> blob)
      : tree_(std::move(tree)), path_(std::move(path)), blob_(std::move(blob)) {}
  void show() override {
    const std::unique_lock lock(tree_->mutex);
    tree_->put(path_, blob_);
  }

 private:
  std::shared_ptr<Tree> tree_;
  std::string path_;
  std::shared_ptr<Blob> blob_;
};

class RamWriter : public Writer {
 public:
  RamWriter(Files& files, std::shared_ptr<Tree> tree, std::string path, std::shared_ptr<Blob> blob)
      : transactions_(files.transactions),
        transaction_(files.transactions.number_of(path)),
        tree_(std::move(tree)),
        path_(std::move(path)),
        blob_(std::move(blob)) {}

  void append(std::string_view bytes) override { blob_->append(bytes); }
  std::int64_t tell() const override { return static_cast<std::int64_t>(blob_->bytes().length); }
  void flush() override {
    if (transaction_ == 0) Named(tree_, path_, blob_).show();
  }
  void sync() override { flush(); }
  void close() override {
    if (transaction_ == 0) return flush();
    transactions_.stage(transaction_, std::make_unique<Named>(tree_, path_, blob_));
  }

 private:
  Transactions& transactions_;
  std::int64_t transaction_;
  std::shared_ptr<Tree> tree_;
  std::string path_;
  std::shared_ptr<Blob> blob_;
};

}  // namespace

std::vector<Option> ram_options() {
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  return {{"byte_limit", "bytes that all files together may take; 0: no limit", 0, 0, kAny},
          {kAbandon, "ends the transaction of this number with nothing shown", 0, 0, kAny}};
}

std::unique_ptr<Reader> ram_open(std::shared_ptr<Blob> blob) {
  return std::make_unique<RamReader>(std::move(blob));
}

std::unique_ptr<Region> ram_map(const Blob& blob) {
  return std::make_unique<RamRegion>(blob.bytes());
}

std::unique_ptr<Writer> ram_write(Files& files, std::shared_ptr<Tree> tree, std::string path,
                                  std::shared_ptr<Blob> blob) {
  return std::make_unique<RamWriter>(files, std::move(tree), std::move(path), std::move(blob));
}

}  // namespace drystone::files

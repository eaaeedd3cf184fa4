// Open files and mapped files of the system: see posix_open.h.
#include "posix_open.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>

#include "errors.h"

namespace drystone::files {
namespace {

constexpr std::chrono::seconds kPatience{10};  // for which a pipe may have no reader

bool is_pipe(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && S_ISFIFO(found.st_mode);
}

// Opens a file; who waits for the other end of a pipe waits for some seconds only.
int opened(const std::string& path, int flags) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    const int number = ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0666);
    if (number >= 0) {
      fcntl(number, F_SETFL, fcntl(number, F_GETFL) & ~O_NONBLOCK);
      return number;
    }
    const int reason = errno;
    const bool waits = reason == ENXIO && is_pipe(path);
    if (reason != EINTR && !waits) fail_errno(reason, path);
    if (waits && std::chrono::steady_clock::now() > end) {
      fail(TF_FAILED_PRECONDITION, path + " is a pipe that nobody reads");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

// An open descriptor, and its file's path for errors.
class Descriptor {
 public:
  Descriptor(std::string path, int flags)
      : path_(std::move(path)), number_(opened(path_, flags)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  const std::string& path() const { return path_; }

  void close() {
    if (::close(std::exchange(number_, -1)) != 0) fail_errno(errno, path_);
  }

  // Fails for a directory, which can be opened but not read.
  std::int64_t length() const { return facts().st_size; }

  void require_places() const {
    if (S_ISFIFO(facts().st_mode)) fail(TF_FAILED_PRECONDITION, path_ + " is a pipe, which cannot be read at a place");
  }

 private:
  struct stat facts() const {
    struct stat found {};
    if (fstat(number_, &found) != 0) fail_errno(errno, path_);
    if (S_ISDIR(found.st_mode)) fail_errno(EISDIR, path_);
    return found;
  }

  std::string path_;
  int number_;
};

constexpr std::size_t kMost = std::size_t{1} << 30;  // bytes that one call is asked for

class PosixReader : public Reader {
 public:
  explicit PosixReader(const std::string& path) : file_(path, O_RDONLY) { file_.require_places(); }

  std::size_t read(std::uint64_t offset, char* buffer, std::size_t size) const override {
    constexpr auto kLast = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
    std::size_t done = 0;
    while (done < size && offset <= kLast - done) {
      const ssize_t got = pread(file_.number(), buffer + done, std::min(size - done, kMost),
                                static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_errno(errno, file_.path());
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  Descriptor file_;
};

class PosixRegion : public Region {
 public:
  explicit PosixRegion(const std::string& path) {
    const Descriptor file(path, O_RDONLY);
    file.require_places();
    length_ = static_cast<std::size_t>(file.length());
    if (length_ == 0) return;
    data_ = mmap(nullptr, length_, PROT_READ, MAP_PRIVATE, file.number(), 0);
    if (data_ == MAP_FAILED) fail_errno(errno, path);
  }
  ~PosixRegion() override {
    if (length_ != 0 && data_ != MAP_FAILED) munmap(data_, length_);
  }
  PosixRegion(const PosixRegion&) = delete;
  PosixRegion& operator=(const PosixRegion&) = delete;
  const void* data() const override { return data_; }
  std::uint64_t length() const override { return length_; }

 private:
  void* data_ = nullptr;
  std::size_t length_ = 0;
};

// The file behind links, so that a link stays one when its file is replaced.
std::string behind_links(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr), std::free);
  return real == nullptr ? path : real.get();
}

// A file beside the one it will become; goes when it does not.
class Aside : public Staged {
 public:
  explicit Aside(const std::string& path) : path_(behind_links(path)) {
    const std::size_t slash = path_.rfind('/');
    draft_ = path_.substr(0, slash == std::string::npos ? 0 : slash + 1) + ".drystone-XXXXXX";
    const int number = mkostemp(draft_.data(), O_CLOEXEC);
    if (number < 0) fail_errno(errno, path);
    struct stat there {};
    const bool known = ::stat(path_.c_str(), &there) == 0;
    const mode_t mode = known ? there.st_mode & 07777 : 0666 & ~current_mask();
    const bool whole = !(known && S_ISDIR(there.st_mode)) && fchmod(number, mode) == 0;
    const int reason = known && S_ISDIR(there.st_mode) ? EISDIR : errno;
    ::close(number);
    if (whole) return;
    unlink(draft_.c_str());
    fail_errno(reason, path);
  }
  ~Aside() override {
    if (!draft_.empty()) unlink(draft_.c_str());
  }

  const std::string& draft() const { return draft_; }
  void show() override {
    if (std::rename(draft_.c_str(), path_.c_str()) != 0) fail_errno(errno, path_);
    draft_.clear();
  }

 private:
  static mode_t current_mask();

  std::string path_;
  std::string draft_;
};

// Of the process: umask() would change it, for other threads, too.
mode_t Aside::current_mask() {
  std::FILE* file = std::fopen("/proc/self/status", "re");
  unsigned long mask = 022;
  char line[256];
  while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr) {
    if (std::strncmp(line, "Umask:", 6) == 0) mask = std::strtoul(line + 6, nullptr, 8);
  }
  if (file != nullptr) std::fclose(file);
  return static_cast<mode_t>(mask);
}

constexpr std::size_t kBuffer = std::size_t{1} << 16;

class PosixWriter : public Writer {
 public:
  PosixWriter(Files& files, std::int64_t transaction, std::unique_ptr<Aside> aside,
              const std::string& path, int flags)
      : files_(files), transaction_(transaction), aside_(std::move(aside)), file_(path, flags) {
    place_ = (flags & O_APPEND) != 0 ? file_.length() : 0;
  }

  void append(std::string_view bytes) override {
    if (buffer_.size() + bytes.size() > kBuffer) flush();
    if (bytes.size() > kBuffer) return put(bytes);
    if (buffer_.capacity() == 0) buffer_.reserve(kBuffer);
    buffer_.append(bytes);
  }
  std::int64_t tell() const override {
    return place_ + static_cast<std::int64_t>(buffer_.size());
  }
  void flush() override {
    put(buffer_);
    buffer_.clear();
  }
  void sync() override {
    flush();
    if (fsync(file_.number()) != 0) fail_errno(errno, file_.path());
  }
  void close() override {
    if (files_.options[kSyncOnClose] != 0) sync();
    flush();
    file_.close();
    if (aside_ != nullptr) files_.transactions.stage(transaction_, std::move(aside_));
  }

 private:
  void put(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t done = ::write(file_.number(), bytes.data(), std::min(bytes.size(), kMost));
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fail_errno(errno, file_.path());
      bytes.remove_prefix(static_cast<std::size_t>(done));
      place_ += done;
    }
  }

  Files& files_;
  std::int64_t transaction_;
  std::unique_ptr<Aside> aside_;  // where it is written when it is to show at once
  Descriptor file_;
  std::string buffer_;
  std::int64_t place_ = 0;
};

void copy_into(const std::string& from, const std::string& to) {
  const Descriptor target(to, O_WRONLY);
  const PosixReader source(from);
  std::string piece(kBuffer * 4, '\0');
  for (std::uint64_t offset = 0;;) {
    const std::size_t got = source.read(offset, piece.data(), piece.size());
    for (std::size_t done = 0; done < got;) {
      const ssize_t put = ::write(target.number(), piece.data() + done, got - done);
      if (put < 0 && errno != EINTR) fail_errno(errno, to);
      done += put < 0 ? 0 : static_cast<std::size_t>(put);
    }
    if (got < piece.size()) return;
    offset += got;
  }
}

}  // namespace

std::vector<Option> posix_options() {
  return {{"atomic_writes", "1: a file shows when it is closed, whole, in place of what it was", 0,
           0, 1},
          {"sync_on_close", "1: closing a file waits until it is on the medium", 0, 0, 1},
          {kAbandon, "ends the transaction of this number with nothing shown", 0, 0,
           std::numeric_limits<std::int64_t>::max()}};
}

std::unique_ptr<Reader> posix_open(const std::string& path) {
  return std::make_unique<PosixReader>(path);
}

std::unique_ptr<Region> posix_map(const std::string& path) {
  return std::make_unique<PosixRegion>(path);
}

std::unique_ptr<Writer> posix_write(Files& files, const std::string& path, Writing how) {
  const bool append = how == Writing::kAppend;
  const std::int64_t transaction = files.transactions.number_of(path);
  if (transaction == 0 && files.options[kAtomicWrites] == 0) {
    // At the end in any case: two who replace a file at once leave no hole in it.
    const int flags = O_WRONLY | O_CREAT | O_APPEND | (append ? 0 : O_TRUNC);
    return std::make_unique<PosixWriter>(files, 0, nullptr, path, flags);
  }
  auto aside = std::make_unique<Aside>(path);
  if (append && files.look(path)) copy_into(path, aside->draft());
  const std::string draft = aside->draft();
  return std::make_unique<PosixWriter>(files, transaction, std::move(aside), draft,
                                       O_WRONLY | O_APPEND);
}

}  // namespace drystone::files

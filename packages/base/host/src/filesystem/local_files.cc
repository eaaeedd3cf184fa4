// Open files of the local filesystem.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <thread>

#include "core/status.h"
#include "filesystem/local.h"

namespace drystone::host {
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

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : number_(opened(path, O_RDONLY)) {}
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }

  // Fails for a directory, which can be opened but not read.
  struct stat file_stat(const std::string& path) const {
    struct stat found {};
    if (fstat(number_, &found) != 0) fail_errno(errno, path);
    if (S_ISDIR(found.st_mode)) fail_errno(EISDIR, path);
    if (S_ISFIFO(found.st_mode)) {
      fail(TF_FAILED_PRECONDITION, path + " is a pipe, which cannot be read at a place");
    }
    return found;
  }

 private:
  int number_;
};

class LocalReadable : public ReadableFile {
 public:
  explicit LocalReadable(const std::string& path) : path_(path), file_(path) {
    file_.file_stat(path);
  }

  std::size_t read(std::uint64_t offset, char* buffer, std::size_t size) override {
    constexpr auto kLast = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
    std::size_t done = 0;
    while (done < size && offset + done <= kLast && offset + done >= offset) {
      const std::size_t wanted = std::min<std::size_t>(size - done, std::size_t{1} << 30);
      const ssize_t got =
          pread(file_.number(), buffer + done, wanted, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_errno(errno, path_);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  std::string path_;
  Descriptor file_;
};

std::FILE* open_stream(const std::string& path, char mode) {
  const int number = opened(path, O_WRONLY | O_CREAT | (mode == 'a' ? O_APPEND : O_TRUNC));
  std::FILE* file = fdopen(number, mode == 'a' ? "ab" : "wb");
  if (file != nullptr) return file;
  const int reason = errno;
  ::close(number);
  fail_errno(reason, path);
}

class LocalWritable : public WritableFile {
 public:
  LocalWritable(const std::string& path, char mode)
      : path_(path), file_(open_stream(path, mode)) {
    if (mode != 'a' || fseeko(file_, 0, SEEK_END) == 0) return;
    const int reason = errno;  // no destructor closes the file of an object that was never made
    std::fclose(file_);
    fail_errno(reason, path);
  }
  ~LocalWritable() override {
    if (file_ != nullptr) std::fclose(file_);
  }

  void append(std::string_view bytes) override {
    const std::size_t done = std::fwrite(bytes.data(), 1, bytes.size(), file_);
    if (done != bytes.size()) fail_errno(errno, path_);
  }
  std::int64_t tell() override {
    const off_t place = ftello(file_);
    if (place < 0) fail_errno(errno, path_);
    return place;
  }
  void flush() override { check(std::fflush(file_)); }
  void sync() override {
    flush();
    check(fsync(fileno(file_)));
  }
  void close() override {
    std::FILE* file = std::exchange(file_, nullptr);
    check(std::fclose(file));
  }

 private:
  void check(int answer) const {
    if (answer != 0) fail_errno(errno, path_);
  }

  std::string path_;
  std::FILE* file_;
};

class LocalRegion : public MemoryRegion {
 public:
  explicit LocalRegion(const std::string& path) {
    const Descriptor file(path);
    length_ = static_cast<std::size_t>(file.file_stat(path).st_size);
    if (length_ == 0) return;
    data_ = mmap(nullptr, length_, PROT_READ, MAP_PRIVATE, file.number(), 0);
    if (data_ == MAP_FAILED) fail_errno(errno, path);
  }
  ~LocalRegion() override {
    if (data_ != nullptr && data_ != MAP_FAILED) munmap(data_, length_);
  }
  const void* data() override { return data_; }
  std::uint64_t length() override { return length_; }

 private:
  void* data_ = nullptr;
  std::size_t length_ = 0;
};

}  // namespace

void fail_errno(int number, const std::string& context) {
  TF_Status status;
  TF_SetStatusFromIOError(&status, number == 0 ? EIO : number, context.c_str());
  fail(status.code, status.message);
}

std::unique_ptr<ReadableFile> open_local_readable(const std::string& path) {
  return std::make_unique<LocalReadable>(path);
}

std::unique_ptr<WritableFile> open_local_writable(const std::string& path, char mode) {
  return std::make_unique<LocalWritable>(path, mode);
}

std::unique_ptr<MemoryRegion> open_local_region(const std::string& path) {
  return std::make_unique<LocalRegion>(path);
}

}  // namespace drystone::host

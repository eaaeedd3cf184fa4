// What the bytes of a library's file tell: see library/contents.h.
#include "library/contents.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "core/failure.h"
#include "library/sha256.h"

namespace drystone::host {
namespace {

constexpr std::string_view kMagic("\0S\\s\":^p*L}", 11);
constexpr std::size_t kRare = 5;  // the place of its byte that code and tables have least often
constexpr std::size_t kLongest = 4096;
constexpr std::size_t kPiece = 1 << 16;  // stays in a processor's cache while it is looked at twice

// Where the magic is at or after `at`, or npos.
std::size_t find_magic(std::string_view data, std::size_t at) {
  for (at += kRare; at < data.size(); ++at) {
    const void* rare = std::memchr(data.data() + at, kMagic[kRare], data.size() - at);
    if (rare == nullptr) break;
    at = static_cast<std::size_t>(static_cast<const char*>(rare) - data.data());
    if (data.substr(at - kRare, kMagic.size()) == kMagic) return at - kRare;
  }
  return std::string_view::npos;
}

// A regular file that is open for reading, without waiting for a pipe's other end.
class File {
 public:
  explicit File(const std::string& path)
      : path_(path), number_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (number_ < 0) refuse(std::strerror(errno));
  }
  ~File() { close(number_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void require_regular() const {
    struct stat facts;
    if (fstat(number_, &facts) != 0) refuse(std::strerror(errno));
    if (!S_ISREG(facts.st_mode)) refuse("not a regular file");
  }
  std::string_view read(char* room, std::size_t size) const {
    for (;;) {
      const ssize_t got = ::read(number_, room, size);
      if (got >= 0) return {room, static_cast<std::size_t>(got)};
      if (errno != EINTR) refuse(std::strerror(errno));
    }
  }

 private:
  [[noreturn]] void refuse(const char* why) const { fail(TF_NOT_FOUND, path_ + ": " + why); }

  const std::string& path_;
  int number_;
};

}  // namespace

void RecordFinder::take(std::string_view bytes) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kPiece, bytes.size()))) {
    data_.append(bytes.substr(0, kPiece));
    find(false);
  }
}

std::vector<std::string> RecordFinder::finish() {
  find(true);
  return std::move(records_);
}

void RecordFinder::find(bool last) {
  std::size_t done = 0;
  std::size_t found;
  while ((found = find_magic(data_, done)) != std::string::npos) {
    const std::size_t start = found + kMagic.size();
    const std::string_view rest = std::string_view(data_).substr(start, kLongest);
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos && rest.size() < kLongest && !last) break;
    const std::string_view record = rest.substr(0, end);
    if (!record.empty()) records_.emplace_back(record);
    done = start + record.size();
  }
  const std::size_t beginning = data_.size() - std::min(data_.size(), kMagic.size() - 1);
  data_.erase(0, found == std::string::npos ? std::max(done, beginning) : found);
}

std::string digest_and_records(const std::string& path) {
  if (!Sha256::available()) fail(TF_UNIMPLEMENTED, "no instructions for SHA-256");
  const File file(path);
  file.require_regular();
  const auto room = std::make_unique_for_overwrite<char[]>(kPiece);
  Sha256 digest;
  RecordFinder finder;
  for (;;) {
    const std::string_view piece = file.read(room.get(), kPiece);
    if (piece.empty()) break;
    digest.take(piece);
    finder.take(piece);
  }
  std::string out = digest.digest();
  for (const std::string& record : finder.finish()) out.append(record).push_back('\0');
  return out;
}

}  // namespace drystone::host

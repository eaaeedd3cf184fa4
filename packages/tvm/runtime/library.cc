#include "library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "image.h"
#include "services.h"
#include "sha256.h"
#include "stated.h"

namespace drystone_tvm {
namespace {

using drystone::sdk::Error;
using drystone::sdk::Result;

constexpr std::size_t kMostNames = 20;
constexpr std::size_t kShown = 16;  // digits of a hash

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }
  bool ok() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

// A file and its version.
struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  std::int64_t changed = 0;
  bool operator==(const Identity&) const = default;
};

Identity identity(const struct stat& facts) {
  const std::int64_t changed = facts.st_mtim.tv_sec * 1'000'000'000LL + facts.st_mtim.tv_nsec;
  return {facts.st_dev, facts.st_ino, facts.st_size, changed};
}

Error unreadable(const std::string& path, int number) {
  const TF_Code code = number == ENOENT || number == ENOTDIR ? TF_NOT_FOUND : TF_FAILED_PRECONDITION;
  return Error(code, "library '" + path + "' cannot be read: " + std::strerror(number));
}

Result<std::string> read_all(const File& file, const std::string& path, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(file.get(), bytes.data() + done, size - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(path, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

// Memory that nothing can write to any more, as a file.
int sealed(const std::string& bytes) {
  const int file = ::memfd_create("drystone-tvm-library", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return -1;
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = ::write(file, bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) break;
    done += static_cast<std::size_t>(put);
  }
  const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
  if (done == bytes.size() && ::fcntl(file, F_ADD_SEALS, seals) == 0) return file;
  ::close(file);
  return -1;
}

// The dynamic linker takes two files of one name for one, and numbers of descriptors come again: the
// path of each says a number, a bit in each "./" or ".//".
std::string path_of(int file) {
  static std::mutex lock;
  static unsigned opened = 0;
  unsigned number = 0;
  {
    const std::lock_guard<std::mutex> guard(lock);
    number = ++opened;
  }
  std::string path = "/proc/self/fd/";
  for (; number != 0; number >>= 1) path += (number & 1) != 0 ? ".//" : "./";
  return path + std::to_string(file);
}

std::string joined(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < kMostNames; ++i) out += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMostNames) out += " and " + std::to_string(names.size() - kMostNames) + " more";
  return out.empty() ? "none" : out;
}

std::mutex libraries_lock;
std::map<std::string, std::pair<Identity, std::weak_ptr<Library>>>& libraries() {
  static auto* opened = new std::map<std::string, std::pair<Identity, std::weak_ptr<Library>>>();
  return *opened;
}

Error fill(void* handle, const std::string& path, const std::vector<std::string>& variables, Imports* imports) {
  const bool with_barriers =
      std::find(variables.begin(), variables.end(), "__TVMBackendParallelBarrier") != variables.end();
  for (const std::string& name : variables) {
    void* value = context_value(name, with_barriers, imports);
    void* variable = ::dlsym(handle, name.c_str());
    if (value == nullptr && name != kContext) {
      return Error(TF_FAILED_PRECONDITION, "library '" + path + "' asks its host for " + name +
                                               ", which only TVM's own run time has");
    }
    if (variable != nullptr) std::memcpy(variable, &value, sizeof value);
  }
  return {};
}

}  // namespace

class Opening {
 public:
  static Result<std::shared_ptr<Library>> open(const std::string& path, const File& file, std::size_t size,
                                               const std::string& needed) {
    Result<std::string> bytes = read_all(file, path, size);
    if (!bytes.ok()) return bytes.error();
    const std::string hash = sha256(*bytes);
    if (Error error = check(path, hash, needed); !error.ok()) return error;  // before any of it runs
    const std::string missing = lacking(*bytes);
    Result<Image> image = make_image(std::move(*bytes));
    if (!image.ok()) {
      return Error(image.error().code(), "library '" + path + "' cannot be used: " + image.error().message());
    }
    if (!missing.empty()) {
      return Error(TF_FAILED_PRECONDITION, "library '" + path + "' cannot be used: it is for another processor: " +
                                               "this one lacks " + missing + "; compile it here, or for \"llvm\"");
    }
    const File copy(sealed(image->bytes));
    if (!copy.ok()) return Error(TF_RESOURCE_EXHAUSTED, "no memory for library '" + path + "'");
    void* handle = ::dlopen(path_of(copy.get()).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return not_opened(path);
    std::shared_ptr<Library> out(new Library(path, handle, joined(image->functions), hash));
    if (image->modules != 0) {
      if (Error error = load(*out, image->modules); !error.ok()) return error;
    }
    if (Error error = fill(handle, path, image->variables, out->imports_.get()); !error.ok()) return error;
    return out;
  }

  static Error check(const std::string& path, const std::string& hash, const std::string& needed) {
    if (needed.empty() || hash == needed) return {};
    return Error(TF_FAILED_PRECONDITION, "library '" + path + "' is another one than the graph was made with: its SHA-256 is " +
                                             hash.substr(0, kShown) + "..., needed " + needed.substr(0, kShown) + "...");
  }
  static Error check(const Library& opened, const std::string& needed) {
    return check(opened.path_, opened.hash_, needed);
  }

 private:
  // What it carries for devices: the number of bytes, then these.
  static Error load(Library& library, std::size_t size) {
    const auto* bytes = static_cast<const char*>(::dlsym(library.handle_, kModules));
    std::uint64_t inside = 0;
    if (bytes == nullptr || size < sizeof inside) return {};
    std::memcpy(&inside, bytes, sizeof inside);
    const std::string_view modules(bytes + sizeof inside, std::min<std::uint64_t>(inside, size - sizeof inside));
    Result<std::unique_ptr<Imports>> found = Imports::load(modules);
    if (!found.ok()) {
      return Error(found.error().code(), "library '" + library.path_ + "' cannot be used: " + found.error().message());
    }
    library.imports_ = std::move(*found);
    return {};
  }

  static Error not_opened(const std::string& path) {
    const char* said = ::dlerror();
    const std::string text = said == nullptr ? "" : said;
    const std::size_t colon = text.find(": ");  // after the name of the copy, which says nothing
    return Error(TF_FAILED_PRECONDITION, "library '" + path + "' cannot be opened: " +
                                             (colon == std::string::npos ? text : text.substr(colon + 2)));
  }
};

Result<std::shared_ptr<Library>> Library::open(const std::string& path, const std::string& hash) {
  if (path.find('\0') != std::string::npos) return unreadable(path.c_str(), ENOENT);
  char real[PATH_MAX];
  if (::realpath(path.c_str(), real) == nullptr) return unreadable(path, errno);
  const File file(::open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts{};
  if (!file.ok() || ::fstat(file.get(), &facts) != 0) return unreadable(path, errno);
  if (!S_ISREG(facts.st_mode)) return Error(TF_FAILED_PRECONDITION, "library '" + path + "' is no file");
  const std::lock_guard<std::mutex> guard(libraries_lock);
  auto& [known, opened] = libraries()[real];
  if (std::shared_ptr<Library> same = opened.lock(); same && known == identity(facts)) {
    if (Error error = Opening::check(*same, hash); !error.ok()) return error;
    return same;
  }
  Result<std::shared_ptr<Library>> made = Opening::open(path, file, static_cast<std::size_t>(facts.st_size), hash);
  if (made.ok()) {
    known = identity(facts);
    opened = *made;
  }
  return made;
}

Library::~Library() {
  imports_.reset();
  ::dlclose(handle_);
}

Result<Function> Library::function(const std::string& name) const {
  void* found = ::dlsym(handle_, (kFunctionPrefix + name).c_str());
  if (found != nullptr) return reinterpret_cast<Function>(found);
  return Error(TF_NOT_FOUND, "library '" + path_ + "' has no function '" + name + "'; it has " + functions_);
}

}  // namespace drystone_tvm

// Files that plugins open in calls of their kernels: see library/redirect.h.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "core/failure.h"
#include "core/plugin_call.h"
#include "drystone/logging.h"
#include "library/redirect.h"

namespace drystone::host {
namespace {

constexpr std::size_t kMany = 32;

struct OpenedFile {
  const char* library;
  dev_t device;
  ino_t inode;
};

struct Opened {
  std::mutex mutex;
  std::map<int, OpenedFile> all;
  std::set<std::string, std::less<>> told;
};

// Never destroyed: threads of plugins may outlive main().
Opened& opened() {
  static auto& only = *new Opened;
  return only;
}

int noted(int file) noexcept {
  const PluginFunction* const call = running_call;
  if (file < 0 || call == nullptr || call->guards == nullptr) return file;
  struct stat facts;
  if (fstat(file, &facts) != 0) return file;
  return answered(file, [&] {
    const std::lock_guard lock(opened().mutex);
    opened().all.insert_or_assign(file, OpenedFile{call->library, facts.st_dev, facts.st_ino});
    return file;
  });
}

FILE* noted_stream(FILE* stream) noexcept {
  if (stream != nullptr) noted(fileno(stream));
  return stream;
}

int noted_pair(int result, const int* files) noexcept {
  if (result == 0) noted(files[0]), noted(files[1]);
  return result;
}

// The mode is there for some flags only; what is passed on without need is not read.
int at_path(const char* path, int flags, mode_t mode) { return noted(::open(path, flags, mode)); }
int at_path_checked(const char* path, int flags) { return noted(::open(path, flags, 0)); }
int at_path_in(int folder, const char* path, int flags, mode_t mode) { return noted(::openat(folder, path, flags, mode)); }
FILE* stream_at(const char* path, const char* mode) { return noted_stream(std::fopen(path, mode)); }
int socket_made(int domain, int type, int protocol) { return noted(::socket(domain, type, protocol)); }
int pipe_made(int* files) { return noted_pair(::pipe(files), files); }
int pipe_made_with(int* files, int flags) { return noted_pair(::pipe2(files, flags), files); }
int copied(int file) { return noted(::dup(file)); }
int event_made(unsigned first, int flags) { return noted(::eventfd(first, flags)); }
int memory_made(const char* name, unsigned flags) { return noted(::memfd_create(name, flags)); }
int poll_made(int flags) { return noted(::epoll_create1(flags)); }

// How often this thread has locked the program's streams, in calls of plugins.
struct Locked {
  int count[3] = {};
};
constinit thread_local Locked locked __attribute__((tls_model("initial-exec")));

int* count_of(FILE* stream) noexcept {
  if (stream == stdin) return &locked.count[0];
  if (stream == stdout) return &locked.count[1];
  return stream == stderr ? &locked.count[2] : nullptr;
}

void stream_locked(FILE* stream) {
  ::flockfile(stream);
  if (int* const count = count_of(stream)) ++*count;
}

int stream_tried(FILE* stream) {
  const int failed = ::ftrylockfile(stream);
  int* const count = count_of(stream);
  if (failed == 0 && count != nullptr) ++*count;
  return failed;
}

void stream_unlocked(FILE* stream) {
  int* const count = count_of(stream);
  if (count != nullptr && *count > 0) --*count;
  ::funlockfile(stream);
}

bool is_still_open(int file, const OpenedFile& one) noexcept {
  struct stat now;
  return fstat(file, &now) == 0 && now.st_dev == one.device && now.st_ino == one.inode;
}

std::string path_of(int file) {
  std::array<char, 256> text{};
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  return ::readlink(link.c_str(), text.data(), text.size() - 1) < 0 ? link : text.data();
}

}  // namespace

bool unlock_streams() noexcept {
  bool was_locked = false;
  for (FILE* const stream : {stdin, stdout, stderr}) {
    for (int* const count = count_of(stream); *count > 0; --*count) {
      ::funlockfile(stream);
      was_locked = true;
    }
  }
  return was_locked;
}

void forget_opened(int file) noexcept {
  answered(0, [&] {
    const std::lock_guard lock(opened().mutex);
    opened().all.erase(file);
    return 0;
  });
}

void remark_left_open(const char* library, const std::string& when) noexcept {
  answered(0, [&] {
    const std::lock_guard lock(opened().mutex);
    Opened& from = opened();
    if (from.all.size() < kMany || from.told.contains(library)) return 0;
    std::erase_if(from.all, [](const auto& one) { return !is_still_open(one.first, one.second); });
    std::size_t count = 0;
    int last = -1;
    for (const auto& [file, one] : from.all) {
      if (std::string_view(one.library) == library) ++count, last = file;
    }
    if (count < kMany) return 0;
    from.told.emplace(library);
    TF_Log(TF_WARNING, "%s: its calls have opened %zu files and not closed them, the last is %s: the process can open "
           "so many and no more", when.c_str(), count, path_of(last).c_str());
    return 0;
  });
}

void add_file_functions(std::vector<Redirected>& all) {
  all.insert(all.end(), {
                            instead("open", at_path), instead("open64", at_path),
                            instead("__open_2", at_path_checked), instead("__open64_2", at_path_checked),
                            instead("openat", at_path_in), instead("openat64", at_path_in),
                            instead("fopen", stream_at), instead("fopen64", stream_at),
                            instead("socket", socket_made), instead("pipe", pipe_made),
                            instead("pipe2", pipe_made_with), instead("dup", copied),
                            instead("eventfd", event_made), instead("memfd_create", memory_made),
                            instead("epoll_create1", poll_made), instead("flockfile", stream_locked),
                            instead("ftrylockfile", stream_tried), instead("funlockfile", stream_unlocked),
                        });
}

}  // namespace drystone::host

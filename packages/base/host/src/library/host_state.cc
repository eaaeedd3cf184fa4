// Noting and putting back the process's state: see library/host_state.h. One struct for each kind,
// which notes when it is made.
#include "library/host_state.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "core/floating_mode.h"
#include "library/process_state.h"

extern char** environ;

namespace drystone::host {
namespace {

struct Folder {
  Folder() : opened(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    known = opened.number() >= 0 && fstat(opened.number(), &facts) == 0;
  }

  void put_back(Changes& changes) const {
    struct stat now;
    if (!known) return;
    if (stat(".", &now) == 0 && now.st_dev == facts.st_dev && now.st_ino == facts.st_ino) return;
    told(changes, fchdir(opened.number()) == 0, "the working folder");
  }

  KeptFile opened;
  bool known = false;
  struct stat facts{};
};

struct Mask {
  Mask() : value(read()) {}

  void put_back(Changes& changes) const {
    const int now = read();
    if (value < 0 || now == value) return;
    umask(static_cast<mode_t>(value));
    char text[64];
    std::snprintf(text, sizeof text, "the umask, from %04o to %04o", static_cast<unsigned>(value),
                  static_cast<unsigned>(now));
    told(changes, true, text);
  }

  // Without changing it, as other threads may be making files; negative if the kernel does not say.
  static int read() {
    char text[4096];
    const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? -1 : ::read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    if (size <= 0) return -1;
    text[size] = '\0';
    const char* line = std::strstr(text, "\nUmask:");
    return line == nullptr ? -1 : static_cast<int>(std::strtol(line + 7, nullptr, 8));
  }

  int value;
};

struct Locale {
  Locale() : process(name_of(LC_ALL)), thread(uselocale(nullptr)) {}

  void put_back(Changes& changes) const {
    if (uselocale(nullptr) != thread) {
      uselocale(thread);
      told(changes, true, "the thread's locale");
    }
    const std::string now = name_of(LC_ALL);
    if (now == process) return;
    const bool done = std::setlocale(LC_ALL, process.c_str()) != nullptr;
    told(changes, done, "the locale, from " + process + " to " + now);
  }

  static std::string name_of(int category) {
    const char* text = std::setlocale(category, nullptr);
    return text == nullptr ? "" : text;
  }

  std::string process;
  locale_t thread;
};

struct Environment {
  Environment() : before(read()) {}

  void put_back(Changes& changes) const {
    const auto now = read();
    if (now == before) return;
    for (const auto& [name, value] : now) {
      if (before.count(name) != 0 || marks_a_runtime(name)) continue;
      unsetenv(name.c_str());
      told(changes, true, "the environment variable " + name + ", which was not set");
    }
    for (const auto& [name, value] : before) {
      const auto found = now.find(name);
      if (found != now.end() && found->second == value) continue;
      const bool done = setenv(name.c_str(), value.c_str(), 1) == 0;
      told(changes, done, "the environment variable " + name);
    }
  }

  // By this, copies of LLVM's OpenMP in one process find each other.
  static bool marks_a_runtime(std::string_view name) {
    return name.substr(0, 21) == "__KMP_REGISTERED_LIB_";
  }

  static std::map<std::string, std::string> read() {
    std::map<std::string, std::string> out;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
      const std::string_view text(*entry);
      const std::size_t equals = text.find('=');
      if (equals == std::string_view::npos || equals == 0) continue;
      out.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    return out;
  }

  std::map<std::string, std::string> before;
};

// Standard input, output and error: the files they are, and their flags.
struct Streams {
  struct Stream {
    KeptFile copy;
    int flags = 0;
    struct stat facts{};
  };

  Streams() {
    for (int k = 0; k < 3; ++k) {
      Stream& one = streams[static_cast<std::size_t>(k)];
      if (fstat(k, &one.facts) != 0) continue;
      one.flags = fcntl(k, F_GETFL);
      one.copy = KeptFile(fcntl(k, F_DUPFD_CLOEXEC, 3));
    }
  }

  void put_back(Changes& changes) const {
    constexpr const char* kNames[] = {"standard input", "standard output", "standard error"};
    for (int k = 0; k < 3; ++k) {
      const Stream& one = streams[static_cast<std::size_t>(k)];
      if (one.copy.number() < 0) continue;
      if (!is_same(k, one)) {
        if (k == STDOUT_FILENO) std::fflush(stdout);
        told(changes, dup2(one.copy.number(), k) == k, kNames[k]);
      }
      if (fcntl(k, F_GETFL) == one.flags) continue;
      told(changes, fcntl(k, F_SETFL, one.flags) == 0, std::string("the flags of ") + kNames[k]);
    }
  }

  static bool is_same(int number, const Stream& one) {
    struct stat now;
    return fstat(number, &now) == 0 && now.st_dev == one.facts.st_dev &&
           now.st_ino == one.facts.st_ino && now.st_rdev == one.facts.st_rdev;
  }

  std::array<Stream, 3> streams;
};

// What C++ programs set for all of their threads.
struct Handlers {
  void put_back(Changes& changes) const {
    if (std::get_terminate() != terminate) {
      std::set_terminate(terminate);
      told(changes, true, "the handler of std::terminate");
    }
    if (std::get_new_handler() != memory) {
      std::set_new_handler(memory);
      told(changes, true, "the handler of operator new");
    }
  }

  std::terminate_handler terminate = std::get_terminate();
  std::new_handler memory = std::get_new_handler();
};

// Each call of a plugin puts it back, too, and says nothing.
struct Rounding {
  void put_back(Changes& changes) const {
    if (FloatingMode::now() == mode && modes_put_back == before) return;
    mode.set();
    told(changes, true, "the floating-point mode (rounding, denormals)");
  }

  FloatingMode mode = FloatingMode::now();
  unsigned before = modes_put_back;
};

}  // namespace

namespace {

thread_local int looks __attribute__((tls_model("initial-exec"))) = 0;

thread_local int whole_looks __attribute__((tls_model("initial-exec"))) = 0;

struct Look {
  explicit Look(bool is_whole_) noexcept : is_whole(is_whole_) { ++looks, whole_looks += is_whole; }
  ~Look() { --looks, whole_looks -= is_whole; }
  Look(const Look&) = delete;
  Look& operator=(const Look&) = delete;

  const bool is_whole;
};

}  // namespace

bool is_looked_at() noexcept { return looks != 0; }
bool is_environment_looked_at() noexcept { return whole_looks != 0; }
int umask_now() noexcept { return Mask::read(); }

struct HostState::Noted {
  explicit Noted(Noting noting) : look(noting == Noting::kAll) {
    if (noting == Noting::kAll) environment.emplace();
  }

  Look look;
  Rounding rounding;
  Folder folder;
  Mask mask;
  Locale locale;
  std::optional<Environment> environment;
  Streams streams;
  Handlers handlers;
  ProcessState process;

  Changes put_back() const {
    Changes out;
    rounding.put_back(out);
    folder.put_back(out);
    mask.put_back(out);
    locale.put_back(out);
    if (environment) environment->put_back(out);
    streams.put_back(out);
    handlers.put_back(out);
    process.put_back(out);
    return out;
  }
};

HostState::HostState(Noting noting) : noted_(std::make_unique<Noted>(noting)) {}
HostState::~HostState() {
  if (noted_ == nullptr) return;
  try {
    noted_->put_back();
  } catch (const std::bad_alloc&) {
    return;  // the words did not fit; what was put back so far is
  }
}

Changes HostState::put_back() { return std::exchange(noted_, nullptr)->put_back(); }

void HostState::forget() noexcept { noted_ = nullptr; }

OutputToError::OutputToError() : output_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) {
  std::fflush(stdout);
  if (output_.number() >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
}

OutputToError::~OutputToError() {
  std::fflush(stdout);
  if (output_.number() >= 0) dup2(output_.number(), STDOUT_FILENO);
}

}  // namespace drystone::host

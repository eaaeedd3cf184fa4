// Naming the plugin in whose code a process ends: see library/crash_report.h. What handlers call is
// safe in signal handlers: no locks, no memory, no library that could have either.
#include "library/crash_report.h"

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/plugin_call.h"
#include "core/readable.h"

namespace drystone::host {

namespace {

struct Fatal {
  int number;
  const char* name;
};
constexpr std::array<Fatal, 7> kFatal = {{{SIGSEGV, "SIGSEGV"},
                                          {SIGBUS, "SIGBUS"},
                                          {SIGILL, "SIGILL"},
                                          {SIGFPE, "SIGFPE"},
                                          {SIGABRT, "SIGABRT"},
                                          {SIGTRAP, "SIGTRAP"},
                                          {SIGSYS, "SIGSYS"}}};
std::array<struct sigaction, kFatal.size()> before_us;

// Code of plugins. Entries are whole before the count says that they are there.
struct Code {
  std::uintptr_t begin, end;
  const char* library;
};
constexpr std::size_t kMostCode = 1024;
std::array<Code, kMostCode> code;
std::atomic<std::size_t> code_count{0};

const char* library_at(std::uintptr_t address) noexcept {
  const std::size_t count = code_count.load(std::memory_order_acquire);
  for (std::size_t k = 0; k < count; ++k) {
    if (code[k].begin <= address && address < code[k].end) return code[k].library;
  }
  return nullptr;
}

// A line in memory of its own, cut where that ends.
class Line {
 public:
  Line& operator<<(std::string_view text) noexcept {
    for (const char c : text) {
      if (size_ + 1 == sizeof text_) break;
      const auto byte = static_cast<unsigned char>(c);
      text_[size_++] = byte < 0x20 || byte == 0x7f ? '?' : c;
    }
    return *this;
  }
  void write() noexcept {
    text_[size_++] = '\n';
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text_, size_);
  }

 private:
  char text_[2048];
  std::size_t size_ = 0;
};

std::string_view file_of(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

void name_library(Line& line, const char* library) noexcept {
  if (*library == '\0') return;
  line << " of plugin " << library;
}

void advise(Line& line, const char* library) noexcept {
  if (*library == '\0') return;
  line << "; to go on without it: DRYSTONE_PLUGINS_DISABLE=" << file_of(library);
}

void say_running(std::string_view what, const PluginFunction& call, const char* library) noexcept {
  Line line;
  line << "drystone: " << what << " while " << call.name;
  if (!call.node.empty()) line << " of node '" << call.node << "' (op " << call.op << ")";
  name_library(line, library);
  line << " ran";
  advise(line, library);
  line.write();
}

void say_thread(std::string_view what, const char* library) noexcept {
  Line line;
  line << "drystone: " << what << " in code";
  name_library(line, library);
  line << ", which drystone had not called (a thread of its own, or the end of the process)";
  advise(line, library);
  line.write();
}

struct Place {
  std::uintptr_t instruction, stack;
};

Place place_of(const void* context) noexcept {
  const auto* machine = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  return {static_cast<std::uintptr_t>(machine->uc_mcontext.gregs[REG_RIP]),
          static_cast<std::uintptr_t>(machine->uc_mcontext.gregs[REG_RSP])};
#elif defined(__aarch64__)
  return {machine->uc_mcontext.pc, machine->uc_mcontext.sp};
#else
#error "say where this processor keeps its program counter and stack pointer"
#endif
}

// The plugin in whose code this is, or whose code has called it: the nearest address of such code on
// the stack.
const char* library_around(const Place& place) noexcept {
  constexpr std::uintptr_t kWord = sizeof(std::uintptr_t);
  constexpr std::uintptr_t kPage = 4096;
  constexpr std::uintptr_t kFar = 256 << 10;
  if (const char* found = library_at(place.instruction)) return found;
  const std::uintptr_t start = (place.stack + kWord - 1) & ~(kWord - 1);
  for (std::uintptr_t at = start; at < start + kFar; at += kWord) {
    const bool is_first = at == start || at % kPage == 0;
    if (is_first && !is_readable(reinterpret_cast<const void*>(at))) return nullptr;
    if (const char* found = library_at(*reinterpret_cast<const std::uintptr_t*>(at))) return found;
  }
  return nullptr;
}

std::atomic_flag said;  // the first to go knows why

void say(std::string_view what, const void* context) noexcept {
  if (said.test_and_set()) return;
  const PluginFunction* call = running_call;
  if (call != nullptr && *call->library != '\0') return say_running(what, *call, call->library);
  const char* library = library_around(place_of(context));
  if (call != nullptr) say_running(what, *call, library == nullptr ? "" : library);
  else if (library != nullptr) say_thread(what, library);
}

void on_fatal(int number, siginfo_t* info, void* context) {
  const int error = errno;
  const auto is_this = [&](const Fatal& one) { return one.number == number; };
  const auto* known = std::find_if(kFatal.begin(), kFatal.end(), is_this);
  say(known->name, context);
  sigaction(number, &before_us[static_cast<std::size_t>(known - kFatal.begin())], nullptr);
  // An instruction that failed fails again, for who was here before; what was sent is sent again.
  if (info == nullptr || info->si_code <= 0) {
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
  }
  errno = error;
}

void on_exit() {
  const PluginFunction* call = running_call;
  if (call == nullptr || said.test_and_set()) return;
  say_running("the process was ended by exit()", *call, call->library);
}

std::atomic<pid_t> program{0};  // this process, unless it is a plugin's copy

// In the child of a fork.
void on_fork() { note_copy(); }

void add_code(const Code& one) noexcept {
  const std::size_t count = code_count.load(std::memory_order_relaxed);
  if (count == kMostCode) return;
  code[count] = one;
  code_count.store(count + 1, std::memory_order_release);
}

// A thread's stack for handlers, given back with the thread.
class HandlerStack {
 public:
  HandlerStack() noexcept {
    stack_t present{};
    if (sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;
    void* memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return;
    const stack_t own{memory, 0, kSize};
    if (sigaltstack(&own, nullptr) == 0) memory_ = memory;
    else munmap(memory, kSize);
  }
  ~HandlerStack() {
    if (memory_ == nullptr) return;
    stack_t present{};
    const bool is_ours = sigaltstack(nullptr, &present) == 0 && present.ss_sp == memory_;
    const stack_t none{nullptr, SS_DISABLE, 0};
    if (is_ours) sigaltstack(&none, nullptr);
    munmap(memory_, kSize);
  }
  HandlerStack(const HandlerStack&) = delete;
  HandlerStack& operator=(const HandlerStack&) = delete;

 private:
  static constexpr std::size_t kSize = 64 << 10;
  void* memory_ = nullptr;
};

}  // namespace

const char* plugin_at(const void* address) noexcept {
  return library_at(reinterpret_cast<std::uintptr_t>(address));
}

const char* plugin_around(const void* signal_context) noexcept {
  return library_around(place_of(signal_context));
}

void note_copy() noexcept {
  const PluginFunction* call = running_call;
  if (call != nullptr && *call->library != '\0') is_plugins_copy.store(true, std::memory_order_relaxed);
  else program.store(getpid(), std::memory_order_relaxed);
}

bool is_forked_copy() noexcept { return getpid() != program.load(std::memory_order_relaxed); }

void say_ended(const char* what, const void* caller) noexcept {
  const char* const library = plugin_at(caller);
  if (library == nullptr || is_forked_copy() || said.test_and_set()) return;
  const PluginFunction* call = running_call;
  if (call != nullptr) say_running(what, *call, library);
  else say_thread(what, library);
}

constinit std::atomic<bool> is_plugins_copy{false};

void end_copy(const PluginFunction& call) noexcept {
  Line line;
  line << "drystone: " << call.name;
  if (!call.node.empty()) line << " of node '" << call.node << "' (op " << call.op << ")";
  name_library(line, call.library);
  line << " has forked, and returned in the child, which ends: the program must not go on twice";
  advise(line, call.library);
  line.write();
  _exit(1);
}

std::atomic<bool> has_crash_handlers{false};

void install_crash_handlers() {
  static const bool done = [] {
    for (std::size_t k = 0; k < kFatal.size(); ++k) {
      struct sigaction ours{};
      ours.sa_sigaction = on_fatal;
      ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
      sigemptyset(&ours.sa_mask);
      sigaction(kFatal[k].number, &ours, &before_us[k]);
    }
    program = getpid();
    std::atexit(on_exit);
    std::at_quick_exit(on_exit);
    pthread_atfork(nullptr, nullptr, on_fork);
    has_crash_handlers = true;
    return true;
  }();
  static_cast<void>(done);
}

void remember_code_of(const std::string& library, const std::vector<Mapped>& before) {
  const auto is_new = [&](const Mapped& file) {
    return std::none_of(before.begin(), before.end(),
                        [&](const Mapped& old) { return old.dynamic == file.dynamic; });
  };
  const char* name = nullptr;  // for as long as the process lives
  for (const Mapped& file : mapped_files()) {
    if (file.code_end == 0 || !is_new(file)) continue;
    if (name == nullptr) name = strdup(library.c_str());
    if (name != nullptr) add_code({file.code_begin, file.code_end, name});
  }
}

void give_signal_stack() noexcept {
  static thread_local HandlerStack stack;
  static_cast<void>(stack);
}

}  // namespace drystone::host

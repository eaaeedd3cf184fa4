// TF_Log and its kin: see drystone/logging.h.
#include "drystone/logging.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include "core/printable.h"
#include "drystone_host/core.h"
#include "library/of_programs.h"

namespace {

struct Sink {
  std::recursive_mutex mutex;  // a sink may set another one
  DS_LogSink function = nullptr;
  void* context = nullptr;
};

Sink& sink() {
  static auto* one = new Sink();  // never destroyed: plugins log during exit
  return *one;
}

int from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? otherwise : static_cast<int>(std::strtol(text, nullptr, 10));
}

std::string formatted(const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (size <= 0) return {};
  std::string text(static_cast<std::size_t>(size) + 1, '\0');
  std::vsnprintf(text.data(), text.size(), format, arguments);
  text.resize(static_cast<std::size_t>(size));
  return text;
}

thread_local bool is_delivering = false;

// Marks that a sink runs on this thread.
struct Delivery {
  Delivery() { is_delivering = true; }
  ~Delivery() { is_delivering = false; }
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;
};

// The lock is held during the call: a sink that was taken away is not running any more. What a sink
// itself logs goes to standard error.
void deliver(int level, const char* label, const std::string& text) {
  const std::lock_guard lock(sink().mutex);
  if (sink().function != nullptr && !is_delivering) {
    const Delivery marked;
    sink().function(sink().context, level, text.c_str());
  } else {
    // Plugins log what files and servers say.
    std::fprintf(stderr, "%s: %s\n", label, drystone::host::printable(text).c_str());
  }
}

void log_at(TF_LogLevel level, const char* format, va_list arguments) noexcept {
  static const int lowest = from_environment("TF_CPP_MIN_LOG_LEVEL", TF_WARNING);
  static constexpr const char* kLabels[] = {"info", "warning", "error", "fatal"};
  const int number = level < TF_INFO ? 0 : level > TF_FATAL ? 3 : static_cast<int>(level);
  if (format == nullptr || number < lowest) return;
  try {
    deliver(number, kLabels[number], formatted(format, arguments));
  } catch (...) {
    return;  // a message that cannot be formatted is lost, nothing else
  }
}

void log_verbose(int level, const char* format, va_list arguments) noexcept {
  static const int highest = from_environment("TF_CPP_MAX_VLOG_LEVEL", 0);
  if (format == nullptr || level > highest || level < 1) return;
  try {
    deliver(-1 - level, "verbose", formatted(format, arguments));
  } catch (...) {
    return;
  }
}

}  // namespace

extern "C" {

void TF_Log(TF_LogLevel level, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  log_at(level, format, arguments);
  va_end(arguments);
}

void TF_VLog(int level, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  log_verbose(level, format, arguments);
  va_end(arguments);
}

void TF_DVLog([[maybe_unused]] int level, [[maybe_unused]] const char* format, ...) {
#ifndef NDEBUG
  va_list arguments;
  va_start(arguments, format);
  log_verbose(level, format, arguments);
  va_end(arguments);
#endif
}

void DS_SetLogSink(DS_LogSink function, void* context) {
  if (drystone::host::is_refused("DS_SetLogSink", __builtin_return_address(0))) return;
  const std::lock_guard lock(sink().mutex);
  sink().function = function;
  sink().context = context;
}

const char* DS_HostVersion(void) { return DRYSTONE_HOST_VERSION; }

}  // extern "C"

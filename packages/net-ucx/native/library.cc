#include "library.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <filesystem>
#include <mutex>
#include <vector>

#include "failure.h"

namespace drystone::ucx {
namespace {

// What UCX sets up for signals as it is opened is taken back, by itself: those are the program's, whose handlers
// UCX has kept.
void leave_signals(void* handle) {
  using Leave = void (*)();
  if (const auto leave = reinterpret_cast<Leave>(::dlsym(handle, "ucs_debug_disable_signals"))) leave();
}

// What fails is told by statuses; who sets UCX_LOG_LEVEL wants to read more.
void be_quiet(void* handle) {
  if (::getenv("UCX_LOG_LEVEL") != nullptr) return;
  using Set = ucs_status_t (*)(const char*, const char*);
  if (const auto set = reinterpret_cast<Set>(::dlsym(handle, "ucs_global_opts_set_value"))) set("LOG_LEVEL", "fatal");
}

// Beside site-packages/drystone-plugins, where this library is: site-packages/libucx.
std::string of_the_wheel() {
  Dl_info here{};
  if (::dladdr(reinterpret_cast<void*>(&ucx), &here) == 0 || here.dli_fname == nullptr) return "";
  std::error_code unknown;
  const auto own = std::filesystem::canonical(here.dli_fname, unknown);
  return (own.parent_path().parent_path() / "libucx" / "lib" / "libucp.so.0").string();
}

std::vector<std::string> places() {
  if (const char* given = ::getenv("DRYSTONE_UCX_LIBRARY"); given != nullptr && *given != '\0') return {given};
  std::vector<std::string> out{"libucp.so.0"};
  if (std::string wheel = of_the_wheel(); !wheel.empty()) out.push_back(std::move(wheel));
  return out;
}

template <class F>
void find(void* handle, const char* name, F* out) {
  *out = reinterpret_cast<F>(::dlsym(handle, name));
  if (*out == nullptr) fail(TF_NOT_FOUND, std::string("this UCX is too old: it has no ") + name);
}

Ucx open_any() {
  std::string said;
  Ucx out{};
  for (const std::string& place : places()) {
    out.handle = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (out.handle != nullptr) break;
    said += (said.empty() ? "" : "; ") + std::string(::dlerror());
  }
  if (out.handle == nullptr) fail(TF_NOT_FOUND, "there is no UCX: " + said);
  leave_signals(out.handle);
#define FIND(name) find(out.handle, "ucp_" #name, &out.name)
  FIND(init_version);
  FIND(cleanup);
  FIND(config_read);
  FIND(config_modify);
  FIND(config_release);
  FIND(worker_create);
  FIND(worker_destroy);
  FIND(worker_get_address);
  FIND(worker_release_address);
  FIND(worker_get_efd);
  FIND(worker_arm);
  FIND(worker_progress);
  FIND(worker_set_am_recv_handler);
  FIND(ep_create);
  FIND(ep_close_nbx);
  FIND(ep_flush_nbx);
  FIND(am_send_nbx);
  FIND(am_recv_data_nbx);
  FIND(am_data_release);
  FIND(request_free);
  FIND(request_check_status);
  FIND(get_version_string);
#undef FIND
  find(out.handle, "ucs_status_string", &out.status_string);
  be_quiet(out.handle);
  Dl_info found{};
  if (::dladdr(reinterpret_cast<void*>(out.init_version), &found) != 0) out.path = found.dli_fname;
  return out;
}

}  // namespace

const Ucx& ucx() {
  static const Ucx found = open_any();  // one that failed is tried again
  return found;
}

}  // namespace drystone::ucx

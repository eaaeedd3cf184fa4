// Reading back what the dynamic linker bound: see library/binding.h.
//
// With TensorFlow in the same process a plugin may hold pointers into TensorFlow: because TensorFlow
// has opened the same plugin before, or because the plugin opened a part of itself that needs
// TensorFlow's libraries by name. Calling it would then register with TensorFlow, not with us.
#include "library/binding.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/failure.h"
#include "library/bound_symbols.h"

namespace drystone::host {
namespace {

link_map* map_of(const void* address) noexcept {
  Dl_info info;
  link_map* map = nullptr;
  const int found = dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP);
  return found == 0 ? nullptr : map;
}

bool is_of_interface(const char* name) {
  return std::strncmp(name, "TF_", 3) == 0 || std::strncmp(name, "TP_", 3) == 0 ||
         std::strncmp(name, "SE_", 3) == 0 || std::strncmp(name, "DS_", 3) == 0;
}

// The map of the file that this code is in.
link_map* host_map() noexcept {
  static link_map* map = map_of(reinterpret_cast<const void*>(&is_in_host));
  return map;
}

bool is_code_of(const Mapped& file, const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return file.code_begin <= at && at < file.code_end;
}

// "SYMBOL bound to FILE" for the first symbol of the file that another library took, or "". What is
// bound to the host's code, as nearly all is, costs no search of the linker's tables.
std::string foreign_symbol(const Mapped& file, const Mapped& host) {
  for (const BoundSymbol& symbol : bound_symbols(file)) {
    if (!is_of_interface(symbol.name)) continue;
    const void* bound = *symbol.place;
    if (bound == nullptr || is_code_of(host, bound)) continue;
    const link_map* owner = map_of(bound);
    const bool elsewhere = owner != nullptr && owner->l_ld != file.dynamic && owner != host_map();
    if (elsewhere && dlsym(host_map(), symbol.name) != nullptr) {
      return std::string(symbol.name) + " bound to " + owner->l_name;
    }
  }
  return "";
}

int collect(dl_phdr_info* info, std::size_t, void* out) {
  Mapped file{info->dlpi_addr, nullptr, info->dlpi_name == nullptr ? "" : info->dlpi_name};
  for (int k = 0; k < info->dlpi_phnum; ++k) {
    const ElfW(Phdr)& part = info->dlpi_phdr[k];
    const std::uintptr_t at = info->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_GNU_RELRO) file.kept_begin = at, file.kept_end = at + part.p_memsz;
    if (part.p_type == PT_DYNAMIC) file.dynamic = reinterpret_cast<const ElfW(Dyn)*>(at);
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    file.code_begin = file.code_end == 0 ? at : std::min<std::uintptr_t>(file.code_begin, at);
    file.code_end = std::max<std::uintptr_t>(file.code_end, at + part.p_memsz);
  }
  if (file.dynamic != nullptr) static_cast<std::vector<Mapped>*>(out)->push_back(std::move(file));
  return 0;
}

}  // namespace

std::vector<Mapped> mapped_files() {
  std::vector<Mapped> out;
  dl_iterate_phdr(collect, &out);
  return out;
}

GlobalNames::GlobalNames() : before_(found()) {}

void GlobalNames::report(std::vector<std::string>* out) const {
  for (const auto& [family, file] : found()) {
    if (before_.contains(family)) continue;
    out->push_back(family + " of " + file + " became global: libraries that are opened later may be " +
                   "tied to them instead of their own");
  }
}

std::map<std::string, std::string> GlobalNames::found() {
  struct Family {
    const char* names;
    std::vector<const char*> samples;
  };
  static const auto* families = new std::vector<Family>{
      {"dnnl_*", {"dnnl_version", "dnnl_primitive_create", "dnnl_engine_create"}},
      {"GOMP_*", {"GOMP_parallel", "GOMP_barrier", "GOMP_critical_start"}},
      {"omp_*", {"omp_get_max_threads", "omp_get_thread_num", "omp_set_num_threads"}},
      {"__kmpc_*", {"__kmpc_fork_call", "__kmpc_barrier"}},
      {"cblas_*", {"cblas_sgemm", "cblas_dgemm"}},
      {"TF_*", {"TF_NewStatus", "TF_NewTensor", "TF_AllocateTensor"}},
      {"protobuf's functions", {"_ZN6google8protobuf8internal13VerifyVersionEiiPKc"}},
      {"malloc and free", {"malloc", "free"}},
  };
  static const link_map* libc = map_of(dlsym(RTLD_NEXT, "gnu_get_libc_version"));
  std::map<std::string, std::string> out;
  for (const Family& family : *families) {
    for (const char* name : family.samples) {
      const void* found = dlsym(RTLD_DEFAULT, name);
      const link_map* owner = found == nullptr || is_in_host(found) ? nullptr : map_of(found);
      if (owner == nullptr || owner == libc) continue;
      out.emplace(family.names, owner->l_name);
    }
  }
  return out;
}

bool is_in_host(const void* address) noexcept {
  return map_of(address) == host_map();
}

void require_bound_to_host(void* handle, const std::vector<Mapped>& before) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0 || host_map() == nullptr) return;
  const std::vector<Mapped> now = mapped_files();
  Mapped host{};
  for (const Mapped& file : now) {
    if (file.dynamic == host_map()->l_ld) host = file;
  }
  const auto known = [&](const Mapped& file) {
    const auto same = [&](const Mapped& old) { return old.dynamic == file.dynamic; };
    return std::any_of(before.begin(), before.end(), same);
  };
  for (const Mapped& file : now) {
    if (file.dynamic != map->l_ld && known(file)) continue;
    const std::string found = foreign_symbol(file, host);
    if (!found.empty()) {
      fail(TF_FAILED_PRECONDITION, file.name + " is tied to another library than the host: " + found,
           {{DS_PAYLOAD_CODE, "plugin-bound-elsewhere"}, {DS_PAYLOAD_LIBRARY, file.name}});
    }
  }
}

}  // namespace drystone::host

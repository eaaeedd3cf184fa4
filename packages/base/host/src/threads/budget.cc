// Cores and quotas: see threads/budget.h.
#include "threads/budget.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace drystone::host {
namespace {

int cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::clamp(CPU_COUNT(&set), 1, kMostThreads);
  return 1;
}

// Cores' worth of time; 0 for no limit.
int rounded(double quota, double period) {
  if (quota <= 0 || period <= 0) return 0;
  const double whole = quota / period;
  const auto down = static_cast<int>(std::min<double>(whole, kMostThreads));
  return whole > down + 0.001 ? down + 1 : std::max(down, 1);
}

int quota_v2(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max") return 0;
  return rounded(std::strtod(quota.c_str(), nullptr), period);
}

int quota_v1(const std::string& folder) {
  double quota = 0;
  double period = 0;
  std::ifstream first(folder + "/cpu.cfs_quota_us");
  std::ifstream second(folder + "/cpu.cfs_period_us");
  if (!(first >> quota) || !(second >> period)) return 0;
  return rounded(quota, period);
}

int smaller(int a, int b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

// Of the group and all above it, up to `top`. A container may see its own group as the top one.
int quota_above(const std::string& top, std::string group, int (*quota)(const std::string&)) {
  int out = 0;
  while (true) {
    out = smaller(out, quota(top + group));
    const std::size_t slash = group.rfind('/');
    if (slash == std::string::npos) return out;
    group.resize(slash);
  }
}

bool names(const std::string& controllers, const std::string& wanted) {
  std::istringstream all(controllers);
  for (std::string each; std::getline(all, each, ',');) {
    if (each == wanted) return true;
  }
  return false;
}

}  // namespace

int quota_of_groups(const std::string& root) {
  std::ifstream groups(root + "/proc/self/cgroup");
  int out = 0;
  for (std::string line; std::getline(groups, line);) {  // "4:cpu,cpuacct:/a/b", or "0::/a/b"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    const std::string top = root + "/sys/fs/cgroup";
    if (controllers.empty()) {
      out = smaller(out, quota_above(top, group, quota_v2));
      out = smaller(out, quota_above(top + "/unified", group, quota_v2));
    } else if (names(controllers, "cpu")) {
      out = smaller(out, quota_above(top + "/cpu", group, quota_v1));
      out = smaller(out, quota_above(top + "/" + controllers, group, quota_v1));
    }
  }
  return out;
}

int default_threads() {
  if (const char* text = std::getenv("DRYSTONE_NUM_THREADS")) {
    const long wanted = std::strtol(text, nullptr, 10);
    if (wanted > 0) return static_cast<int>(std::min<long>(wanted, kMostThreads));
  }
  return smaller(cores(), quota_of_groups(""));
}

}  // namespace drystone::host

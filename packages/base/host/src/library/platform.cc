// Platform strings compared with this machine: see library/platform.h.
#include "library/platform.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "core/failure.h"
#include "drystone/version.h"
#include "library/contents.h"

namespace drystone::host {
namespace {

struct Pair {
  std::string_view from;
  std::string_view to;
};

#include "library/platform_tables.inc"

using Words = std::set<std::string, std::less<>>;
using Records = std::map<std::string, std::string, std::less<>>;

template <std::size_t N>
std::string_view look_up(const Pair (&table)[N], std::string_view key) {
  for (const Pair& pair : table) {
    if (pair.from == key) return pair.to;
  }
  return {};
}

// What a table makes of those of its keys that are recorded.
template <std::size_t N>
Words recorded(const Pair (&table)[N], const Records& records) {
  Words out;
  for (const Pair& pair : table) {
    if (records.contains(pair.from)) out.emplace(pair.to);
  }
  return out;
}

std::string joined(const Words& words, const char* between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
  return out.empty() ? "unknown" : out;
}

Words words_of(const std::string& line) {
  std::istringstream stream(line);
  Words out;
  for (std::string word; stream >> word;) out.insert(word);
  return out;
}

utsname this_system() {
  utsname out = {};
  if (uname(&out) != 0) fail(TF_INTERNAL, "the system does not say what it is");
  return out;
}

std::string this_machine() {
  std::string machine = this_system().machine;
  std::transform(machine.begin(), machine.end(), machine.begin(),
                 [](unsigned char one) { return static_cast<char>(std::tolower(one)); });
  const std::string_view ours = look_up(kOurs, machine);
  return ours.empty() ? machine : std::string(ours);
}

// POWER states its generation, which has all of the earlier ones.
void add_power(const std::string& value, Words* out) {
  constexpr std::string_view kName = "POWER";
  if (value.compare(0, kName.size(), kName) != 0) return;
  const int generation = std::atoi(value.c_str() + kName.size());
  for (int k = 7; k <= generation; ++k) out->insert("power" + std::to_string(k));
  if (value.find("altivec") != std::string::npos) out->insert("altivec");
}

// Features that every core has, as Linux spells them; empty where they cannot be found out.
Words processor_features() {
  std::ifstream file("/proc/cpuinfo");
  Words out, power;
  bool is_first = true;
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = line.substr(0, line.find_first_of(" \t:"));
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    const std::string value = begin == std::string::npos ? "" : line.substr(begin);
    if (key == "cpu") add_power(value, &power);
    if (key != "flags" && key != "Features") continue;
    const Words words = words_of(value);
    if (is_first) out = words;
    else std::erase_if(out, [&](const std::string& one) { return !words.contains(one); });
    is_first = false;
  }
  out.merge(power);
  return out;
}

void require_format(const std::string& path, const Records& records) {
  const std::string& version = records.at("TF_PLAT_STR_VERSION");
  if (version.substr(0, version.find('.')) == "1") return;
  fail(TF_FAILED_PRECONDITION, path + " has platform strings of an unknown format: " + version);
}

void require_system(const std::string& path, const Records& records) {
  const std::string system = this_system().sysname, machine = this_machine();
  const std::string order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "little" : "big";
  const Words systems = recorded(kSystems, records);
  Words machines = recorded(kMachines, records), orders;
  if (records.contains("__powerpc64__")) machines.erase("powerpc");
  if (records.contains("__BIG_ENDIAN__")) orders.insert("big");
  if (const auto stated = records.find("__BYTE_ORDER__"); stated != records.end()) {
    const std::string_view name = look_up(kOrders, stated->second);
    if (!name.empty()) orders.emplace(name);
  }
  const auto fits = [](const Words& has, const std::string& mine) {
    return has.empty() || has.contains(mine);
  };
  if (fits(systems, system) && fits(machines, machine) && fits(orders, order) &&
      !records.contains("__ANDROID__")) {
    return;
  }
  fail(TF_FAILED_PRECONDITION,
       path + " is built for another platform: " + joined(systems, " or ") + ", " +
           joined(machines, " or ") + ", " + joined(orders, " or ") + "-endian; this one is " +
           system + ", " + machine + ", " + order + "-endian");
}

void require_processor(const std::string& path, const Records& records) {
  const std::string machine = this_system().machine;
  std::map<std::string_view, std::string_view> needed;  // features, with the macro that says so
  for (const Pair& pair : kFeatures) {
    const auto record = records.find(pair.from);
    if (record != records.end() && record->second != "0") needed.emplace(pair.to, pair.from);
  }
  for (const Pair& pair : kAlways) {
    if (pair.from == machine) needed.erase(pair.to);
  }
  if (needed.empty()) return;
  const Words there = processor_features();
  Words missing;
  for (const auto& [feature, macro] : needed) {
    if (there.contains(feature)) continue;
    missing.insert(std::string(feature) + " (" + std::string(macro) + ")");
  }
  if (missing.empty()) return;
  fail(TF_FAILED_PRECONDITION,
       path + " needs a processor that this is not: " +
           (there.empty() ? "the features of this processor cannot be found out"
                          : "it lacks " + joined(missing, ", ")));
}

bool is_number(std::string_view text) {
  const auto digit = [](char one) { return one >= '0' && one <= '9'; };
  return !text.empty() && text.size() <= 6 && std::all_of(text.begin(), text.end(), digit);
}

void require_abi(const std::string& path, const Records& records) {
  const auto found = records.find("DRYSTONE_ABI_VERSION");
  if (found == records.end()) return;
  const std::string_view version = found->second;
  const std::size_t dot = version.find('.');
  const bool well_formed = dot != std::string_view::npos && is_number(version.substr(0, dot)) &&
                           is_number(version.substr(dot + 1));
  if (well_formed && std::stoi(std::string(version)) == DRYSTONE_ABI_VERSION_MAJOR) return;
  fail(TF_FAILED_PRECONDITION, path + " is built for plugin ABI " +
                                   (version.empty() ? "without a number" : std::string(version)) +
                                   ", this host has " DRYSTONE_ABI_VERSION_STRING);
}

}  // namespace

void require_platform(const std::string& path, std::string_view file) {
  RecordFinder finder;
  finder.take(file);
  Records records;
  for (const std::string& record : finder.finish()) {
    const std::size_t equals = record.find('=');
    const bool has_value = equals != std::string::npos;
    records.emplace(record.substr(0, equals), has_value ? record.substr(equals + 1) : "");
  }
  if (!records.contains("TF_PLAT_STR_VERSION")) return;
  require_format(path, records);
  require_system(path, records);
  require_processor(path, records);
  require_abi(path, records);
}

}  // namespace drystone::host

// A table from names to numbers, made for graphs: built once, no allocation per name.
//
// Since ABI 1.0. Internal to the SDK. The names are views and must outlive the table.
#ifndef DRYSTONE_SDK_NAME_INDEX_HPP_
#define DRYSTONE_SDK_NAME_INDEX_HPP_

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace drystone::sdk {

class NameIndex {
 public:
  // Make room for `count` names and forget those there were.
  void reset(std::size_t count) {
    std::size_t slots = 16;
    while (slots < count * 2) slots *= 2;
    slots_.assign(slots, Slot{});
    used_ = 0;
  }

  // Add a name; -1, or the number that the name already has.
  std::int32_t add(std::string_view name, std::int32_t number) {
    if ((used_ + 1) * 2 > slots_.size()) grow();
    const auto hash = static_cast<std::uint32_t>(std::hash<std::string_view>()(name));
    Slot& slot = slots_[position(name, hash)];
    if (slot.number >= 0) return slot.number;
    slot = {name, hash, number};
    ++used_;
    return -1;
  }

  // The number of a name; -1 when it is not there.
  std::int32_t find(std::string_view name) const {
    if (slots_.empty()) return -1;
    const auto hash = static_cast<std::uint32_t>(std::hash<std::string_view>()(name));
    return slots_[position(name, hash)].number;
  }

 private:
  struct Slot {
    std::string_view name;
    std::uint32_t hash = 0;
    std::int32_t number = -1;
  };

  std::size_t position(std::string_view name, std::uint32_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    while (slots_[at].number >= 0 && (slots_[at].hash != hash || slots_[at].name != name)) {
      at = (at + 1) & mask;
    }
    return at;
  }

  void grow() {
    std::vector<Slot> old;
    old.swap(slots_);
    reset(old.size());
    for (const Slot& slot : old) {
      if (slot.number < 0) continue;
      slots_[position(slot.name, slot.hash)] = slot;
      ++used_;
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace drystone::sdk

#endif  // DRYSTONE_SDK_NAME_INDEX_HPP_

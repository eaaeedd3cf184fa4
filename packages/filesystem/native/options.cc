// Options of a filesystem: see options.h.
#include "options.h"

#include <algorithm>

#include "errors.h"

namespace drystone::files {

// The options as the contract shows them. The interface does not say who frees what a caller is
// given, so it is not: a state is kept, and shown again for as long as it holds.
struct Options::Shown {
  std::vector<TF_Filesystem_Option> options;
  std::vector<TF_Filesystem_Option_Value> values;
  std::vector<TF_Filesystem_Option_Value_Union> numbers;

  explicit Shown(const std::vector<Option>& known)
      : options(known.size()), values(known.size()), numbers(known.size()) {
    for (std::size_t k = 0; k < known.size(); ++k) {
      values[k] = {TF_Filesystem_Option_Type_Int, 1, &numbers[k]};
      options[k] = {const_cast<char*>(known[k].name), const_cast<char*>(known[k].description), 0,
                    &values[k]};
    }
  }
};

Options::Options(std::vector<Option> known)
    : known_(std::move(known)),
      values_(std::make_unique<std::atomic<std::int64_t>[]>(known_.size())) {
  for (std::size_t k = 0; k < known_.size(); ++k) values_[k] = known_[k].value;
}

Options::~Options() = default;

std::size_t Options::index_of(const std::string& key) const {
  const auto found = std::find_if(known_.begin(), known_.end(),
                                  [&](const Option& one) { return key == one.name; });
  if (found == known_.end()) fail(TF_NOT_FOUND, "there is no option \"" + key + "\"");
  return static_cast<std::size_t>(found - known_.begin());
}

TF_Filesystem_Option* Options::all() {
  const std::lock_guard lock(mutex_);
  const auto holds = [&](const Shown& one) {
    for (std::size_t k = 0; k < known_.size(); ++k) {
      if (one.numbers[k].int_val != values_[k]) return false;
    }
    return true;
  };
  const auto same = std::find_if(shown_.begin(), shown_.end(), holds);
  if (same != shown_.end()) return same->options.data();
  shown_.emplace_back(known_);
  for (std::size_t k = 0; k < known_.size(); ++k) shown_.back().numbers[k].int_val = values_[k];
  return shown_.back().options.data();
}

TF_Filesystem_Option* Options::one(const std::string& key) { return all() + index_of(key); }

std::int64_t Options::checked(std::size_t index, const TF_Filesystem_Option& given) const {
  const Option& known = known_[index];
  const TF_Filesystem_Option_Value* value = given.value;
  const bool number = value != nullptr && value->type_tag == TF_Filesystem_Option_Type_Int &&
                      value->num_values == 1 && value->values != nullptr;
  if (number && value->values->int_val >= known.least && value->values->int_val <= known.most) {
    return value->values->int_val;
  }
  fail(TF_INVALID_ARGUMENT, std::string(known.name) + " must be one whole number from " +
                                std::to_string(known.least) + " to " + std::to_string(known.most));
}

void Options::set(const TF_Filesystem_Option* given, int count) {
  std::vector<std::pair<std::size_t, std::int64_t>> changes;
  for (int k = 0; k < count; ++k) {
    const std::size_t index = index_of(given[k].name == nullptr ? "" : given[k].name);
    changes.emplace_back(index, checked(index, given[k]));
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [index, value] : changes) values_[index] = value;
}

}  // namespace drystone::files

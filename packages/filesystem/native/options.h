// Options of a filesystem: numbers by name, as the configuration functions of the contract have them.
#ifndef DRYSTONE_FILES_OPTIONS_H_
#define DRYSTONE_FILES_OPTIONS_H_

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "drystone/filesystem.h"

namespace drystone::files {

// One that a filesystem has. Values are whole numbers between the two bounds.
struct Option {
  const char* name;
  const char* description;
  std::int64_t value;
  std::int64_t least;
  std::int64_t most;
};

class Options {
 public:
  explicit Options(std::vector<Option> known);
  ~Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  std::int64_t operator[](std::size_t index) const {
    return values_[index].load(std::memory_order_relaxed);
  }
  std::size_t size() const { return known_.size(); }
  const char* name(std::size_t index) const { return known_[index].name; }

  // All of them: they belong to this object and live as long.
  TF_Filesystem_Option* all();
  // One of those; fails with NOT_FOUND.
  TF_Filesystem_Option* one(const std::string& key);
  // Sets all or none; fails with NOT_FOUND, or INVALID_ARGUMENT for another type or number.
  void set(const TF_Filesystem_Option* given, int count);

 private:
  struct Shown;
  std::size_t index_of(const std::string& key) const;
  std::int64_t checked(std::size_t index, const TF_Filesystem_Option& given) const;

  const std::vector<Option> known_;
  std::unique_ptr<std::atomic<std::int64_t>[]> values_;
  std::mutex mutex_;
  std::list<Shown> shown_;  // each state that was asked for
};

}  // namespace drystone::files

#endif  // DRYSTONE_FILES_OPTIONS_H_

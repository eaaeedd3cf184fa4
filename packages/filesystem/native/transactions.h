// Transactions: files that are written in one show when it ends, all of them then.
//
// A path is part of a transaction when it, or a directory above it, was added. A file that is closed
// there is kept aside; reading, listing and deleting do not know transactions. The interface can end
// a transaction and cannot give one up, so the option kAbandon names one that is to be forgotten: it
// ends with nothing shown.
#ifndef DRYSTONE_FILES_TRANSACTIONS_H_
#define DRYSTONE_FILES_TRANSACTIONS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "drystone/filesystem.h"

namespace drystone::files {

// Name of the option that is set to a transaction's number (that of decode_transaction_token).
inline constexpr const char* kAbandon = "abandon_transaction";

// A file that is written and not shown; one that goes without `show` leaves no trace.
class Staged {
 public:
  virtual ~Staged() = default;
  virtual void show() = 0;
};

class Transactions {
 public:
  TF_TransactionToken* start(TF_Filesystem* owner);
  void end(TF_TransactionToken* token);
  void abandon(std::int64_t number);
  void add(const std::string& path, TF_TransactionToken* token);
  TF_TransactionToken* of_path(const std::string& path) const;  // fails with NOT_FOUND
  TF_TransactionToken* of_path_or_new(const std::string& path, TF_Filesystem* owner);
  std::string described(const TF_TransactionToken* token) const;

  // The number of the transaction that a path is part of; 0 for none.
  std::int64_t number_of(const std::string& path) const;
  // Keeps a file aside; shows it at once when the transaction has ended meanwhile.
  void stage(std::int64_t number, std::unique_ptr<Staged> file);

 private:
  struct One {
    std::unique_ptr<TF_TransactionToken> token;
    std::set<std::string> paths;
    std::vector<std::unique_ptr<Staged>> files;
  };
  std::map<std::int64_t, One>::iterator find(const TF_TransactionToken* token);
  One taken(std::map<std::int64_t, One>::iterator at);

  mutable std::mutex mutex_;
  std::int64_t last_ = 0;
  std::map<std::int64_t, One> open_;
};

}  // namespace drystone::files

#endif  // DRYSTONE_FILES_TRANSACTIONS_H_

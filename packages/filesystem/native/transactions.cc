// Transactions: see transactions.h.
#include "transactions.h"

#include <algorithm>
#include <utility>

#include "errors.h"

namespace drystone::files {
namespace {

bool covers(const std::string& added, const std::string& path) {
  if (path.compare(0, added.size(), added) != 0) return false;
  return path.size() == added.size() || added.back() == '/' || path[added.size()] == '/';
}

}  // namespace

// By the address alone: what it points to may be gone.
std::map<std::int64_t, Transactions::One>::iterator Transactions::find(
    const TF_TransactionToken* token) {
  const auto found = std::find_if(open_.begin(), open_.end(), [&](const auto& one) {
    return one.second.token.get() == token;
  });
  if (found == open_.end()) fail(TF_INVALID_ARGUMENT, "there is no such transaction");
  return found;
}

TF_TransactionToken* Transactions::start(TF_Filesystem* owner) {
  const std::lock_guard lock(mutex_);
  auto token = std::make_unique<TF_TransactionToken>();
  token->owner = owner;
  token->token = token.get();
  One& made = open_[++last_];
  made.token = std::move(token);
  return made.token.get();
}

Transactions::One Transactions::taken(std::map<std::int64_t, One>::iterator at) {
  One out = std::move(at->second);
  open_.erase(at);
  return out;
}

void Transactions::end(TF_TransactionToken* token) {
  One ended;
  {
    const std::lock_guard lock(mutex_);
    ended = taken(find(token));
  }
  std::exception_ptr first;
  for (const auto& file : ended.files) {
    try {
      file->show();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

void Transactions::abandon(std::int64_t number) {
  One gone;
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(number);
  if (found == open_.end()) fail(TF_NOT_FOUND, "there is no transaction " + std::to_string(number));
  gone = taken(found);
}

void Transactions::add(const std::string& path, TF_TransactionToken* token) {
  const std::lock_guard lock(mutex_);
  find(token)->second.paths.insert(path);
}

std::int64_t Transactions::number_of(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  std::pair<std::size_t, std::int64_t> nearest{0, 0};
  for (const auto& [number, one] : open_) {
    for (const auto& added : one.paths) {
      if (covers(added, path)) nearest = std::max(nearest, {added.size() + 1, number});
    }
  }
  return nearest.second;
}

TF_TransactionToken* Transactions::of_path(const std::string& path) const {
  const std::int64_t number = number_of(path);
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(number);
  if (found == open_.end()) fail(TF_NOT_FOUND, "the path is part of no transaction");
  return found->second.token.get();
}

TF_TransactionToken* Transactions::of_path_or_new(const std::string& path, TF_Filesystem* owner) {
  if (number_of(path) != 0) return of_path(path);
  TF_TransactionToken* token = start(owner);
  add(path, token);
  return token;
}

std::string Transactions::described(const TF_TransactionToken* token) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [number, one] : open_) {
    if (one.token.get() != token) continue;
    return "transaction " + std::to_string(number) + ": " + std::to_string(one.paths.size()) +
           " paths, " + std::to_string(one.files.size()) + " files kept aside";
  }
  return "no transaction";
}

void Transactions::stage(std::int64_t number, std::unique_ptr<Staged> file) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(number);
    if (found != open_.end()) {
      found->second.files.push_back(std::move(file));
      return;
    }
  }
  file->show();
}

}  // namespace drystone::files

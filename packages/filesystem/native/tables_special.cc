// Transactions and options behind the functions of the contract.
#include "tables_special.h"

#include <cstring>

#include "errors.h"
#include "tables.h"

namespace drystone::files {
namespace {

TF_Filesystem* owner(const TF_Filesystem* filesystem) {
  return const_cast<TF_Filesystem*>(filesystem);  // tokens name it, it is not changed
}

// The functions of transactions answer 0 for success, beside the status.
template <class Body>
int answered(TF_Status* status, Body&& body) {
  int answer = -1;
  guarded(status, [&] {
    std::forward<Body>(body)();
    answer = 0;
  });
  return answer;
}

int start_transaction(const TF_Filesystem* filesystem, TF_TransactionToken** token,
                      TF_Status* status) {
  return answered(status, [&] {
    *token = files_of(filesystem).transactions.start(owner(filesystem));
  });
}

int end_transaction(const TF_Filesystem* filesystem, TF_TransactionToken* token,
                    TF_Status* status) {
  return answered(status, [&] { files_of(filesystem).transactions.end(token); });
}

int add_to_transaction(const TF_Filesystem* filesystem, const char* path,
                       TF_TransactionToken* token, TF_Status* status) {
  return answered(status, [&] { files_of(filesystem).transactions.add(path, token); });
}

int get_transaction_for_path(const TF_Filesystem* filesystem, const char* path,
                             TF_TransactionToken** token, TF_Status* status) {
  return answered(status, [&] { *token = files_of(filesystem).transactions.of_path(path); });
}

int get_or_start_transaction_for_path(const TF_Filesystem* filesystem, const char* path,
                                      TF_TransactionToken** token, TF_Status* status) {
  return answered(status, [&] {
    *token = files_of(filesystem).transactions.of_path_or_new(path, owner(filesystem));
  });
}

char* decode_transaction_token(const TF_Filesystem* filesystem, const TF_TransactionToken* token) {
  try {
    return copied(files_of(filesystem).transactions.described(token));
  } catch (...) {
    return nullptr;  // no memory
  }
}

void get_configuration(const TF_Filesystem* filesystem, TF_Filesystem_Option** options, int* count,
                       TF_Status* status) {
  guarded(status, [&] {
    *options = files_of(filesystem).options.all();
    *count = static_cast<int>(files_of(filesystem).options.size());
  });
}

// The option that ends a transaction with nothing shown acts at once, when all were taken.
void set_configuration(const TF_Filesystem* filesystem, const TF_Filesystem_Option* options,
                       int count, TF_Status* status) {
  guarded(status, [&] {
    Files& files = files_of(filesystem);
    files.options.set(options, count);
    for (int k = 0; k < count; ++k) {
      if (std::strcmp(options[k].name, kAbandon) != 0) continue;
      files.transactions.abandon(options[k].value->values->int_val);
    }
  });
}

void get_option(const TF_Filesystem* filesystem, const char* key, TF_Filesystem_Option** option,
                TF_Status* status) {
  guarded(status, [&] { *option = files_of(filesystem).options.one(key); });
}

void set_option(const TF_Filesystem* filesystem, const TF_Filesystem_Option* option,
                TF_Status* status) {
  set_configuration(filesystem, option, 1, status);
}

void get_keys(const TF_Filesystem* filesystem, char** keys, int* count, TF_Status* status) {
  guarded(status, [&] {
    const Options& options = files_of(filesystem).options;
    std::string block;
    for (std::size_t k = 0; k < options.size(); ++k) block.append(options.name(k)).push_back('\0');
    *keys = copied(block);
    *count = static_cast<int>(options.size());
  });
}

}  // namespace

void fill_transactions(TF_FilesystemOps* ops) {
  ops->start_transaction = start_transaction;
  ops->end_transaction = end_transaction;
  ops->add_to_transaction = add_to_transaction;
  ops->get_transaction_for_path = get_transaction_for_path;
  ops->get_or_start_transaction_for_path = get_or_start_transaction_for_path;
  ops->decode_transaction_token = decode_transaction_token;
}

void fill_options(TF_FilesystemOps* ops) {
  ops->get_filesystem_configuration = get_configuration;
  ops->set_filesystem_configuration = set_configuration;
  ops->get_filesystem_configuration_option = get_option;
  ops->set_filesystem_configuration_option = set_option;
  ops->get_filesystem_configuration_keys = get_keys;
}

}  // namespace drystone::files

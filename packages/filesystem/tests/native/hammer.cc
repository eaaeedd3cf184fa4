// The library's tables from many threads, and with paths that nobody meant; for sanitizers.
//
// hammer FOLDER SECONDS: a program of the library's sources and this file, without the host: the few
// functions of the host that the library calls are here. Ends with 0 when every answer was possible.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "drystone/filesystem.h"

struct TF_Status {
  TF_Code code = TF_OK;
  std::string text;
};

extern "C" {
TF_Status* TF_NewStatus(void) { return new TF_Status(); }
void TF_DeleteStatus(TF_Status* status) { delete status; }
void TF_SetStatus(TF_Status* status, TF_Code code, const char* text) { *status = {code, text}; }
TF_Code TF_GetCode(const TF_Status* status) { return status->code; }
void TF_SetStatusFromIOError(TF_Status* status, int number, const char* context) {
  *status = {TF_UNKNOWN, std::string(context) + "; " + std::strerror(number)};
}
}

namespace {

std::atomic<int> wrong{0};

void expect(bool holds, const char* what, const std::string& about) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s: %s\n", what, about.c_str());
  ++wrong;
}

struct Scheme {
  TF_FilesystemOps ops;
  TF_RandomAccessFileOps readable;
  TF_WritableFileOps writable;
  TF_ReadOnlyMemoryRegionOps region;
  TF_Filesystem filesystem;
  std::string base;
};

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t count) { return random() % count; }

std::string translated(const Scheme& scheme, const std::string& uri) {
  char* text = scheme.ops.translate_name(&scheme.filesystem, uri.c_str());
  std::string out = text == nullptr ? "" : text;
  std::free(text);
  return out;
}

// Writes a file of one byte over and over, in pieces.
void write(const Scheme& scheme, const std::string& path, Random& random, bool append) {
  TF_Status status;
  TF_WritableFile file{};
  const auto open = append ? scheme.ops.new_appendable_file : scheme.ops.new_writable_file;
  open(&scheme.filesystem, path.c_str(), &file, &status);
  if (status.code != TF_OK) return;
  const std::string piece(1 + below(random, 5000), 'x');
  for (std::size_t k = below(random, 6); k > 0; --k) {
    scheme.writable.append(&file, piece.data(), piece.size(), &status);
    if (below(random, 4) == 0) scheme.writable.flush(&file, &status);
    expect(scheme.writable.tell(&file, &status) >= 0, "tell", path);
  }
  if (below(random, 8) != 0) scheme.writable.close(&file, &status);
  scheme.writable.cleanup(&file);
}

void all_the_same(const char* data, std::size_t size, const std::string& path) {
  for (std::size_t k = 0; k < size; ++k) {
    if (data[k] != 'x') return expect(false, "another byte than was written", path);
  }
}

void read(const Scheme& scheme, const std::string& path) {
  TF_Status status;
  TF_RandomAccessFile file{};
  scheme.ops.new_random_access_file(&scheme.filesystem, path.c_str(), &file, &status);
  if (status.code != TF_OK) return;
  std::string room(40000, '\0');
  const int64_t got = scheme.readable.read(&file, 0, room.size(), room.data(), &status);
  expect(got >= 0, "read", path);
  all_the_same(room.data(), static_cast<std::size_t>(got), path);
  scheme.readable.cleanup(&file);
}

// Not for files that others may cut shorter meanwhile: a mapping of those has an end that moves.
void map(const Scheme& scheme, const std::string& path) {
  TF_Status status;
  TF_ReadOnlyMemoryRegion region{};
  scheme.ops.new_read_only_memory_region_from_file(&scheme.filesystem, path.c_str(), &region,
                                                   &status);
  if (status.code != TF_OK) return;
  all_the_same(static_cast<const char*>(scheme.region.data(&region)),
               scheme.region.length(&region), path);
  scheme.region.cleanup(&region);
}

template <class Call>
void listed(Call&& call) {
  char** entries = nullptr;
  const int count = std::forward<Call>(call)(&entries);
  for (int k = 0; k < count; ++k) std::free(entries[k]);
  if (count >= 0) std::free(static_cast<void*>(entries));
}

void transact(const Scheme& scheme, const std::string& path, Random& random) {
  TF_Status status;
  TF_TransactionToken* token = nullptr;
  if (scheme.ops.start_transaction(&scheme.filesystem, &token, &status) != 0) return;
  scheme.ops.add_to_transaction(&scheme.filesystem, path.c_str(), token, &status);
  write(scheme, path, random, false);
  std::free(scheme.ops.decode_transaction_token(&scheme.filesystem, token));
  status = {};
  const int answer = scheme.ops.end_transaction(&scheme.filesystem, token, &status);
  expect((answer == 0) == (status.code == TF_OK), "end_transaction", path);
}

// One call on one path, or two paths.
void one_call(const Scheme& scheme, const std::string& path, const std::string& other,
              Random& random, bool mapped) {
  TF_Status status;
  const TF_Filesystem* at = &scheme.filesystem;
  TF_FileStatistics found{};
  uint64_t files = 0;
  uint64_t directories = 0;
  switch (below(random, 16)) {
    case 0: return write(scheme, path, random, true);
    case 1: return scheme.ops.delete_file(at, path.c_str(), &status);
    case 2: return scheme.ops.create_dir(at, path.c_str(), &status);
    case 3: return scheme.ops.recursively_create_dir(at, path.c_str(), &status);
    case 4: return scheme.ops.delete_dir(at, path.c_str(), &status);
    case 5: return scheme.ops.rename_file(at, path.c_str(), other.c_str(), &status);
    case 6: return scheme.ops.copy_file(at, path.c_str(), other.c_str(), &status);
    case 7: return scheme.ops.stat(at, path.c_str(), &found, &status);
    case 8: return listed([&](char*** entries) {
      return scheme.ops.get_children(at, path.c_str(), entries, &status);
    });
    case 9: return transact(scheme, path, random);
    case 10: if (below(random, 20) != 0) return;
      return scheme.ops.delete_recursively(at, path.c_str(), &files, &directories, &status);
    case 11: static_cast<void>(scheme.ops.is_directory(at, path.c_str(), &status)); return;
    case 12: if (mapped) map(scheme, path);
      return;
    case 13: return read(scheme, path);
    default: return write(scheme, path, random, false);
  }
}

void hammer(const Scheme& scheme, unsigned seed, double seconds, bool mapped) {
  Random random(seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  const std::vector<std::string> names{"a", "b", "d", "d/a", "d/b", "d/e/a", "d/e", "f\xff"};
  while (std::chrono::steady_clock::now() < end) {
    const std::string path = scheme.base + "/" + names[below(random, names.size())];
    const std::string other = scheme.base + "/" + names[below(random, names.size())];
    one_call(scheme, path, other, random, mapped);
  }
}

std::string any_bytes(Random& random) {
  static const std::string likely = "/.*?[]\\-!^:ab\xff\xc3\xa9";
  std::string out;
  for (std::size_t k = below(random, 30); k > 0; --k) {
    out += below(random, 4) == 0 ? static_cast<char>(1 + below(random, 255))
                                 : likely[below(random, likely.size())];
  }
  return out;
}

// Only on files in memory: a path of any bytes may be any path of the system.
void fuzz(const Scheme& scheme, unsigned seed, double seconds) {
  Random random(seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
    const std::string uri = (below(random, 2) == 0 ? "ram://" : "") + any_bytes(random);
    const std::string path = translated(scheme, uri);
    expect(!path.empty() && path[0] == '/', "translate_name", uri);
    expect(path.find("/../") == std::string::npos && path.find("//") == std::string::npos,
           "a path is clean", uri);
    listed([&](char*** entries) {
      TF_Status status;
      return scheme.ops.get_matching_paths(&scheme.filesystem, uri.c_str(), entries, &status);
    });
    one_call(scheme, path, translated(scheme, any_bytes(random)), random, true);
  }
}

std::vector<Scheme> schemes(const std::string& folder) {
  TF_FilesystemPluginInfo info{};
  TF_InitPlugin(&info);
  std::vector<Scheme> out;
  for (std::size_t k = 0; k < info.num_schemes; ++k) {
    TF_FilesystemPluginOps& offered = info.ops[k];
    const std::string name = offered.scheme;
    Scheme one{*offered.filesystem_ops, *offered.random_access_file_ops,
               *offered.writable_file_ops, *offered.read_only_memory_region_ops, {}, {}};
    TF_Status status;
    one.ops.init(&one.filesystem, &status);
    expect(status.code == TF_OK, "init", name);
    one.base = translated(one, name == "ram" ? "ram://hammer" : name + "://" + folder);
    out.push_back(one);
    for (void* piece : {static_cast<void*>(offered.scheme),
                        static_cast<void*>(offered.filesystem_ops),
                        static_cast<void*>(offered.random_access_file_ops),
                        static_cast<void*>(offered.writable_file_ops),
                        static_cast<void*>(offered.read_only_memory_region_ops)}) {
      info.plugin_memory_free(piece);
    }
  }
  info.plugin_memory_free(info.ops);
  return out;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const double seconds = std::atof(arguments[2]) / 2;
  std::vector<Scheme> all = schemes(arguments[1]);
  for (const Scheme& scheme : all) {
    const bool in_memory = scheme.base == "/hammer";
    std::vector<std::thread> threads;
    for (unsigned k = 0; k < 6; ++k) {
      threads.emplace_back([&scheme, k, seconds, in_memory] {
        hammer(scheme, k, seconds, in_memory);
      });
    }
    if (in_memory) threads.emplace_back([&scheme, seconds] { fuzz(scheme, 7, seconds); });
    for (auto& thread : threads) thread.join();
  }
  for (Scheme& scheme : all) scheme.ops.cleanup(&scheme.filesystem);
  std::printf("%d schemes, %d wrong answers\n", static_cast<int>(all.size()), wrong.load());
  return wrong == 0 ? 0 : 1;
}

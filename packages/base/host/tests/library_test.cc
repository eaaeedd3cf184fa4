// Loading libraries, as a C++ program does it. Built with sanitizers.
//
// Arguments: a library with one op, one whose entry function throws, a folder for damaged files.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "checking.h"
#include "drystone/registry.h"
#include "drystone_host/library.h"
#include "library/contents.h"
#include "library/elf_image.h"
#include "library/inspect.h"
#include "library/sha256.h"

namespace {

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

bool says(TF_Status* status, TF_Code code, const char* text) {
  const bool fits = TF_GetCode(status) == code && std::strstr(TF_Message(status), text) != nullptr;
  if (!fits) std::fprintf(stderr, "found: %d %s\n", TF_GetCode(status), TF_Message(status));
  return fits;
}

std::string described(DS_Library* library) {
  TF_Status* s = TF_NewStatus();
  TF_Buffer* json = TF_NewBuffer();
  DS_DescribeLibrary(library, json, s);
  CHECK(TF_GetCode(s) == TF_OK);
  const std::string out(static_cast<const char*>(json->data), json->length);
  DS_DescribeLibrary(library, json, s);
  CHECK(says(s, TF_INVALID_ARGUMENT, "the output buffer holds data already"));
  TF_DeleteBuffer(json);
  TF_DeleteStatus(s);
  return out;
}

void test_null_arguments() {
  TF_Status* s = TF_NewStatus();
  CHECK(DS_OpenLibrary(nullptr, s) == nullptr && says(s, TF_INVALID_ARGUMENT, "path"));
  CHECK(DS_OpenLibrary("", s) == nullptr && says(s, TF_INVALID_ARGUMENT, "empty"));
  CHECK(DS_OpenLibrary("/x", nullptr) == nullptr);
  DS_InspectFile(nullptr, nullptr, s);
  CHECK(says(s, TF_INVALID_ARGUMENT, "path must not be NULL"));
  DS_InspectFile("/bin/sh", nullptr, s);
  CHECK(TF_GetCode(s) == TF_INVALID_ARGUMENT || TF_GetCode(s) == TF_UNIMPLEMENTED);
  CHECK(DS_LibraryEntries(nullptr, nullptr, 5) == 0);
  CHECK(DS_LibrarySymbol(nullptr, nullptr) == nullptr);
  DS_InitLibrary(nullptr, nullptr, s);
  CHECK(says(s, TF_INVALID_ARGUMENT, "library must not be NULL"));
  DS_DescribeLibrary(nullptr, nullptr, s);
  CHECK(says(s, TF_INVALID_ARGUMENT, "library must not be NULL"));
  DS_ListEntries(nullptr, s);
  CHECK(TF_GetCode(s) == TF_INVALID_ARGUMENT);
  DS_ListAliases(nullptr, s);
  CHECK(TF_GetCode(s) == TF_INVALID_ARGUMENT);
  CHECK(TF_LoadLibrary(nullptr, s) == nullptr && TF_GetCode(s) == TF_INVALID_ARGUMENT);
  CHECK(TF_LoadPluggableDeviceLibrary("/nowhere.so", s) == nullptr);
  CHECK(TF_GetCode(s) == TF_NOT_FOUND);
  CHECK(TF_GetOpList(nullptr).length == 0);
  TF_DeleteLibraryHandle(nullptr);
  TF_DeletePluggableDeviceLibraryHandle(nullptr);
  TF_DeleteStatus(s);
}

void test_one_library(const char* path) {
  TF_Status* s = TF_NewStatus();
  DS_Library* library = DS_OpenLibrary(path, s);
  CHECK(library != nullptr && TF_GetCode(s) == TF_OK);
  const char* symbols[1] = {nullptr};
  CHECK(DS_LibraryEntries(library, symbols, 1) == 1);
  CHECK(std::strcmp(symbols[0], "TF_InitKernel") == 0);
  CHECK(DS_LibraryEntries(library, nullptr, 1) == 1);
  CHECK(DS_LibraryEntries(library, symbols, -1) == 1);
  CHECK(described(library).find("\"state\":\"new\"") != std::string::npos);
  DS_InitLibrary(library, "TF_InitKernel", s);
  CHECK(TF_GetCode(s) == TF_OK);
  CHECK(described(library).find("\"ops\":[\"FromCpp\"]") != std::string::npos);
  TF_Library* handle = TF_LoadLibrary(path, s);
  CHECK(handle != nullptr && TF_GetOpList(handle).length > 0);
  TF_DeleteLibraryHandle(handle);
  DS_InitLibrary(library, "TF_InitGraph", s);
  CHECK(says(s, TF_NOT_FOUND, "does not export TF_InitGraph"));
  CHECK(DS_LibrarySymbol(library, "TF_InitKernel") != nullptr);
  CHECK(DS_LibrarySymbol(library, nullptr) == nullptr);
  TF_DeleteStatus(s);
}

void test_threads(const char* path) {
  std::vector<std::thread> threads;
  std::vector<DS_Library*> found(8);
  for (std::size_t k = 0; k < found.size(); ++k) {
    threads.emplace_back([&found, k, path] {
      TF_Status* s = TF_NewStatus();
      found[k] = DS_OpenLibrary(path, s);
      DS_InitLibrary(found[k], "TF_InitKernel", s);
      (void)described(found[k]);
      TF_DeleteStatus(s);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (DS_Library* library : found) CHECK(library == found[0] && library != nullptr);
}

void test_exceptions_stop_at_the_boundary(const char* path) {
  TF_Status* s = TF_NewStatus();
  DS_Library* library = DS_OpenLibrary(path, s);
  CHECK(library != nullptr);
  for (int again = 0; again < 2; ++again) {  // the second call gives the first one's answer
    DS_InitLibrary(library, "TF_InitKernel", s);
    CHECK(says(s, TF_INTERNAL, "thrown on purpose"));
  }
  CHECK(described(library).find("\"state\":\"failed\"") != std::string::npos);
  TF_DeleteStatus(s);
}

void test_every_truncation(const std::string& good, const std::string& folder) {
  TF_Status* s = TF_NewStatus();
  const std::string bytes = read(good);
  const std::string path = folder + "/cut.so";
  for (std::size_t size = 0; size < bytes.size() / 2; size += size < 1200 ? 7 : 997) {
    write(path, bytes.substr(0, size));
    CHECK(DS_OpenLibrary(path.c_str(), s) == nullptr);
    CHECK(says(s, TF_INVALID_ARGUMENT, "is no library for this machine"));
  }
  mkdir((folder + "/dir.so").c_str(), 0700);
  CHECK(DS_OpenLibrary((folder + "/dir.so").c_str(), s) == nullptr);
  CHECK(says(s, TF_NOT_FOUND, "not a regular file"));
  TF_DeleteStatus(s);
}

void test_platform_strings_of_any_bytes() {
  std::mt19937 random(7);
  const std::string magic("\0S\\s\":^p*L}", 11);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes;
    for (unsigned k = random() % 40; k > 0; --k) {
      const unsigned kind = random() % 4;
      if (kind == 0) bytes += magic.substr(0, random() % 12);
      else if (kind == 1) bytes += magic;
      else bytes += static_cast<char>(random() % 256);
    }
    drystone::host::RecordFinder whole;
    drystone::host::RecordFinder pieces;
    whole.take(bytes);
    for (std::string_view rest = bytes; !rest.empty();) {
      const std::size_t size = std::min<std::size_t>(random() % 9, rest.size());
      pieces.take(rest.substr(0, size));
      rest.remove_prefix(size);
    }
    std::size_t total = 0;
    const std::vector<std::string> records = whole.finish();
    CHECK(records == pieces.finish());
    for (const std::string& record : records) {
      CHECK(!record.empty() && record.find('\0') == std::string::npos);
      total += record.size();
    }
    CHECK(total <= bytes.size());
  }
}

std::string hex(const std::string& bytes) {
  std::string out;
  for (const char byte : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    out += digits;
  }
  return out;
}

// The examples of FIPS 180-2, appendix B, and no bytes at all, in pieces of any size.
void test_digests() {
  if (!drystone::host::Sha256::available()) return;  // the caller takes another library's then
  const std::pair<std::string, const char*> known[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {std::string(1000000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
  };
  std::mt19937 random(11);
  for (const auto& [text, digest] : known) {
    for (const std::size_t most : {1U, 3U, 64U, 65U, 1000U, 1U << 20}) {
      drystone::host::Sha256 sha;
      for (std::string_view rest = text; !rest.empty();) {
        const std::size_t size = std::min<std::size_t>(1 + random() % most, rest.size());
        sha.take(rest.substr(0, size));
        rest.remove_prefix(size);
      }
      CHECK(hex(sha.digest()) == digest);
    }
  }
}

void test_generated_libraries_are_whole(const std::string& folder) {
  const std::string path = folder + "/generated.so";
  write(path, drystone::host::elf_image("libname.so", {"liba.so", "/b/libc.so"}));
  drystone::host::require_whole_library(path, drystone::host::FileBytes(path).view());
  std::string error;
  CHECK(drystone::host::open_image("no library", 0, &error) == nullptr && !error.empty());
}

}  // namespace

int main(int, char** argv) {
  test_null_arguments();
  test_one_library(argv[1]);
  test_threads(argv[1]);
  test_exceptions_stop_at_the_boundary(argv[2]);
  test_every_truncation(argv[1], argv[3]);
  test_platform_strings_of_any_bytes();
  test_digests();
  test_generated_libraries_are_whole(argv[3]);
  return help::report();
}

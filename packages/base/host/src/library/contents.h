// What the bytes of a library's file tell, read once and a block at a time.
#ifndef DRYSTONE_HOST_LIBRARY_CONTENTS_H_
#define DRYSTONE_HOST_LIBRARY_CONTENTS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace drystone::host {

// Finds platform strings, "NAME=value" each, in bytes that come piece by piece: texts after each
// magic, up to the NUL that follows, the end, or 4096 bytes. See drystone/platform_strings.h.
class RecordFinder {
 public:
  void take(std::string_view piece);
  // All of them; no more pieces come.
  std::vector<std::string> finish();

 private:
  void find(bool last);

  std::string data_;  // what may be part of a record or a magic
  std::vector<std::string> records_;
};

// The SHA-256 of the file, 32 bytes, then its platform strings with a NUL after each. Fails with
// NOT_FOUND for what is no file that can be read, with UNIMPLEMENTED where this processor has no
// instructions for digests.
std::string digest_and_records(const std::string& path);

}  // namespace drystone::host

#endif  // DRYSTONE_HOST_LIBRARY_CONTENTS_H_

// What holds in a test program, and how many times it did not.
#ifndef DRYSTONE_HOST_TESTS_CHECKING_H_
#define DRYSTONE_HOST_TESTS_CHECKING_H_

#include <cstdio>

namespace help {

inline int failures = 0;

inline void check(bool holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "line %d failed: %s\n", line, what);
}
#define CHECK(condition) ::help::check((condition), #condition, __LINE__)

// The last line of the program's output, and its status.
inline int report() {
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace help

#endif  // DRYSTONE_HOST_TESTS_CHECKING_H_

// How the tables of letter_case_data.h are laid out. All are sorted by their first code points.
#ifndef DRYSTONE_CPU_PLAIN_LETTER_CASE_H_
#define DRYSTONE_CPU_PLAIN_LETTER_CASE_H_

#include <cstdint>

namespace drystone::cpu {

// Every step-th code point of [first, last] becomes the one that is `delta` further.
struct CaseRun {
  char32_t first;
  char32_t last;
  char32_t step;
  std::int32_t delta;
};

// One code point becomes several; those that are not used are 0.
struct LongCase {
  char32_t first;
  char32_t to[3];
};

struct CodeRange {
  char32_t first;
  char32_t last;
};

}  // namespace drystone::cpu

#endif  // DRYSTONE_CPU_PLAIN_LETTER_CASE_H_

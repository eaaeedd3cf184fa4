/* Memory for a plugin to fill in, with guard bytes around it. */
#ifndef GUARDED_H_
#define GUARDED_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kGuard = 256, kPattern = 0xD5 };

/* `size` zeroed bytes that begin with their own size. */
static inline void* guarded(size_t size) {
  unsigned char* const block = malloc(size + 2 * kGuard);
  if (block == NULL) exit(2);
  memset(block, kPattern, size + 2 * kGuard);
  memset(block + kGuard, 0, size);
  memcpy(block + kGuard, &size, sizeof size);
  return block + kGuard;
}

/* Ends the program unless the guards around `size` bytes are whole. */
static inline void check_guards(const void* memory, size_t size, const char* name) {
  const unsigned char* const bytes = (const unsigned char*)memory;
  for (size_t k = 0; k < kGuard; ++k) {
    if (bytes[size + k] != kPattern || bytes[-1 - (long)k] != kPattern) {
      printf("the plugin wrote outside the %s of %zu bytes\n", name, size);
      exit(3);
    }
  }
}

static inline void free_guarded(void* memory) { free((unsigned char*)memory - kGuard); }

/* Ends the program with a text unless `holds`. */
static inline void expect(int holds, const char* what) {
  if (holds) return;
  printf("%s\n", what);
  exit(4);
}

#endif /* GUARDED_H_ */

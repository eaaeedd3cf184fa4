/* What the source files of this plugin share. */
#ifndef FAKE_DEVICE_H_
#define FAKE_DEVICE_H_

#include <stddef.h>
#include <string.h>

/* The type of the devices: "/device:FAKE:0". */
#define FAKE_DEVICE_TYPE "FAKE"

/* Fill in a struct that the host gave. Both begin with their size; a host older than the headers
 * this plugin was built with gives less room, and gets only what it has room for. */
static inline void fill_in(void* given, const void* made) {
  size_t room, size;
  memcpy(&room, given, sizeof room);
  memcpy(&size, made, sizeof size);
  memcpy(given, made, room < size ? room : size);
}

#endif /* FAKE_DEVICE_H_ */

/* Visibility, booleans and struct sizes: what every header of the contract needs.
 *
 * Since ABI 1.0. Plain C11, valid C++17. Names are TensorFlow's, so that plugin sources written for
 * its modular C APIs compile unchanged.
 */
#ifndef DRYSTONE_MACROS_H_
#define DRYSTONE_MACROS_H_

#include <stddef.h>
#include <stdint.h>

/* Marks a function that the host exports to plugins, or that a plugin exports to the host. Default
 * visibility; weak as well when TF_CAPI_WEAK is defined, so that a plugin may test a function's
 * address for NULL before it relies on a newer host. */
#if defined(_WIN32)
#if defined(TF_COMPILE_LIBRARY)
#define TF_CAPI_EXPORT __declspec(dllexport)
#else
#define TF_CAPI_EXPORT __declspec(dllimport)
#endif
#elif defined(TF_CAPI_WEAK)
#define TF_CAPI_EXPORT __attribute__((visibility("default"), weak))
#else
#define TF_CAPI_EXPORT __attribute__((visibility("default")))
#endif

/* The boolean of the ABI: one byte, 0 is false and everything else is true. Not C's `bool`, whose
 * other values than 0 and 1 are undefined. */
#define TF_Bool unsigned char

/* Number of bytes from the start of TYPE to the end of MEMBER. Sizes of structs that cross the
 * boundary are stated this way and not with sizeof: trailing padding is not part of the promise, and
 * a member appended later may lie in it. */
#ifndef TF_OFFSET_OF_END
#define TF_OFFSET_OF_END(TYPE, MEMBER) (offsetof(TYPE, MEMBER) + sizeof(((TYPE*)0)->MEMBER))
#endif

/* Whether a struct that came over the boundary is long enough to hold MEMBER. Use it before reading
 * any member that a later version appended. STRUCT must begin with `size_t struct_size`. */
#define DRYSTONE_HAS_MEMBER(TYPE, POINTER, MEMBER) \
  ((POINTER)->struct_size >= TF_OFFSET_OF_END(TYPE, MEMBER))

#endif /* DRYSTONE_MACROS_H_ */

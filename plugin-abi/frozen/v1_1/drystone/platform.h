/* drystone/platform.h: names for the operating system and processor a source is compiled for.
 *
 * Some plugin sources written for TensorFlow ask for these names, which TensorFlow's header
 * tsl/platform/platform.h defines and kernels.h drags in. Nothing else in the contract uses them;
 * new sources do better with the compiler's own macros (__linux__, __x86_64__, ...).
 *
 *   PLATFORM_POSIX, PLATFORM_WINDOWS       the operating system; a build may define one by itself
 *   PLATFORM_POSIX_ANDROID                 Android, with IS_MOBILE_PLATFORM
 *   PLATFORM_IS_X86                        x86, 32 or 64 bits
 *   PLATFORM_IS_ARM, _IS_ARM32, _IS_ARM64  Arm, and how wide
 *
 * Since 1.0.
 */
#ifndef DRYSTONE_PLATFORM_H_
#define DRYSTONE_PLATFORM_H_

#if defined(PLATFORM_POSIX) || defined(PLATFORM_WINDOWS) || defined(PLATFORM_GOOGLE) || \
    defined(PLATFORM_POSIX_ANDROID) || defined(PLATFORM_GOOGLE_ANDROID)
/* The build has decided. */
#elif defined(_WIN32)
#define PLATFORM_WINDOWS
#elif defined(__ANDROID__)
#define PLATFORM_POSIX_ANDROID
#define IS_MOBILE_PLATFORM
#else
#define PLATFORM_POSIX
#endif

#if defined(__x86_64__) || defined(__i386__) || defined(_M_X64) || defined(_M_IX86)
#define PLATFORM_IS_X86
#elif defined(__aarch64__) || defined(_M_ARM64)
#define PLATFORM_IS_ARM
#define PLATFORM_IS_ARM64
#elif defined(__arm__) || defined(_M_ARM)
#define PLATFORM_IS_ARM
#define PLATFORM_IS_ARM32
#endif

#endif /* DRYSTONE_PLATFORM_H_ */

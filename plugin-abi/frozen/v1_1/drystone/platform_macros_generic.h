/* drystone/platform_macros_generic.h: macros recorded on every machine: operating system, architecture, byte order.
 *
 * Made by ci/scripts/abi_platform_macros.py from its lists of names; change them there.
 * DRYSTONE_PLATFORM_GENERIC_ is one string literal: a record for each macro of the list that is
 * defined, nothing for the others. Included by platform_strings.h only. Since 1.0.
 */
#ifndef DRYSTONE_PLATFORM_MACROS_GENERIC_H_
#define DRYSTONE_PLATFORM_MACROS_GENERIC_H_

#if 1

#ifdef TARGET_IPHONE_SIMULATOR
#define DRYSTONE_PLATFORM_TARGET_IPHONE_SIMULATOR_ DRYSTONE_PLATFORM_RECORD_(TARGET_IPHONE_SIMULATOR)
#else
#define DRYSTONE_PLATFORM_TARGET_IPHONE_SIMULATOR_
#endif
#ifdef TARGET_OS_IOS
#define DRYSTONE_PLATFORM_TARGET_OS_IOS_ DRYSTONE_PLATFORM_RECORD_(TARGET_OS_IOS)
#else
#define DRYSTONE_PLATFORM_TARGET_OS_IOS_
#endif
#ifdef TARGET_OS_IPHONE
#define DRYSTONE_PLATFORM_TARGET_OS_IPHONE_ DRYSTONE_PLATFORM_RECORD_(TARGET_OS_IPHONE)
#else
#define DRYSTONE_PLATFORM_TARGET_OS_IPHONE_
#endif
#ifdef _MSC_VER
#define DRYSTONE_PLATFORM__MSC_VER_ DRYSTONE_PLATFORM_RECORD_(_MSC_VER)
#else
#define DRYSTONE_PLATFORM__MSC_VER_
#endif
#ifdef _M_ARM
#define DRYSTONE_PLATFORM__M_ARM_ DRYSTONE_PLATFORM_RECORD_(_M_ARM)
#else
#define DRYSTONE_PLATFORM__M_ARM_
#endif
#ifdef _M_ARM64
#define DRYSTONE_PLATFORM__M_ARM64_ DRYSTONE_PLATFORM_RECORD_(_M_ARM64)
#else
#define DRYSTONE_PLATFORM__M_ARM64_
#endif
#ifdef _M_ARM_ARMV7VE
#define DRYSTONE_PLATFORM__M_ARM_ARMV7VE_ DRYSTONE_PLATFORM_RECORD_(_M_ARM_ARMV7VE)
#else
#define DRYSTONE_PLATFORM__M_ARM_ARMV7VE_
#endif
#ifdef _M_ARM_FP
#define DRYSTONE_PLATFORM__M_ARM_FP_ DRYSTONE_PLATFORM_RECORD_(_M_ARM_FP)
#else
#define DRYSTONE_PLATFORM__M_ARM_FP_
#endif
#ifdef _M_IX86
#define DRYSTONE_PLATFORM__M_IX86_ DRYSTONE_PLATFORM_RECORD_(_M_IX86)
#else
#define DRYSTONE_PLATFORM__M_IX86_
#endif
#ifdef _M_X64
#define DRYSTONE_PLATFORM__M_X64_ DRYSTONE_PLATFORM_RECORD_(_M_X64)
#else
#define DRYSTONE_PLATFORM__M_X64_
#endif
#ifdef _WIN32
#define DRYSTONE_PLATFORM__WIN32_ DRYSTONE_PLATFORM_RECORD_(_WIN32)
#else
#define DRYSTONE_PLATFORM__WIN32_
#endif
#ifdef _WIN64
#define DRYSTONE_PLATFORM__WIN64_ DRYSTONE_PLATFORM_RECORD_(_WIN64)
#else
#define DRYSTONE_PLATFORM__WIN64_
#endif
#ifdef __ANDROID__
#define DRYSTONE_PLATFORM___ANDROID___ DRYSTONE_PLATFORM_RECORD_(__ANDROID__)
#else
#define DRYSTONE_PLATFORM___ANDROID___
#endif
#ifdef __APPLE__
#define DRYSTONE_PLATFORM___APPLE___ DRYSTONE_PLATFORM_RECORD_(__APPLE__)
#else
#define DRYSTONE_PLATFORM___APPLE___
#endif
#ifdef __BYTE_ORDER__
#define DRYSTONE_PLATFORM___BYTE_ORDER___ DRYSTONE_PLATFORM_RECORD_(__BYTE_ORDER__)
#else
#define DRYSTONE_PLATFORM___BYTE_ORDER___
#endif
#ifdef __CYGWIN__
#define DRYSTONE_PLATFORM___CYGWIN___ DRYSTONE_PLATFORM_RECORD_(__CYGWIN__)
#else
#define DRYSTONE_PLATFORM___CYGWIN___
#endif
#ifdef __FreeBSD__
#define DRYSTONE_PLATFORM___FreeBSD___ DRYSTONE_PLATFORM_RECORD_(__FreeBSD__)
#else
#define DRYSTONE_PLATFORM___FreeBSD___
#endif
#ifdef __LITTLE_ENDIAN__
#define DRYSTONE_PLATFORM___LITTLE_ENDIAN___ DRYSTONE_PLATFORM_RECORD_(__LITTLE_ENDIAN__)
#else
#define DRYSTONE_PLATFORM___LITTLE_ENDIAN___
#endif
#ifdef __NetBSD__
#define DRYSTONE_PLATFORM___NetBSD___ DRYSTONE_PLATFORM_RECORD_(__NetBSD__)
#else
#define DRYSTONE_PLATFORM___NetBSD___
#endif
#ifdef __OpenBSD__
#define DRYSTONE_PLATFORM___OpenBSD___ DRYSTONE_PLATFORM_RECORD_(__OpenBSD__)
#else
#define DRYSTONE_PLATFORM___OpenBSD___
#endif
#ifdef ____MSYS__
#define DRYSTONE_PLATFORM_____MSYS___ DRYSTONE_PLATFORM_RECORD_(____MSYS__)
#else
#define DRYSTONE_PLATFORM_____MSYS___
#endif
#ifdef __aarch64__
#define DRYSTONE_PLATFORM___aarch64___ DRYSTONE_PLATFORM_RECORD_(__aarch64__)
#else
#define DRYSTONE_PLATFORM___aarch64___
#endif
#ifdef __alpha__
#define DRYSTONE_PLATFORM___alpha___ DRYSTONE_PLATFORM_RECORD_(__alpha__)
#else
#define DRYSTONE_PLATFORM___alpha___
#endif
#ifdef __arm__
#define DRYSTONE_PLATFORM___arm___ DRYSTONE_PLATFORM_RECORD_(__arm__)
#else
#define DRYSTONE_PLATFORM___arm___
#endif
#ifdef __i386__
#define DRYSTONE_PLATFORM___i386___ DRYSTONE_PLATFORM_RECORD_(__i386__)
#else
#define DRYSTONE_PLATFORM___i386___
#endif
#ifdef __i686__
#define DRYSTONE_PLATFORM___i686___ DRYSTONE_PLATFORM_RECORD_(__i686__)
#else
#define DRYSTONE_PLATFORM___i686___
#endif
#ifdef __ia64__
#define DRYSTONE_PLATFORM___ia64___ DRYSTONE_PLATFORM_RECORD_(__ia64__)
#else
#define DRYSTONE_PLATFORM___ia64___
#endif
#ifdef __linux__
#define DRYSTONE_PLATFORM___linux___ DRYSTONE_PLATFORM_RECORD_(__linux__)
#else
#define DRYSTONE_PLATFORM___linux___
#endif
#ifdef __mips32__
#define DRYSTONE_PLATFORM___mips32___ DRYSTONE_PLATFORM_RECORD_(__mips32__)
#else
#define DRYSTONE_PLATFORM___mips32___
#endif
#ifdef __mips64__
#define DRYSTONE_PLATFORM___mips64___ DRYSTONE_PLATFORM_RECORD_(__mips64__)
#else
#define DRYSTONE_PLATFORM___mips64___
#endif
#ifdef __powerpc64__
#define DRYSTONE_PLATFORM___powerpc64___ DRYSTONE_PLATFORM_RECORD_(__powerpc64__)
#else
#define DRYSTONE_PLATFORM___powerpc64___
#endif
#ifdef __powerpc__
#define DRYSTONE_PLATFORM___powerpc___ DRYSTONE_PLATFORM_RECORD_(__powerpc__)
#else
#define DRYSTONE_PLATFORM___powerpc___
#endif
#ifdef __riscv___
#define DRYSTONE_PLATFORM___riscv____ DRYSTONE_PLATFORM_RECORD_(__riscv___)
#else
#define DRYSTONE_PLATFORM___riscv____
#endif
#ifdef __s390x__
#define DRYSTONE_PLATFORM___s390x___ DRYSTONE_PLATFORM_RECORD_(__s390x__)
#else
#define DRYSTONE_PLATFORM___s390x___
#endif
#ifdef __sparc64__
#define DRYSTONE_PLATFORM___sparc64___ DRYSTONE_PLATFORM_RECORD_(__sparc64__)
#else
#define DRYSTONE_PLATFORM___sparc64___
#endif
#ifdef __sparc__
#define DRYSTONE_PLATFORM___sparc___ DRYSTONE_PLATFORM_RECORD_(__sparc__)
#else
#define DRYSTONE_PLATFORM___sparc___
#endif
#ifdef __x86_64__
#define DRYSTONE_PLATFORM___x86_64___ DRYSTONE_PLATFORM_RECORD_(__x86_64__)
#else
#define DRYSTONE_PLATFORM___x86_64___
#endif
#ifdef __BIG_ENDIAN__
#define DRYSTONE_PLATFORM___BIG_ENDIAN___ DRYSTONE_PLATFORM_RECORD_(__BIG_ENDIAN__)
#else
#define DRYSTONE_PLATFORM___BIG_ENDIAN___
#endif
#ifdef __loongarch64
#define DRYSTONE_PLATFORM___loongarch64_ DRYSTONE_PLATFORM_RECORD_(__loongarch64)
#else
#define DRYSTONE_PLATFORM___loongarch64_
#endif
#ifdef __riscv
#define DRYSTONE_PLATFORM___riscv_ DRYSTONE_PLATFORM_RECORD_(__riscv)
#else
#define DRYSTONE_PLATFORM___riscv_
#endif
#ifdef __riscv_v
#define DRYSTONE_PLATFORM___riscv_v_ DRYSTONE_PLATFORM_RECORD_(__riscv_v)
#else
#define DRYSTONE_PLATFORM___riscv_v_
#endif
#ifdef __riscv_xlen
#define DRYSTONE_PLATFORM___riscv_xlen_ DRYSTONE_PLATFORM_RECORD_(__riscv_xlen)
#else
#define DRYSTONE_PLATFORM___riscv_xlen_
#endif

#define DRYSTONE_PLATFORM_GENERIC_ \
  DRYSTONE_PLATFORM_TARGET_IPHONE_SIMULATOR_ \
  DRYSTONE_PLATFORM_TARGET_OS_IOS_ \
  DRYSTONE_PLATFORM_TARGET_OS_IPHONE_ \
  DRYSTONE_PLATFORM__MSC_VER_ \
  DRYSTONE_PLATFORM__M_ARM_ \
  DRYSTONE_PLATFORM__M_ARM64_ \
  DRYSTONE_PLATFORM__M_ARM_ARMV7VE_ \
  DRYSTONE_PLATFORM__M_ARM_FP_ \
  DRYSTONE_PLATFORM__M_IX86_ \
  DRYSTONE_PLATFORM__M_X64_ \
  DRYSTONE_PLATFORM__WIN32_ \
  DRYSTONE_PLATFORM__WIN64_ \
  DRYSTONE_PLATFORM___ANDROID___ \
  DRYSTONE_PLATFORM___APPLE___ \
  DRYSTONE_PLATFORM___BYTE_ORDER___ \
  DRYSTONE_PLATFORM___CYGWIN___ \
  DRYSTONE_PLATFORM___FreeBSD___ \
  DRYSTONE_PLATFORM___LITTLE_ENDIAN___ \
  DRYSTONE_PLATFORM___NetBSD___ \
  DRYSTONE_PLATFORM___OpenBSD___ \
  DRYSTONE_PLATFORM_____MSYS___ \
  DRYSTONE_PLATFORM___aarch64___ \
  DRYSTONE_PLATFORM___alpha___ \
  DRYSTONE_PLATFORM___arm___ \
  DRYSTONE_PLATFORM___i386___ \
  DRYSTONE_PLATFORM___i686___ \
  DRYSTONE_PLATFORM___ia64___ \
  DRYSTONE_PLATFORM___linux___ \
  DRYSTONE_PLATFORM___mips32___ \
  DRYSTONE_PLATFORM___mips64___ \
  DRYSTONE_PLATFORM___powerpc64___ \
  DRYSTONE_PLATFORM___powerpc___ \
  DRYSTONE_PLATFORM___riscv____ \
  DRYSTONE_PLATFORM___s390x___ \
  DRYSTONE_PLATFORM___sparc64___ \
  DRYSTONE_PLATFORM___sparc___ \
  DRYSTONE_PLATFORM___x86_64___ \
  DRYSTONE_PLATFORM___BIG_ENDIAN___ \
  DRYSTONE_PLATFORM___loongarch64_ \
  DRYSTONE_PLATFORM___riscv_ \
  DRYSTONE_PLATFORM___riscv_v_ \
  DRYSTONE_PLATFORM___riscv_xlen_

#else
#define DRYSTONE_PLATFORM_GENERIC_
#endif

#endif /* DRYSTONE_PLATFORM_MACROS_GENERIC_H_ */

/* drystone/platform_strings.h: what a library was built for, readable without opening it.
 *
 * Write TF_PLATFORM_STRINGS() once, at file scope, in one source file of a library:
 *
 *   #include "drystone/platform_strings.h"
 *   TF_PLATFORM_STRINGS()
 *
 * The object file then holds a block of records that tell for which processor extensions, operating
 * system and architecture it was compiled, and for which version of the plugin ABI. A host scans
 * the bytes of the file for them *before* the dynamic linker sees it: code for a processor that
 * this machine is not could stop the process in the library's first constructor. A library
 * without records is refused unless the policy of the host says otherwise.
 *
 * No semicolon is needed after the macro; in C++ one does no harm, in C a pedantic compiler warns.
 *
 * Format (TensorFlow's, version 1.0). Each record is
 *
 *   magic   11 bytes, 00 53 5c 73 22 3a 5e 70 2a 4c 7d; no byte occurs twice in it
 *   text    NAME=value, without NUL
 *   00      the end; it may be the first byte of the next record's magic
 *
 * The first record is TF_PLAT_STR_VERSION=1.0. Then follows one record for each predefined macro of
 * the lists in platform_macros_*.h that the compiler has defined, with its expansion as value: the
 * names TensorFlow records, then processor extensions that are younger than its list. A macro that
 * is not defined leaves no record. The last record is DRYSTONE_ABI_VERSION=1.0.
 *
 * Flags given per source file count: compile the file that holds the macro with the strictest
 * flags of the library, those of its whole rather than of a part that it chooses at run time.
 *
 * Nothing runs: the block is a constant with internal linkage, marked so that compiler and linker
 * keep it (-O2, -flto, --gc-sections). Where the toolchain is too old to know `retain` (GCC < 11,
 * Clang < 13), do not link with --gc-sections. In a static archive the object file that holds it
 * must be pulled in, as with anything in an archive.
 *
 * Since 1.0. The macro also works in TensorFlow's place:
 * tensorflow/core/platform/platform_strings.h forwards here, and TensorFlow's scanner reads what it
 * writes.
 */
#ifndef DRYSTONE_PLATFORM_STRINGS_H_
#define DRYSTONE_PLATFORM_STRINGS_H_

#include "drystone/version.h"

/* Version of the record format, and the eleven bytes that begin a record. */
#define TF_PLAT_STR_VERSION_ "1.0"
#define TF_PLAT_STR_MAGIC_PREFIX_ "\0S\\s\":^p*L}"

/* One record: the macro's name as written here, and its expansion. For the lists only. */
#define DRYSTONE_PLATFORM_RECORD_(name) \
  TF_PLAT_STR_MAGIC_PREFIX_ #name "=" DRYSTONE_STRINGIZE(name)

#include "drystone/platform_macros_arm.h"
#include "drystone/platform_macros_generic.h"
#include "drystone/platform_macros_power.h"
#include "drystone/platform_macros_x86.h"
#include "drystone/platform_macros_x86_late.h"

/* `used` holds against the compiler, `retain` against the linker's garbage collection. */
#if defined(__has_attribute)
#if __has_attribute(retain)
#define DRYSTONE_PLATFORM_KEEP_ __attribute__((used, retain))
#else
#define DRYSTONE_PLATFORM_KEEP_ __attribute__((used))
#endif
#elif defined(__GNUC__)
#define DRYSTONE_PLATFORM_KEEP_ __attribute__((used))
#else
#define DRYSTONE_PLATFORM_KEEP_
#endif

/* Defines the records. Once per library; twice in one source file does not compile. */
#define TF_PLATFORM_STRINGS()                                                                    \
  static const char drystone_platform_strings[] DRYSTONE_PLATFORM_KEEP_ =                        \
      TF_PLAT_STR_MAGIC_PREFIX_ "TF_PLAT_STR_VERSION=" TF_PLAT_STR_VERSION_                      \
      DRYSTONE_PLATFORM_X86_ DRYSTONE_PLATFORM_POWER_ DRYSTONE_PLATFORM_ARM_                     \
      DRYSTONE_PLATFORM_GENERIC_ DRYSTONE_PLATFORM_X86_LATE_                                     \
      TF_PLAT_STR_MAGIC_PREFIX_ "DRYSTONE_ABI_VERSION=" DRYSTONE_ABI_VERSION_STRING;

#endif /* DRYSTONE_PLATFORM_STRINGS_H_ */

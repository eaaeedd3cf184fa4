/* drystone/version.h: which version of the plugin ABI a translation unit was compiled for.
 *
 * There is one number for the whole contract: MAJOR.MINOR, the same as in the file VERSION of the
 * distribution drystone-plugin-abi. It is not the version of any package.
 *
 *   MAJOR  changes when a released struct, function or rule of ownership changes its meaning. A
 *          host refuses a library built for another major version.
 *   MINOR  changes when something is appended: a trailing member, a new struct, a new function. A
 *          library built for an older minor version keeps working, and one built for a newer minor
 *          version works as long as it looks before it uses what it was given (struct_size, or
 *          a symbol that may be missing).
 *
 * TF_PLATFORM_STRINGS() (platform_strings.h) writes the number into the library, where a host
 * reads it before it opens the file. The numbers of single interfaces (GO_MAJOR and its kin) are
 * TensorFlow's, never left 0.0.1, and are compared apart from this one.
 *
 * Since 1.0.
 */
#ifndef DRYSTONE_VERSION_H_
#define DRYSTONE_VERSION_H_

/* Both are plain decimal integers without suffix, so that #if and stringizing work on them. */
#define DRYSTONE_ABI_VERSION_MAJOR 1
#define DRYSTONE_ABI_VERSION_MINOR 1

/* Turns a macro's value, not its name, into a string literal. */
#define DRYSTONE_STRINGIZE_(text) #text
#define DRYSTONE_STRINGIZE(text) DRYSTONE_STRINGIZE_(text)

/* The number as text: "1.1". */
#define DRYSTONE_ABI_VERSION_STRING \
  DRYSTONE_STRINGIZE(DRYSTONE_ABI_VERSION_MAJOR) "." DRYSTONE_STRINGIZE(DRYSTONE_ABI_VERSION_MINOR)

/* The number as one integer, for comparisons in #if: 1.0 is 1000, 1.12 is 1012. */
#define DRYSTONE_ABI_VERSION (DRYSTONE_ABI_VERSION_MAJOR * 1000 + DRYSTONE_ABI_VERSION_MINOR)

#endif /* DRYSTONE_VERSION_H_ */

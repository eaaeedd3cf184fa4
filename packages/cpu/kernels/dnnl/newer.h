// Functions for processors that are newer than what this library is compiled for.
//
// They lie in a section of their own, so that a test can tell that no other function has their
// instructions. A caller asks first whether the processor has them.
#ifndef DRYSTONE_CPU_DNNL_NEWER_H_
#define DRYSTONE_CPU_DNNL_NEWER_H_

#define DRYSTONE_NEWER(features) __attribute__((target(features), section("drystone_newer")))

#endif  // DRYSTONE_CPU_DNNL_NEWER_H_

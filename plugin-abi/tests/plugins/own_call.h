/* A system call by an instruction of its own, no function of the C library's. */
#ifndef OWN_CALL_H_
#define OWN_CALL_H_

#include <sys/syscall.h>
#include <unistd.h>

static inline long own_call(long number, long a, long b, long c, long d) {
#ifdef __x86_64__
  register long fourth __asm__("r10") = d;
  long out;
  __asm__ volatile("syscall" : "=a"(out) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth) : "rcx", "r11", "memory");
  return out;
#else
  return syscall(number, a, b, c, d);
#endif
}

#endif /* OWN_CALL_H_ */

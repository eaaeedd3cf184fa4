/* What the source files of this small host share. */
#ifndef OLD_HOST_H_
#define OLD_HOST_H_

extern int registered_ops;
extern int registered_kernels;

/* Each is given the plugin's entry function and prints one line; the program ends on a fault. */
void try_device(void* entry);
void try_profiler(void* entry);
void try_optimizer(void* entry);
void try_kernels(void* entry);
void try_filesystem(void* entry);

#endif /* OLD_HOST_H_ */

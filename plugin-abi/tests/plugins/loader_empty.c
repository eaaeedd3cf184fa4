/* Nothing: a library that others are linked with for its name. */
extern int loader_empty;

/* layout.c: what filch/forkjoin.h wants to be linked with. Weak, and in a file of its own: a model of
 * a queue does not need the fork-join half of the library, which has the real one. */
extern const int filch_layout_1;
__attribute__((weak)) const int filch_layout_1 = 1;

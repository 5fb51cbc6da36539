/* The public headers, and what the Swift side of the C interface needs of C. This file is not installed. */
#ifndef CFEEDIMG_H
#define CFEEDIMG_H

#include "feedimg-decoding.h"
#include "feedimg.h"

/* Sets the result of feedimg_error_last() on this thread to a copy of an error. */
void cfeedimg_set_error(const feedimg_error *error);

/* Makes `*stop` 1, while a decoder may read it on another thread. */
void cfeedimg_stop(int *stop);

/* The size with which a struct of the program begins; 0 if it is impossible. */
size_t cfeedimg_size(const void *structure);

/* Copies the members after the size, as many as the struct of the program has. The sizes must be possible, and `size`
 * is that of the struct of this library. */
void cfeedimg_write(void *structure, const void *value, size_t size);

#endif

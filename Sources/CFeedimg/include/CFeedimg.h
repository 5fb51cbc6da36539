/* The public headers, and what the Swift side of the C interface needs of C. This file is not installed. */
#ifndef CFEEDIMG_H
#define CFEEDIMG_H

#include "feedimg-decoding.h"
#include "feedimg.h"

/* Sets the result of feedimg_error_last() on this thread to a copy of an error. */
void cfeedimg_set_error(const feedimg_error *error);

/* Makes `*stop` 1, while a decoder may read it on another thread. */
void cfeedimg_stop(int *stop);

#endif

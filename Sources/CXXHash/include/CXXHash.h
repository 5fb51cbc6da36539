#ifndef FEEDIMG_CXXHASH_H
#define FEEDIMG_CXXHASH_H
#include <stddef.h>
#include <stdint.h>
#endif

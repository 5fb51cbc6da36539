// How a PNG is turned, which its place on the screen depends on before anything is decoded.
#ifndef FEEDIMG_CPNG_ORIENTATION_H
#define FEEDIMG_CPNG_ORIENTATION_H

#include <CPixels.h>

/// The orientation that the first eXIf tells, wherever it stands; 1 where there is none of at most so many bytes.
int32_t cpng_orientation(const uint8_t *bytes, size_t count, size_t most);

#endif

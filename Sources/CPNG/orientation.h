// The orientation of a PNG, which a view needs before it decodes the image.
#ifndef FEEDIMG_CPNG_ORIENTATION_H
#define FEEDIMG_CPNG_ORIENTATION_H

#include <CPixels.h>

/// The orientation in the first eXIf chunk of at most `maximum` bytes; 1 if there is none.
int32_t cpng_orientation(const uint8_t *bytes, size_t count, size_t maximum);

#endif

// libpng: PNG of every depth and colour, interlaced or not.
#ifndef FEEDIMG_CPNG_H
#define FEEDIMG_CPNG_H

#include <CPixels.h>

/// Reads the head of a PNG, which has to stay where it is until the reader is closed.
///
/// Returns NULL with the reason where it has none.
cpixels_reader *cpng_open(const uint8_t *bytes, size_t count, const cpixels_stop *stop, char *reason, size_t size);

#endif

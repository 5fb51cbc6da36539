// Decodes PNG of every depth and colour type with libpng, interlaced or not.
#ifndef FEEDIMG_CPNG_H
#define FEEDIMG_CPNG_H

#include <CPixels.h>
#include <stdio.h>

/// Reads the header of a PNG image. The bytes must stay valid and unchanged until the reader is closed.
///
/// Returns NULL, and writes the reason to `reason`, if the header is invalid.
cpixels_reader *cpng_open(const uint8_t *bytes, size_t count, const cpixels_stop *stop, char *reason, size_t size);

/// Writes rows of red, green, blue and straight alpha as PNG, with fast compression.
///
/// Returns whether all of it was written.
bool cpng_write(FILE *file, const uint8_t *pixels, uint32_t width, uint32_t height);

#endif

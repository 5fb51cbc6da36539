// Decodes GIF with giflib. Each frame is composed with the earlier ones.
#ifndef FEEDIMG_CGIF_H
#define FEEDIMG_CGIF_H

#include <CPixels.h>

/// Reads the header of a GIF image. The bytes must stay valid and unchanged until the reader is closed.
///
/// Returns NULL, and writes the reason to `reason`, if the header is invalid.
cpixels_reader *cgif_open(const uint8_t *bytes, size_t count, const cpixels_stop *stop, char *reason, size_t size);

#endif

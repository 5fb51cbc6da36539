// Decodes still and animated AVIF with libavif.
#ifndef FEEDIMG_CAVIF_H
#define FEEDIMG_CAVIF_H

#include <CPixels.h>

/// Reads the header of an AVIF image. The bytes must stay valid and unchanged until the reader is closed.
///
/// Returns NULL, and writes the reason to `reason`, if the header is invalid.
cpixels_reader *cavif_open(const uint8_t *bytes, size_t count, const cpixels_stop *stop, char *reason, size_t size);

#endif

// Decodes still and animated WebP with libwebp, at the requested size.
#ifndef FEEDIMG_CWEBP_H
#define FEEDIMG_CWEBP_H

#include <CPixels.h>

/// Reads the header of a WebP image. The bytes must stay valid and unchanged until the reader is closed.
///
/// Returns NULL, and writes the reason to `reason`, if the header is invalid.
cpixels_reader *cwebp_open(const uint8_t *bytes, size_t count, const cpixels_stop *stop, char *reason, size_t size);

#endif

// Decodes JPEG with libjpeg-turbo, at a half, a quarter or an eighth of the size if that is large enough.
#ifndef FEEDIMG_CJPEG_H
#define FEEDIMG_CJPEG_H

#include <CPixels.h>

/// Reads the header of a JPEG image. The bytes must stay valid and unchanged until the reader is closed.
///
/// Returns NULL, and writes the reason to `reason`, if the header is invalid.
cpixels_reader *cjpeg_open(const uint8_t *bytes, size_t count, const cpixels_stop *stop, char *reason, size_t size);

#endif

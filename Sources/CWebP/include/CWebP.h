// libwebp: WebP, still and animated, decoded at the size that is wanted.
#ifndef FEEDIMG_CWEBP_H
#define FEEDIMG_CWEBP_H

#include <CPixels.h>

/// Reads the head of a WebP, which has to stay where it is until the reader is closed.
///
/// Returns NULL with the reason where it has none.
cpixels_reader *cwebp_open(const uint8_t *bytes, size_t count, const cpixels_stop *stop, char *reason, size_t size);

#endif

// giflib: GIF, each frame put together with those before it.
#ifndef FEEDIMG_CGIF_H
#define FEEDIMG_CGIF_H

#include <CPixels.h>

/// Reads the head of a GIF, which has to stay where it is until the reader is closed.
///
/// Returns NULL with the reason where it has none.
cpixels_reader *cgif_open(const uint8_t *bytes, size_t count, const cpixels_stop *stop, char *reason, size_t size);

#endif

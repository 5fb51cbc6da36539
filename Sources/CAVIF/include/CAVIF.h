// libavif: AVIF, still and animated.
#ifndef FEEDIMG_CAVIF_H
#define FEEDIMG_CAVIF_H

#include <CPixels.h>

/// Reads the head of an AVIF, which has to stay where it is until the reader is closed.
///
/// Returns NULL with the reason where it has none.
cpixels_reader *cavif_open(const uint8_t *bytes, size_t count, const cpixels_stop *stop, char *reason, size_t size);

#endif

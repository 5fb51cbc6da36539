// libjpeg-turbo: JPEG, decoded at a half, a quarter or an eighth of its size where less is wanted.
#ifndef FEEDIMG_CJPEG_H
#define FEEDIMG_CJPEG_H

#include <CPixels.h>

/// Reads the head of a JPEG, which has to stay where it is until the reader is closed.
///
/// Returns NULL with the reason where it has none.
cpixels_reader *cjpeg_open(const uint8_t *bytes, size_t count, const cpixels_stop *stop, char *reason, size_t size);

#endif

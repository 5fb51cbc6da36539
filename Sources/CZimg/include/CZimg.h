// Resamples row by row with zimg, which uses the vector instructions of the processor.
#ifndef FEEDIMG_CZIMG_H
#define FEEDIMG_CZIMG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CPixels.h"

typedef enum {
  /// Unused. It becomes 255.
  CZIMG_NOTHING,
  /// Straight alpha. Resampling premultiplies it.
  CZIMG_ALPHA,
  /// Premultiplied alpha.
  CZIMG_MULTIPLIED,
  /// A fourth colour.
  CZIMG_COLOR,
} czimg_fourth;

/// An image with four bytes a pixel.
typedef struct {
  const uint8_t *pixels;
  uint32_t width, height;
  size_t stride;
  /// The visible part, in pixels.
  double left, top, shown_width, shown_height;
  /// The meaning of the fourth byte.
  czimg_fourth fourth;
  /// Ends resampling soon after it is set. May be NULL.
  const cpixels_stop *stop;
} czimg_source;

/// Estimates the memory that resampling needs in addition to both images, in bytes. Reads no pixels.
size_t czimg_cost(const czimg_source *source, uint32_t width, uint32_t height);

/// Resamples with a Lanczos filter of three lobes, into rows without padding.
///
/// Averages blocks of a side that becomes much shorter first, because time and memory of the filter grow with the
/// length of its input. Returns false, and writes the reason to `reason`, if it failed or was stopped.
bool czimg_resample(const czimg_source *source, uint8_t *target, uint32_t width, uint32_t height, char *reason,
                    size_t size);

#endif

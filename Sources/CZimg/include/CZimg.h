// zimg: resampling, row by row, with the vector instructions that the processor has.
#ifndef FEEDIMG_CZIMG_H
#define FEEDIMG_CZIMG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CPixels.h"

typedef enum {
  /// Nothing; it becomes 255.
  CZIMG_NOTHING,
  /// Alpha, which is multiplied in.
  CZIMG_ALPHA,
  /// Alpha, which has been.
  CZIMG_MULTIPLIED,
  /// A colour like the others.
  CZIMG_COLOR,
} czimg_fourth;

/// Rows of four bytes a pixel.
typedef struct {
  const uint8_t *pixels;
  uint32_t width, height;
  size_t stride;
  /// The part that is shown.
  double left, top, shown_width, shown_height;
  /// What the fourth byte is.
  czimg_fourth fourth;
  /// Ends resampling soon once it is set; may be NULL.
  const cpixels_stop *stop;
} czimg_source;

/// The most bytes that resampling takes beside both pictures; an estimate, which looks at no pixels.
size_t czimg_cost(const czimg_source *source, uint32_t width, uint32_t height);

/// Resamples into rows without gaps, by Lanczos' filter with three lobes.
///
/// A side that becomes much shorter is averaged first, as the filter takes time and memory by the length of what it sees.
///
/// Returns whether it could, and was not stopped; the reason is in words.
bool czimg_resample(const czimg_source *source, uint8_t *target, uint32_t width, uint32_t height, char *reason,
                    size_t size);

#endif

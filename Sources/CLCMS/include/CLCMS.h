// Little CMS: from the colours of a profile to sRGB.
#ifndef FEEDIMG_CLCMS_H
#define FEEDIMG_CLCMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct clcms_transform clcms_transform;

/// Prepares for pixels of four bytes: RGBA, of which all may be grey, or CMYK where 255 is no ink. NULL if the profile
/// is of no use for them.
clcms_transform *clcms_prepare(const uint8_t *profile, size_t size, bool is_cmyk, bool may_be_gray);
/// Prepares for RGBA without a profile; NULL if the points make no colours.
///
/// The points are white, red, green and blue, x before y (CIE 1931); light is that of each number, 65,535 for white.
clcms_transform *clcms_prepare_colors(const double points[8], const uint16_t light[256]);
/// Changes pixels to sRGB, in place; alpha, which must not be multiplied in, stays, and that of CMYK becomes 255.
void clcms_apply(const clcms_transform *transform, uint8_t *pixels, size_t count);
void clcms_free(clcms_transform *transform);

/// What CMYK without a profile most likely means, in place.
void clcms_guess_cmyk(uint8_t *pixels, size_t count);

#endif

// Converts the colours of a profile to sRGB with Little CMS.
#ifndef FEEDIMG_CLCMS_H
#define FEEDIMG_CLCMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct clcms_transform clcms_transform;

/// Prepares the conversion of pixels of four bytes: RGBA, possibly all grey, or CMYK, where 255 is no ink.
///
/// Returns NULL if the profile does not fit the pixels.
clcms_transform *clcms_prepare(const uint8_t *profile, size_t size, bool is_cmyk, bool may_be_gray);
/// Prepares the conversion of RGBA without a profile. Returns NULL if the points are invalid.
///
/// The points are white, red, green and blue, each as x and y (CIE 1931). `light` has the light of each value,
/// where 65,535 is white.
clcms_transform *clcms_prepare_colors(const double points[8], const uint16_t light[256]);
/// Converts pixels to sRGB in place. Straight alpha stays unchanged; the alpha of CMYK becomes 255.
void clcms_apply(const clcms_transform *transform, uint8_t *pixels, size_t count);
void clcms_free(clcms_transform *transform);

/// Converts CMYK without a profile to approximate RGBA, in place.
void clcms_guess_cmyk(uint8_t *pixels, size_t count);

#endif

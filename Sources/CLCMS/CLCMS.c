#include "CLCMS.h"

#include <lcms2.h>
#include <stdlib.h>
#include <string.h>

struct clcms_transform {
  cmsContext context;
  cmsHTRANSFORM transform;
  bool is_cmyk, is_gray;
};

/// Makes a transform from a profile to sRGB, and closes the profile.
static cmsHTRANSFORM make(cmsContext context, cmsHPROFILE profile, bool is_cmyk, bool may_be_gray, bool *is_gray) {
  cmsColorSpaceSignature space = cmsGetColorSpace(profile);
  *is_gray = may_be_gray && space == cmsSigGrayData;
  cmsUInt32Number format = 0;
  if (is_cmyk && space == cmsSigCmykData) format = TYPE_CMYK_8_REV;
  if (!is_cmyk && space == cmsSigRgbData) format = TYPE_RGBA_8;
  if (!is_cmyk && *is_gray) format = TYPE_GRAY_8;
  cmsHPROFILE target = format == 0 ? NULL : cmsCreate_sRGBProfileTHR(context);
  cmsHTRANSFORM transform = NULL;
  if (target != NULL) {
    cmsUInt32Number flags = is_cmyk || *is_gray ? 0 : cmsFLAGS_COPY_ALPHA;
    cmsUInt32Number target_format = is_cmyk || *is_gray ? TYPE_RGB_8 : TYPE_RGBA_8;
    transform = cmsCreateTransformTHR(context, profile, format, target, target_format, INTENT_PERCEPTUAL, flags);
    cmsCloseProfile(target);
  }
  cmsCloseProfile(profile);
  return transform;
}

clcms_transform *clcms_prepare(const uint8_t *profile, size_t size, bool is_cmyk, bool may_be_gray) {
  if (size > UINT32_MAX) return NULL;
  clcms_transform *self = calloc(1, sizeof *self);
  if (self == NULL) return NULL;
  self->is_cmyk = is_cmyk;
  self->context = cmsCreateContext(NULL, NULL);
  cmsHPROFILE source =
      self->context == NULL ? NULL : cmsOpenProfileFromMemTHR(self->context, profile, (cmsUInt32Number)size);
  if (source != NULL) self->transform = make(self->context, source, is_cmyk, may_be_gray, &self->is_gray);
  if (self->transform == NULL) {
    clcms_free(self);
    return NULL;
  }
  return self;
}

static cmsHPROFILE make_profile(cmsContext context, const double points[8], const uint16_t light[256]) {
  cmsCIExyY white = {points[0], points[1], 1};
  cmsCIExyYTRIPLE primaries = {{points[2], points[3], 1}, {points[4], points[5], 1}, {points[6], points[7], 1}};
  if (!(white.y > 0)) return NULL;
  cmsToneCurve *curve = cmsBuildTabulatedToneCurve16(context, 256, light);
  if (curve == NULL) return NULL;
  cmsToneCurve *curves[] = {curve, curve, curve};
  cmsHPROFILE profile = cmsCreateRGBProfileTHR(context, &white, &primaries, curves);
  cmsFreeToneCurve(curve);
  return profile;
}

clcms_transform *clcms_prepare_colors(const double points[8], const uint16_t light[256]) {
  clcms_transform *self = calloc(1, sizeof *self);
  if (self == NULL) return NULL;
  self->context = cmsCreateContext(NULL, NULL);
  cmsHPROFILE profile = self->context == NULL ? NULL : make_profile(self->context, points, light);
  if (profile != NULL) self->transform = make(self->context, profile, false, false, &self->is_gray);
  if (self->transform == NULL) {
    clcms_free(self);
    return NULL;
  }
  return self;
}

void clcms_apply(const clcms_transform *self, uint8_t *pixels, size_t count) {
  if (!self->is_cmyk && !self->is_gray) {
    cmsDoTransform(self->transform, pixels, pixels, (cmsUInt32Number)count);
    return;
  }
  enum { portion = 1024 };
  uint8_t gray[portion], colors[portion * 3];
  for (size_t done = 0; done < count;) {
    size_t now = count - done < portion ? count - done : portion;
    uint8_t *start = pixels + done * 4;
    for (size_t i = 0; self->is_gray && i < now; i++) gray[i] = start[i * 4];
    cmsDoTransform(self->transform, self->is_gray ? gray : start, colors, (cmsUInt32Number)now);
    for (size_t i = 0; i < now; i++) {
      memcpy(start + i * 4, colors + i * 3, 3);
      if (self->is_cmyk) start[i * 4 + 3] = 255;
    }
    done += now;
  }
}

void clcms_free(clcms_transform *self) {
  if (self == NULL) return;
  if (self->transform != NULL) cmsDeleteTransform(self->transform);
  if (self->context != NULL) cmsDeleteContext(self->context);
  free(self);
}

void clcms_guess_cmyk(uint8_t *pixels, size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint8_t *pixel = pixels + i * 4;
    uint32_t black = pixel[3];
    for (int channel = 0; channel < 3; channel++) pixel[channel] = (uint8_t)(pixel[channel] * black / 255);
    pixel[3] = 255;
  }
}

#include "CAVIF.h"

#include <avif/avif.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  cpixels_reader base;
  avifDecoder *decoder;
  uint8_t *pixels;
  // The visible part of each frame.
  avifCropRect part;
} reader;

static void close_reader(cpixels_reader *base) {
  reader *self = (reader *)base;
  if (self->decoder != NULL) avifDecoderDestroy(self->decoder);
  free(self->pixels);
  free(self);
}

static size_t cost(const cpixels_reader *base, uint32_t width, uint32_t height) {
  (void)width;
  (void)height;
  const reader *self = (const reader *)base;
  // The planes of the codec, including reference frames, and the RGBA frame.
  uint64_t sample = self->decoder->image->depth > 8 ? 2 : 1;
  return (uint64_t)self->decoder->image->width * self->decoder->image->height * (4 + 4 * sample);
}

static cpixels_status fail(reader *self, const char *reason) {
  snprintf(self->base.reason, sizeof self->base.reason, "%s", reason);
  return CPIXELS_FAILED;
}

/// The rotation and mirroring of the file (ISO/IEC 23008-12 §6.5.10 and §6.5.12), as an EXIF orientation.
///
/// The orientation in EXIF metadata has no effect in this format. Rotations are anticlockwise and precede mirroring.
static int32_t orientation(const avifImage *image) {
  static const int32_t turned[] = {1, 8, 3, 6};
  int angle = (image->transformFlags & AVIF_TRANSFORM_IROT) != 0 ? image->irot.angle & 3 : 0;
  if ((image->transformFlags & AVIF_TRANSFORM_IMIR) == 0) return turned[angle];
  // Mode 0 swaps top and bottom, mode 1 left and right.
  static const int32_t flipped[] = {4, 5, 2, 7}, mirrored[] = {2, 7, 4, 5};
  return image->imir.mode == 0 ? flipped[angle] : mirrored[angle];
}

/// The clean aperture (ISO/IEC 14496-12 §12.1.4); the whole image if it is absent or invalid.
static avifCropRect visible_part(const avifImage *image) {
  avifCropRect part;
  avifDiagnostics diagnostics;
  if ((image->transformFlags & AVIF_TRANSFORM_CLAP) != 0 &&
      avifCropRectConvertCleanApertureBox(&part, &image->clap, image->width, image->height, image->yuvFormat,
                                          &diagnostics)) {
    return part;
  }
  return (avifCropRect){.width = image->width, .height = image->height};
}

/// The duration of a frame in milliseconds.
static uint32_t duration(const avifImageTiming *timing) {
  double value = timing->duration * 1000;
  return value >= UINT32_MAX ? UINT32_MAX : value > 0 ? (uint32_t)value : 0;
}

static cpixels_status next(cpixels_reader *base, uint32_t width, uint32_t height, size_t memory,
                           cpixels_frame *frame) {
  (void)width;
  (void)height;
  reader *self = (reader *)base;
  avifResult result = avifDecoderNextImage(self->decoder);
  if (result == AVIF_RESULT_NO_IMAGES_REMAINING) return CPIXELS_END;
  if (result != AVIF_RESULT_OK) return fail(self, avifResultToString(result));
  if (cpixels_is_stopped(base->stop)) return CPIXELS_STOPPED;
  const avifImage *image = self->decoder->image;
  size_t size = cpixels_size(image->width, image->height, memory);
  free(self->pixels);
  self->pixels = size == 0 ? NULL : malloc(size);
  if (self->pixels == NULL) return fail(self, "not enough memory");
  avifRGBImage rgb;
  avifRGBImageSetDefaults(&rgb, image);
  rgb.format = AVIF_RGB_FORMAT_RGBA;
  rgb.depth = 8;
  rgb.pixels = self->pixels;
  rgb.rowBytes = image->width * 4;
  result = avifImageYUVToRGB(image, &rgb);
  if (result != AVIF_RESULT_OK) return fail(self, avifResultToString(result));
  const avifCropRect *part = &self->part;
  if ((uint64_t)part->x + part->width > image->width || (uint64_t)part->y + part->height > image->height) {
    return fail(self, "a frame has another size");
  }
  *frame = (cpixels_frame){
      .pixels = self->pixels + ((size_t)part->y * image->width + part->x) * 4,
      .width = part->width,
      .height = part->height,
      .stride = (size_t)image->width * 4,
      .layout = CPIXELS_RGBA,
      .is_opaque = image->alphaPlane == NULL || cpixels_is_opaque(self->pixels, size / 4),
      .duration = duration(&self->decoder->imageTiming),
  };
  return CPIXELS_WHOLE;
}

cpixels_reader *cavif_open(const uint8_t *bytes, size_t count, const cpixels_stop *stop, char *reason, size_t size) {
  reader *self = calloc(1, sizeof *self);
  if (self == NULL) {
    snprintf(reason, size, "not enough memory");
    return NULL;
  }
  self->base.stop = stop;
  self->base.cost = cost;
  self->base.next = next;
  self->base.close = close_reader;
  self->decoder = avifDecoderCreate();
  if (self->decoder == NULL) {
    snprintf(reason, size, "libavif did not initialise");
    close_reader(&self->base);
    return NULL;
  }
  self->decoder->ignoreExif = AVIF_TRUE;
  self->decoder->ignoreXMP = AVIF_TRUE;
  // Many encoders omit properties that the standard requires.
  self->decoder->strictFlags = AVIF_STRICT_DISABLED;
  avifResult result = avifDecoderSetIOMemory(self->decoder, bytes, count);
  if (result == AVIF_RESULT_OK) result = avifDecoderParse(self->decoder);
  if (result != AVIF_RESULT_OK) {
    snprintf(reason, size, "%s", avifResultToString(result));
    close_reader(&self->base);
    return NULL;
  }
  const avifImage *image = self->decoder->image;
  self->part = visible_part(image);
  self->base.head.width = self->part.width;
  self->base.head.height = self->part.height;
  // The caller has checked the size in the header, so libavif must refuse a larger coded frame.
  uint64_t area = (uint64_t)image->width * image->height;
  if (area < self->decoder->imageSizeLimit) self->decoder->imageSizeLimit = area < 65536 ? 65536 : (uint32_t)area;
  self->base.head.frames = self->decoder->imageCount > 0 ? (uint32_t)self->decoder->imageCount : 0;
  self->base.head.orientation = orientation(image);
  self->base.head.is_gray = image->yuvFormat == AVIF_PIXEL_FORMAT_YUV400;
  if (image->icc.size > 0) {
    self->base.head.profile = image->icc.data;
    self->base.head.profile_size = image->icc.size;
  }
  self->base.head.colors.primaries = image->colorPrimaries;
  self->base.head.colors.transfer = image->transferCharacteristics;
  return &self->base;
}

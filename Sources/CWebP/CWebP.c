#include "CWebP.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>
#include <webp/demux.h>

typedef struct {
  cpixels_reader base;
  WebPData data;
  WebPDemuxer *demuxer;
  WebPChunkIterator profile;
  WebPAnimDecoder *animation;
  WebPBitstreamFeatures features;
  uint8_t *pixels;
  int shown_until;
  bool is_started;
} reader;

static void close_reader(cpixels_reader *base) {
  reader *self = (reader *)base;
  WebPAnimDecoderDelete(self->animation);
  WebPDemuxReleaseChunkIterator(&self->profile);
  WebPDemuxDelete(self->demuxer);
  free(self->pixels);
  free(self);
}

/// The size to decode at: as wanted, but not larger than the picture.
static void fit(const cpixels_reader *base, uint32_t *width, uint32_t *height) {
  if (*width > base->head.width || *height > base->head.height || *width == 0 || *height == 0) {
    *width = base->head.width;
    *height = base->head.height;
  }
}

static size_t cost(const cpixels_reader *base, uint32_t width, uint32_t height) {
  const reader *self = (const reader *)base;
  uint64_t area = (uint64_t)base->head.width * base->head.height;
  // The canvas is kept twice (libwebp's src/demux/anim_decode.c).
  if (self->features.has_animation) return area * 8;
  fit(base, &width, &height);
  // A lossless picture is unpacked whole; of a lossy one, some rows of blocks are.
  bool is_lossless = self->features.format == 2;
  return (uint64_t)width * height * 4 + (is_lossless ? area * 4 : (uint64_t)base->head.width * 128);
}

static cpixels_status fail(reader *self, const char *reason) {
  snprintf(self->base.reason, sizeof self->base.reason, "%s", reason);
  return CPIXELS_FAILED;
}

static cpixels_status next_of_animation(reader *self, cpixels_frame *frame) {
  if (self->animation == NULL) {
    WebPAnimDecoderOptions options;
    WebPAnimDecoderOptionsInit(&options);
    options.color_mode = MODE_RGBA;
    self->animation = WebPAnimDecoderNew(&self->data, &options);
    if (self->animation == NULL) return fail(self, "the animation is damaged");
  }
  if (!WebPAnimDecoderHasMoreFrames(self->animation)) return CPIXELS_END;
  uint8_t *canvas = NULL;
  int until = 0;
  if (!WebPAnimDecoderGetNext(self->animation, &canvas, &until)) return fail(self, "a frame is damaged");
  uint32_t width = self->base.head.width, height = self->base.head.height;
  *frame = (cpixels_frame){
      .pixels = canvas,
      .width = width,
      .height = height,
      .stride = (size_t)width * 4,
      .layout = CPIXELS_RGBA,
      .is_opaque = cpixels_is_opaque(canvas, (size_t)width * height),
      .duration = until > self->shown_until ? (uint32_t)(until - self->shown_until) : 0,
  };
  self->shown_until = until;
  return CPIXELS_WHOLE;
}

/// The bytes go in by portions, so that somebody may stop it in between.
static VP8StatusCode feed(reader *self, WebPIDecoder *decoder) {
  const size_t portion = 1 << 16;
  VP8StatusCode status = VP8_STATUS_SUSPENDED;
  for (size_t end = 0; end < self->data.size && status == VP8_STATUS_SUSPENDED;) {
    if (cpixels_is_stopped(self->base.stop)) return VP8_STATUS_USER_ABORT;
    end = self->data.size - end > portion ? end + portion : self->data.size;
    status = WebPIUpdate(decoder, self->data.bytes, end);
  }
  return status;
}

static cpixels_status next_still(reader *self, uint32_t width, uint32_t height, size_t memory,
                                 cpixels_frame *frame) {
  fit(&self->base, &width, &height);
  size_t size = cpixels_size(width, height, memory);
  self->pixels = size == 0 ? NULL : calloc(1, size);
  if (self->pixels == NULL) return fail(self, "not enough memory");
  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config)) return fail(self, "libwebp is of another version");
  bool is_smaller = width != self->base.head.width || height != self->base.head.height;
  config.options.use_scaling = is_smaller;
  config.options.scaled_width = (int)width;
  config.options.scaled_height = (int)height;
  config.output.colorspace = MODE_RGBA;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = self->pixels;
  config.output.u.RGBA.stride = (int)width * 4;
  config.output.u.RGBA.size = size;
  WebPIDecoder *decoder = WebPIDecode(NULL, 0, &config);
  if (decoder == NULL) return fail(self, "not enough memory");
  VP8StatusCode status = feed(self, decoder);
  int rows = 0;
  if (WebPIDecGetRGB(decoder, &rows, NULL, NULL, NULL) == NULL) rows = 0;
  WebPIDelete(decoder);
  WebPFreeDecBuffer(&config.output);
  if (status == VP8_STATUS_USER_ABORT) return CPIXELS_STOPPED;
  bool is_whole = status == VP8_STATUS_OK;
  if (!is_whole && rows <= 0) return fail(self, status == VP8_STATUS_SUSPENDED ? "the data end too early" : "damaged");
  bool has_all = is_whole || rows >= (int)height;
  *frame = (cpixels_frame){
      .pixels = self->pixels,
      .width = width,
      .height = height,
      .stride = (size_t)width * 4,
      .layout = CPIXELS_RGBA,
      .is_opaque = has_all && (!self->features.has_alpha || cpixels_is_opaque(self->pixels, size / 4)),
  };
  return is_whole ? CPIXELS_WHOLE : CPIXELS_DAMAGED;
}

static cpixels_status next(cpixels_reader *base, uint32_t width, uint32_t height, size_t memory,
                           cpixels_frame *frame) {
  reader *self = (reader *)base;
  if (self->features.has_animation) return next_of_animation(self, frame);
  if (self->is_started) return CPIXELS_END;
  self->is_started = true;
  return next_still(self, width, height, memory, frame);
}

static void read_metadata(reader *self) {
  WebPDemuxState state;
  self->demuxer = WebPDemuxPartial(&self->data, &state);
  if (self->demuxer == NULL) return;
  if (self->features.has_animation) {
    self->base.head.frames = WebPDemuxGetI(self->demuxer, WEBP_FF_FRAME_COUNT);
    self->base.head.loops = WebPDemuxGetI(self->demuxer, WEBP_FF_LOOP_COUNT);
  }
  if (WebPDemuxGetChunk(self->demuxer, "ICCP", 1, &self->profile)) {
    self->base.head.profile = self->profile.chunk.bytes;
    self->base.head.profile_size = self->profile.chunk.size;
  }
  WebPChunkIterator exif;
  if (WebPDemuxGetChunk(self->demuxer, "EXIF", 1, &exif)) {
    const uint8_t *bytes = exif.chunk.bytes;
    size_t count = exif.chunk.size;
    // Some programs write the mark of JPEG's segment in front.
    size_t mark = count > 6 && memcmp(bytes, "Exif\0", 6) == 0 ? 6 : 0;
    self->base.head.orientation = cpixels_exif_orientation(bytes + mark, count - mark);
    WebPDemuxReleaseChunkIterator(&exif);
  }
}

cpixels_reader *cwebp_open(const uint8_t *bytes, size_t count, const cpixels_stop *stop, char *reason, size_t size) {
  reader *self = calloc(1, sizeof *self);
  if (self == NULL) {
    snprintf(reason, size, "not enough memory");
    return NULL;
  }
  self->data = (WebPData){.bytes = bytes, .size = count};
  self->base.stop = stop;
  self->base.cost = cost;
  self->base.next = next;
  self->base.close = close_reader;
  self->base.head.frames = 1;
  self->base.head.orientation = 1;
  VP8StatusCode status = WebPGetFeatures(bytes, count, &self->features);
  if (status != VP8_STATUS_OK) {
    snprintf(reason, size, "%s", status == VP8_STATUS_NOT_ENOUGH_DATA ? "the data end too early" : "no WebP");
    close_reader(&self->base);
    return NULL;
  }
  self->base.head.width = (uint32_t)self->features.width;
  self->base.head.height = (uint32_t)self->features.height;
  read_metadata(self);
  return &self->base;
}

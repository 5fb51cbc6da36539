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
  // For a truncated animation: the end of the last complete frame, and a file with the complete frames.
  size_t complete_end;
  uint8_t *complete;
  uint8_t *pixels;
  int shown_until;
  bool is_started, is_truncated;
} reader;

static void close_reader(cpixels_reader *base) {
  reader *self = (reader *)base;
  WebPAnimDecoderDelete(self->animation);
  free(self->complete);
  WebPDemuxReleaseChunkIterator(&self->profile);
  WebPDemuxDelete(self->demuxer);
  free(self->pixels);
  free(self);
}

/// Limits the requested size to the size of the image.
static void fit(const cpixels_reader *base, uint32_t *width, uint32_t *height) {
  if (*width > base->head.width || *height > base->head.height || *width == 0 || *height == 0) {
    *width = base->head.width;
    *height = base->head.height;
  }
}

static size_t cost(const cpixels_reader *base, uint32_t width, uint32_t height) {
  const reader *self = (const reader *)base;
  uint64_t area = (uint64_t)base->head.width * base->head.height;
  // libwebp stores two canvases (src/demux/anim_decode.c) and, for a lossless frame, all of its pixels.
  if (self->features.has_animation) return area * 12 + self->complete_end;
  fit(base, &width, &height);
  // libwebp stores all pixels of a lossless image, and some rows of blocks of a lossy one.
  bool is_lossless = self->features.format == 2;
  return (uint64_t)width * height * 4 + (is_lossless ? area * 4 : (uint64_t)base->head.width * 128);
}

static cpixels_status fail(reader *self, const char *reason) {
  snprintf(self->base.reason, sizeof self->base.reason, "%s", reason);
  return CPIXELS_FAILED;
}

static uint64_t read_size(const uint8_t *bytes) {
  return bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 | (uint64_t)bytes[3] << 24;
}

/// Checks whether an animation is truncated, and finds the end of its last complete frame (RFC 9649, section 2).
static void find_complete_frames(reader *self) {
  enum { of_file = 12, of_chunk = 8 };
  const uint8_t *bytes = self->data.bytes;
  size_t count = self->data.size;
  if (count < of_file || read_size(bytes + 4) + 8 <= count) return;
  self->is_truncated = true;
  for (uint64_t place = of_file; place + of_chunk <= count;) {
    uint64_t size = read_size(bytes + place + 4);
    uint64_t end = place + of_chunk + size + (size & 1);
    if (end > count) return;
    if (memcmp(bytes + place, "ANMF", 4) == 0) self->complete_end = end;
    place = end;
  }
}

/// The file; for a truncated animation, a file with its complete frames, because libwebp plays only complete files.
static bool playable(reader *self, WebPData *file) {
  *file = self->data;
  if (!self->is_truncated) return true;
  if (self->complete == NULL) self->complete = malloc(self->complete_end);
  if (self->complete == NULL) return false;
  memcpy(self->complete, self->data.bytes, self->complete_end);
  for (int i = 0; i < 4; i++) self->complete[4 + i] = (uint8_t)((self->complete_end - 8) >> (8 * i));
  *file = (WebPData){.bytes = self->complete, .size = self->complete_end};
  return true;
}

static cpixels_status start_animation(reader *self) {
  if (self->is_truncated && self->complete_end == 0) return fail(self, "the data end too early");
  WebPData file;
  if (!playable(self, &file)) return fail(self, "not enough memory");
  WebPAnimDecoderOptions options;
  WebPAnimDecoderOptionsInit(&options);
  options.color_mode = MODE_RGBA;
  self->animation = WebPAnimDecoderNew(&file, &options);
  return self->animation == NULL ? fail(self, "the animation is damaged") : CPIXELS_WHOLE;
}

static cpixels_status next_of_animation(reader *self, cpixels_frame *frame) {
  if (self->animation == NULL && start_animation(self) != CPIXELS_WHOLE) return CPIXELS_FAILED;
  if (!WebPAnimDecoderHasMoreFrames(self->animation)) {
    return self->is_truncated ? fail(self, "the data end too early") : CPIXELS_END;
  }
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

/// Passes the bytes to the decoder in portions, so that decoding can stop between them.
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
  if (!WebPInitDecoderConfig(&config)) return fail(self, "libwebp has an incompatible version");
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
  if (!is_whole && rows <= 0) {
    return fail(self, status == VP8_STATUS_SUSPENDED ? "the data end too early" : "the data are damaged");
  }
  bool has_all = is_whole || rows >= (int)height;
  // In a lossless image, the alpha flag of the header is only a hint (RFC 9649, section 3.4).
  bool may_have_alpha = self->features.has_alpha || self->features.format == 2;
  *frame = (cpixels_frame){
      .pixels = self->pixels,
      .width = width,
      .height = height,
      .stride = (size_t)width * 4,
      .layout = CPIXELS_RGBA,
      .is_opaque = has_all && (!may_have_alpha || cpixels_is_opaque(self->pixels, size / 4)),
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
    // Some programs write the prefix of a JPEG segment first.
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
    snprintf(reason, size, "%s", status == VP8_STATUS_NOT_ENOUGH_DATA ? "the data end too early" : "not a WebP");
    close_reader(&self->base);
    return NULL;
  }
  self->base.head.width = (uint32_t)self->features.width;
  self->base.head.height = (uint32_t)self->features.height;
  read_metadata(self);
  if (self->features.has_animation) find_complete_frames(self);
  return &self->base;
}

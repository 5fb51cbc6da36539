#include "CPNG.h"
#include "orientation.h"

#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  // Images in feeds need no larger texts and profiles.
  maximum_chunk_bytes = 4 << 20,
  maximum_chunks = 1000,
  // A sum of this many bytes fits in 16 bits.
  maximum_block_side = 128,
};

static const uint8_t cicp[] = "cICP";

typedef struct {
  cpixels_reader base;
  png_structp png;
  png_infop info;
  const uint8_t *bytes;
  size_t count, place;
  uint8_t *pixels;
  bool is_stopped, is_started, is_at_end, is_interlaced, has_alpha;
  // The number of complete passes of an interlaced image.
  int passes;
  // The row just decoded, and the sums of the rows of the current blocks.
  uint8_t *row;
  uint16_t *sums;
} reader;

static void fail(png_structp png, png_const_charp text) {
  reader *self = png_get_error_ptr(png);
  snprintf(self->base.reason, sizeof self->base.reason, "%s", text);
  png_longjmp(png, 1);
}

static void ignore_warning(png_structp png, png_const_charp text) {
  (void)png;
  (void)text;
}

static void give_bytes(png_structp png, png_bytep target, png_size_t count) {
  reader *self = png_get_io_ptr(png);
  if (count > self->count - self->place) png_error(png, "the data end too early");
  memcpy(target, self->bytes + self->place, count);
  self->place += count;
}

static void close_reader(cpixels_reader *base) {
  reader *self = (reader *)base;
  png_destroy_read_struct(&self->png, &self->info, NULL);
  free(self->pixels);
  free(self->row);
  free(self->sums);
  free(self);
}

/// The side of the square blocks that are averaged during decoding, so that a large image is never stored as a whole.
///
/// The result has at least twice the requested size. The resampling does the rest.
static uint32_t block(const reader *self, uint32_t width, uint32_t height) {
  if (self->is_interlaced || width == 0 || height == 0) return 1;
  uint32_t across = self->base.head.width / width, down = self->base.head.height / height;
  uint32_t side = (across < down ? across : down) / 2;
  return side < 1 ? 1 : side > maximum_block_side ? maximum_block_side : side;
}

static size_t cost(const cpixels_reader *base, uint32_t width, uint32_t height) {
  uint64_t side = block((const reader *)base, width, height);
  uint64_t area = (base->head.width / side + 1) * (base->head.height / side + 1);
  // Some rows of up to 16 bits a channel are stored beside the image.
  return (area + (uint64_t)base->head.width * 8) * 4;
}

static cpixels_status read_rows(reader *self, size_t stride, int passes) {
  if (setjmp(png_jmpbuf(self->png))) return self->is_stopped ? CPIXELS_STOPPED : CPIXELS_DAMAGED;
  for (int pass = 0; pass < passes; pass++) {
    for (uint32_t row = 0; row < self->base.head.height; row++) {
      if (cpixels_is_stopped(self->base.stop)) {
        self->is_stopped = true;
        return CPIXELS_STOPPED;
      }
      // Each pass of an interlaced image refines the earlier ones.
      png_read_row(self->png, NULL, self->pixels + row * stride);
    }
    self->passes = pass + 1;
  }
  self->is_at_end = true;
  png_read_end(self->png, NULL);
  return CPIXELS_WHOLE;
}

/// Writes the averages of the blocks, and resets the sums of their rows.
static void average(reader *self, uint8_t *target, uint32_t side, uint32_t rows) {
  uint32_t width = self->base.head.width;
  for (uint32_t left = 0; left < width; left += side, target += 4) {
    uint32_t right = width - left < side ? width : left + side;
    uint32_t sums[4] = {0};
    for (uint32_t x = left; x < right; x++) {
      for (int channel = 0; channel < 4; channel++) sums[channel] += self->sums[x * 4 + channel];
    }
    uint32_t count = (right - left) * rows;
    for (int channel = 0; channel < 4; channel++) target[channel] = (uint8_t)((sums[channel] + count / 2) / count);
  }
  memset(self->sums, 0, (size_t)width * 8);
}

static cpixels_status read_blocks(reader *self, size_t stride, uint32_t side) {
  if (setjmp(png_jmpbuf(self->png))) return self->is_stopped ? CPIXELS_STOPPED : CPIXELS_DAMAGED;
  uint32_t width = self->base.head.width, height = self->base.head.height;
  for (uint32_t y = 0; y < height; y++) {
    if (cpixels_is_stopped(self->base.stop)) {
      self->is_stopped = true;
      return CPIXELS_STOPPED;
    }
    png_read_row(self->png, self->row, NULL);
    // Transparent pixels must not affect the colour.
    if (self->has_alpha) cpixels_premultiply(self->row, width);
    for (size_t i = 0; i < (size_t)width * 4; i++) self->sums[i] = (uint16_t)(self->sums[i] + self->row[i]);
    if ((y + 1) % side != 0 && y + 1 != height) continue;
    uint8_t *target = self->pixels + y / side * stride;
    average(self, target, side, y % side + 1);
    if (self->has_alpha) cpixels_unpremultiply(target, stride / 4);
  }
  self->is_at_end = true;
  png_read_end(self->png, NULL);
  return CPIXELS_WHOLE;
}

static bool prepare(reader *self, int *passes) {
  if (setjmp(png_jmpbuf(self->png))) return false;
  self->has_alpha = (png_get_color_type(self->png, self->info) & PNG_COLOR_MASK_ALPHA) != 0 ||
                    png_get_valid(self->png, self->info, PNG_INFO_tRNS) != 0;
  png_set_expand(self->png);
  png_set_scale_16(self->png);
  png_set_gray_to_rgb(self->png);
  png_set_add_alpha(self->png, 0xFF, PNG_FILLER_AFTER);
  *passes = png_set_interlace_handling(self->png);
  png_read_update_info(self->png, self->info);
  return true;
}

static cpixels_status next(cpixels_reader *base, uint32_t width, uint32_t height, size_t memory,
                           cpixels_frame *frame) {
  reader *self = (reader *)base;
  if (self->is_started) return CPIXELS_END;
  self->is_started = true;
  int passes = 1;
  if (!prepare(self, &passes)) return CPIXELS_FAILED;
  uint32_t side = block(self, width, height);
  uint32_t across = (base->head.width + side - 1) / side, down = (base->head.height + side - 1) / side;
  size_t size = cpixels_size(across, down, memory);
  size_t stride = (size_t)across * 4;
  if (png_get_rowbytes(self->png, self->info) != (size_t)base->head.width * 4) {
    snprintf(base->reason, sizeof base->reason, "unknown pixel format");
    return CPIXELS_FAILED;
  }
  // Missing rows stay transparent.
  self->pixels = size == 0 ? NULL : calloc(1, size);
  if (side > 1) {
    self->row = malloc((size_t)base->head.width * 4);
    self->sums = calloc((size_t)base->head.width * 4, sizeof *self->sums);
  }
  if (self->pixels == NULL || (side > 1 && (self->row == NULL || self->sums == NULL))) {
    snprintf(base->reason, sizeof base->reason, "not enough memory");
    return CPIXELS_FAILED;
  }
  cpixels_status status = side > 1 ? read_blocks(self, stride, side) : read_rows(self, stride, passes);
  if (status == CPIXELS_STOPPED) return status;
  // The width and height of the blocks that each number of passes determines (PNG specification, section 8.2).
  static const uint8_t block_width[] = {0, 8, 4, 4, 2, 2, 1, 1}, block_height[] = {0, 8, 8, 4, 4, 2, 2, 1};
  int known = self->is_interlaced ? self->passes : 0;
  *frame = (cpixels_frame){
      .pixels = self->pixels,
      .width = across,
      .height = down,
      .stride = stride,
      .layout = CPIXELS_RGBA,
      .is_opaque = (self->is_at_end && !self->has_alpha) || cpixels_is_opaque(self->pixels, size / 4),
      .known_width = known == 0 ? 0 : (base->head.width - 1) / block_width[known] + 1,
      .known_height = known == 0 ? 0 : (base->head.height - 1) / block_height[known] + 1,
  };
  // Errors after the last row do not affect the image.
  return self->is_at_end ? CPIXELS_WHOLE : status;
}

/// Reads the codes of a cICP chunk, which libpng 1.6.39 does not support.
static bool read_codes(reader *self, cpixels_colors *colors) {
  png_unknown_chunkp chunks;
  int count = png_get_unknown_chunks(self->png, self->info, &chunks);
  for (int i = 0; i < count; i++) {
    const uint8_t *codes = chunks[i].data;
    if (memcmp(chunks[i].name, cicp, sizeof cicp) != 0 || chunks[i].size != 4) continue;
    // Only full-range RGB is supported. Code 2 means unspecified.
    if (codes[2] != 0 || codes[3] != 1 || (codes[0] == 2 && codes[1] == 2)) continue;
    colors->primaries = codes[0];
    colors->transfer = codes[1];
    return true;
  }
  return false;
}

static void read_points_and_gamma(reader *self, cpixels_colors *colors) {
  cpixels_point *white = &colors->white, *red = &colors->red, *green = &colors->green, *blue = &colors->blue;
  colors->has_points = png_get_cHRM(self->png, self->info, &white->x, &white->y, &red->x, &red->y, &green->x,
                                    &green->y, &blue->x, &blue->y) != 0;
  double gamma;
  if (png_get_gAMA(self->png, self->info, &gamma) != 0 && gamma > 0) colors->exponent = 1 / gamma;
}

/// Reads the colour space, in the precedence of the PNG specification, third edition, section 4.3.
static void read_colors(reader *self) {
  png_charp name;
  int compression;
  png_bytep profile;
  png_uint_32 size;
  self->base.head.is_gray = (png_get_color_type(self->png, self->info) & PNG_COLOR_MASK_COLOR) == 0;
  if (read_codes(self, &self->base.head.colors)) return;
  if (png_get_iCCP(self->png, self->info, &name, &compression, &profile, &size) != 0) {
    self->base.head.profile = profile;
    self->base.head.profile_size = size;
    return;
  }
  if (png_get_valid(self->png, self->info, PNG_INFO_sRGB) == 0) read_points_and_gamma(self, &self->base.head.colors);
}

static bool read_head(reader *self) {
  if (setjmp(png_jmpbuf(self->png))) return false;
  png_set_read_fn(self->png, self, give_bytes);
  png_set_user_limits(self->png, 0x7FFFFFFF, 0x7FFFFFFF);
  png_set_chunk_malloc_max(self->png, maximum_chunk_bytes);
  png_set_chunk_cache_max(self->png, maximum_chunks);
  png_set_keep_unknown_chunks(self->png, PNG_HANDLE_CHUNK_ALWAYS, cicp, 1);
  png_read_info(self->png, self->info);
  self->base.head.width = png_get_image_width(self->png, self->info);
  self->base.head.height = png_get_image_height(self->png, self->info);
  self->is_interlaced = png_get_interlace_type(self->png, self->info) != PNG_INTERLACE_NONE;
  // libpng loses the last buffer of a truncated image, which has 4,096 bytes by default.
  if (self->is_interlaced) png_set_compression_buffer_size(self->png, 256);
  read_colors(self);
  return true;
}

cpixels_reader *cpng_open(const uint8_t *bytes, size_t count, const cpixels_stop *stop, char *reason, size_t size) {
  reader *self = calloc(1, sizeof *self);
  if (self == NULL) {
    snprintf(reason, size, "not enough memory");
    return NULL;
  }
  self->bytes = bytes;
  self->count = count;
  self->base.stop = stop;
  self->base.cost = cost;
  self->base.next = next;
  self->base.close = close_reader;
  self->base.head.frames = 1;
  self->base.head.orientation = cpng_orientation(bytes, count, maximum_chunk_bytes);
  self->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, self, fail, ignore_warning);
  self->info = self->png == NULL ? NULL : png_create_info_struct(self->png);
  if (self->info == NULL) snprintf(self->base.reason, sizeof self->base.reason, "libpng did not initialise");
  if (self->info == NULL || !read_head(self)) {
    snprintf(reason, size, "%s", self->base.reason);
    close_reader(&self->base);
    return NULL;
  }
  return &self->base;
}

bool cpng_write(FILE *file, const uint8_t *pixels, uint32_t width, uint32_t height) {
  png_image image = {.version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = PNG_FORMAT_RGBA};
  image.flags = PNG_IMAGE_FLAG_FAST;
  int is_whole = png_image_write_to_stdio(&image, file, 0, pixels, 0, NULL);
  png_image_free(&image);
  return is_whole && fflush(file) == 0;
}

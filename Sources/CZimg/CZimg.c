#include "CZimg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zimg.h>

// The alignment that the widest vector instructions need.
enum { alignment = 64 };

typedef struct {
  const czimg_source *source;
  uint8_t *target;
  size_t target_stride;
  zimg_image_buffer planes;
  czimg_fourth fourth;
} rows;

static uint8_t *line_of(const rows *self, int plane, unsigned row) {
  size_t line = row & self->planes.plane[plane].mask;
  return (uint8_t *)self->planes.plane[plane].data + line * (size_t)self->planes.plane[plane].stride;
}

/// Splits a part of a row into channels, and premultiplies alpha.
static int unpack(void *user, unsigned row, unsigned left, unsigned right) {
  const rows *self = user;
  if (cpixels_is_stopped(self->source->stop)) return 1;
  const uint8_t *restrict pixels = self->source->pixels + row * self->source->stride;
  uint8_t *restrict red = line_of(self, 0, row);
  uint8_t *restrict green = line_of(self, 1, row);
  uint8_t *restrict blue = line_of(self, 2, row);
  uint8_t *restrict fourth = self->fourth == CZIMG_NOTHING ? NULL : line_of(self, 3, row);
  for (unsigned x = left; x < right; x++) {
    red[x] = pixels[x * 4];
    green[x] = pixels[x * 4 + 1];
    blue[x] = pixels[x * 4 + 2];
  }
  for (unsigned x = left; fourth != NULL && x < right; x++) fourth[x] = pixels[x * 4 + 3];
  for (unsigned x = left; self->fourth == CZIMG_ALPHA && x < right; x++) {
    unsigned alpha = fourth[x];
    red[x] = (uint8_t)((red[x] * alpha + 127) / 255);
    green[x] = (uint8_t)((green[x] * alpha + 127) / 255);
    blue[x] = (uint8_t)((blue[x] * alpha + 127) / 255);
  }
  return 0;
}

/// Joins the channels. Limits each colour to its alpha, because the filter overshoots.
static int pack(void *user, unsigned row, unsigned left, unsigned right) {
  const rows *self = user;
  uint8_t *pixels = self->target + row * self->target_stride;
  for (int plane = 0; plane < 3; plane++) {
    const uint8_t *line = line_of(self, plane, row);
    for (unsigned x = left; x < right; x++) pixels[x * 4 + plane] = line[x];
  }
  const uint8_t *fourth = self->fourth == CZIMG_NOTHING ? NULL : line_of(self, 3, row);
  bool has_alpha = self->fourth == CZIMG_ALPHA || self->fourth == CZIMG_MULTIPLIED;
  for (unsigned x = left; x < right; x++) {
    uint8_t *pixel = pixels + x * 4;
    pixel[3] = fourth == NULL ? 255 : fourth[x];
    for (int plane = 0; has_alpha && plane < 3; plane++) {
      if (pixel[plane] > pixel[3]) pixel[plane] = pixel[3];
    }
  }
  return 0;
}

static zimg_filter_graph *build(const czimg_source *source, uint32_t width, uint32_t height) {
  zimg_image_format from, to;
  zimg_graph_builder_params params;
  zimg_image_format_default(&from, ZIMG_API_VERSION);
  zimg_image_format_default(&to, ZIMG_API_VERSION);
  zimg_graph_builder_params_default(&params, ZIMG_API_VERSION);
  from.width = source->width;
  from.height = source->height;
  from.pixel_type = ZIMG_PIXEL_BYTE;
  from.color_family = ZIMG_COLOR_RGB;
  from.matrix_coefficients = ZIMG_MATRIX_RGB;
  from.pixel_range = ZIMG_RANGE_FULL;
  // A fourth channel of any kind is filtered as the others are.
  from.alpha = source->fourth == CZIMG_NOTHING ? ZIMG_ALPHA_NONE : ZIMG_ALPHA_PREMULTIPLIED;
  to = from;
  from.active_region.left = source->left;
  from.active_region.top = source->top;
  from.active_region.width = source->shown_width;
  from.active_region.height = source->shown_height;
  to.width = width;
  to.height = height;
  params.resample_filter = ZIMG_RESIZE_LANCZOS;
  params.filter_param_a = 3;
  params.cpu_type = ZIMG_CPU_AUTO_64B;
  return zimg_filter_graph_build(&from, &to, &params);
}

/// Allocates four planes in one block, with as many lines as the graph needs at a time.
static uint8_t *make_buffer(zimg_image_buffer *buffer, unsigned count, uint32_t width, uint32_t height) {
  unsigned mask = zimg_select_buffer_mask(count);
  size_t lines = mask == ZIMG_BUFFER_MAX ? height : (size_t)mask + 1;
  size_t stride = ((size_t)width + alignment - 1) / alignment * alignment;
  uint8_t *block = aligned_alloc(alignment, stride * lines * 4);
  if (block == NULL) return NULL;
  buffer->version = ZIMG_API_VERSION;
  for (int plane = 0; plane < 4; plane++) {
    buffer->plane[plane].data = block + stride * lines * (size_t)plane;
    buffer->plane[plane].stride = (ptrdiff_t)stride;
    buffer->plane[plane].mask = mask;
  }
  return block;
}

static zimg_image_buffer_const as_const(const zimg_image_buffer *buffer) {
  zimg_image_buffer_const result = {.version = buffer->version};
  for (int plane = 0; plane < 4; plane++) {
    result.plane[plane].data = buffer->plane[plane].data;
    result.plane[plane].stride = buffer->plane[plane].stride;
    result.plane[plane].mask = buffer->plane[plane].mask;
  }
  return result;
}

static bool process(const zimg_filter_graph *graph, rows *input, rows *output, uint32_t width, uint32_t height) {
  unsigned input_lines = 0, output_lines = 0;
  size_t extra = 0;
  if (zimg_filter_graph_get_input_buffering(graph, &input_lines) != ZIMG_ERROR_SUCCESS ||
      zimg_filter_graph_get_output_buffering(graph, &output_lines) != ZIMG_ERROR_SUCCESS ||
      zimg_filter_graph_get_tmp_size(graph, &extra) != ZIMG_ERROR_SUCCESS) {
    return false;
  }
  uint8_t *from = make_buffer(&input->planes, input_lines, input->source->width, input->source->height);
  uint8_t *to = make_buffer(&output->planes, output_lines, width, height);
  uint8_t *temporary = aligned_alloc(alignment, (extra + alignment) / alignment * alignment);
  bool is_done = false;
  if (from != NULL && to != NULL && temporary != NULL) {
    zimg_image_buffer_const planes = as_const(&input->planes);
    is_done = zimg_filter_graph_process(graph, &planes, &output->planes, temporary, unpack, input, pack, output) ==
              ZIMG_ERROR_SUCCESS;
  }
  free(from);
  free(to);
  free(temporary);
  return is_done;
}

/// The number of pixels of a side to average before the filter.
///
/// The filter still gets at least 16 pixels for each resulting one.
static uint32_t step(double from, uint32_t to) {
  const double enough = 16;
  double times = from / to / enough;
  return times < 2 ? 1 : times > UINT16_MAX ? UINT16_MAX : (uint32_t)times;
}

static uint64_t quotient_up(uint64_t value, uint64_t divisor) { return (value + divisor - 1) / divisor; }

size_t czimg_cost(const czimg_source *source, uint32_t width, uint32_t height) {
  uint32_t across = step(source->shown_width, width), down = step(source->shown_height, height);
  // The filter has six lobes, and about 16 bytes for each pixel under them.
  double filters = (source->shown_width / across + source->shown_height / down) * 6 * 16;
  uint64_t area = quotient_up(source->width, across) * quotient_up(source->height, down);
  return (size_t)filters + (across > 1 || down > 1 ? area * 4 : 0);
}

/// Averages a block of pixels, with the colours weighted by alpha.
static void average(const czimg_source *source, uint64_t left, uint64_t top, uint64_t right, uint64_t bottom,
                    uint8_t *target) {
  uint64_t sums[4] = {0}, count = (right - left) * (bottom - top);
  for (uint64_t y = top; y < bottom; y++) {
    const uint8_t *pixel = source->pixels + y * source->stride + left * 4;
    for (uint64_t x = left; x < right; x++, pixel += 4) {
      uint32_t alpha = source->fourth == CZIMG_ALPHA ? pixel[3] : 255;
      for (int channel = 0; channel < 3; channel++) sums[channel] += pixel[channel] * alpha;
      sums[3] += pixel[3];
    }
  }
  for (int channel = 0; channel < 3; channel++) {
    target[channel] = (uint8_t)((sums[channel] + count * 255 / 2) / (count * 255));
  }
  target[3] = (uint8_t)((sums[3] + count / 2) / count);
}

/// Makes a smaller image by averaging blocks, until it is stopped. NULL if memory is exhausted.
static uint8_t *average_blocks(czimg_source *source, uint32_t across, uint32_t down) {
  uint64_t width = quotient_up(source->width, across), height = quotient_up(source->height, down);
  uint8_t *pixels = malloc(width * height * 4);
  if (pixels == NULL) return NULL;
  for (uint64_t y = 0; y < height && !cpixels_is_stopped(source->stop); y++) {
    uint64_t top = y * down, bottom = top + down < source->height ? top + down : source->height;
    for (uint64_t x = 0; x < width; x++) {
      uint64_t left = x * across, right = left + across < source->width ? left + across : source->width;
      average(source, left, top, right, bottom, pixels + (y * width + x) * 4);
    }
  }
  source->pixels = pixels;
  source->width = (uint32_t)width;
  source->height = (uint32_t)height;
  source->stride = width * 4;
  source->left /= across;
  source->top /= down;
  // The last block of a side may be smaller.
  source->shown_width = fmin(source->shown_width / across, (double)width - source->left);
  source->shown_height = fmin(source->shown_height / down, (double)height - source->top);
  if (source->fourth == CZIMG_ALPHA) source->fourth = CZIMG_MULTIPLIED;
  return pixels;
}

static bool resample(const czimg_source *source, uint8_t *target, uint32_t width, uint32_t height, char *reason,
                     size_t size) {
  rows input = {.source = source, .fourth = source->fourth};
  rows output = {.target = target, .target_stride = (size_t)width * 4, .fourth = source->fourth};
  zimg_filter_graph *graph = build(source, width, height);
  bool is_done = graph != NULL && process(graph, &input, &output, width, height);
  if (!is_done) {
    reason[0] = 0;
    zimg_get_last_error(reason, size);
    if (reason[0] == 0) snprintf(reason, size, "not enough memory");
  }
  zimg_filter_graph_free(graph);
  return is_done;
}

bool czimg_resample(const czimg_source *source, uint8_t *target, uint32_t width, uint32_t height, char *reason,
                    size_t size) {
  uint32_t across = step(source->shown_width, width), down = step(source->shown_height, height);
  if (across == 1 && down == 1) return resample(source, target, width, height, reason, size);
  czimg_source averaged = *source;
  uint8_t *pixels = average_blocks(&averaged, across, down);
  if (pixels == NULL) {
    snprintf(reason, size, "not enough memory");
    return false;
  }
  bool is_done = resample(&averaged, target, width, height, reason, size);
  free(pixels);
  return is_done;
}

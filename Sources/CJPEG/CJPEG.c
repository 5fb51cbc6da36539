#include "CJPEG.h"

#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// jpeglib.h needs stdio.h, but does not include it.
#include <jpeglib.h>
#include <jerror.h>

// A file of a few kilobytes can have thousands of scans, each as expensive as the whole image. Encoders write at
// most a few dozen.
enum { maximum_scans = 100 };

typedef struct {
  cpixels_reader base;
  struct jpeg_decompress_struct jpeg;
  struct jpeg_error_mgr errors;
  struct jpeg_progress_mgr progress;
  jmp_buf failure;
  const uint8_t *bytes;
  size_t count;
  uint8_t *pixels;
  JOCTET *profile;
  bool is_stopped, is_damaged, is_started, has_scans, has_gap, has_no_end;
  // The next row when the data ended.
  uint32_t last_row;
} reader;

static void fail(j_common_ptr common) {
  reader *self = common->client_data;
  char text[JMSG_LENGTH_MAX];
  common->err->format_message(common, text);
  snprintf(self->base.reason, sizeof self->base.reason, "%s", text);
  longjmp(self->failure, 1);
}

static void note(j_common_ptr common, int level) {
  reader *self = common->client_data;
  if (level >= 0) return;
  // Many images have stray bytes between segments or an unusual header, without visible damage.
  switch (common->err->msg_code) {
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_ADOBE_XFORM:
    case JWRN_JFIF_MAJOR:
    case JWRN_BOGUS_ICC:
      return;
    // Perhaps only the end marker is missing. `decode` checks the rest.
    case JWRN_JPEG_EOF: self->has_no_end = true; return;
    case JWRN_HIT_MARKER:
      self->has_gap = true;
      if (self->is_started && self->has_no_end && self->last_row == UINT32_MAX) {
        self->last_row = self->jpeg.output_scanline;
      }
      break;
    default: break;
  }
  self->is_damaged = true;
}

static void ignore_message(j_common_ptr common) { (void)common; }

static void check_progress(j_common_ptr common) {
  reader *self = common->client_data;
  if (cpixels_is_stopped(self->base.stop)) {
    self->is_stopped = true;
    longjmp(self->failure, 1);
  }
  if (self->jpeg.input_scan_number > maximum_scans) {
    snprintf(self->base.reason, sizeof self->base.reason, "more than %d scans", maximum_scans);
    longjmp(self->failure, 1);
  }
}

static void close_reader(cpixels_reader *base) {
  reader *self = (reader *)base;
  jpeg_destroy_decompress(&self->jpeg);
  free(self->pixels);
  free(self->profile);
  free(self);
}

/// The smallest scale, in eighths, at which the image has at least the requested size.
static unsigned eighths(const reader *self, uint32_t width, uint32_t height) {
  for (unsigned part = 1; part < 8; part *= 2) {
    if ((uint64_t)self->base.head.width * part >= (uint64_t)width * 8 &&
        (uint64_t)self->base.head.height * part >= (uint64_t)height * 8) {
      return part;
    }
  }
  return 8;
}

static size_t cost(const cpixels_reader *base, uint32_t width, uint32_t height) {
  const reader *self = (const reader *)base;
  unsigned part = eighths(self, width, height);
  uint64_t area = (uint64_t)base->head.width * base->head.height;
  uint64_t bytes = (area * part * part / 64 + base->head.width) * 4;
  // libjpeg keeps all coefficients until the last scan, two bytes each.
  if (self->has_scans) bytes += area * 2 * (unsigned)self->jpeg.num_components;
  return bytes;
}

static void clear_rest(reader *self, uint32_t first, cpixels_frame *frame) {
  frame->missing_rows = self->jpeg.output_height - first;
  frame->is_opaque = false;
  // 255 is no ink.
  int nothing = frame->layout == CPIXELS_CMYK ? 255 : 0;
  memset(self->pixels + first * frame->stride, nothing, frame->missing_rows * frame->stride);
}

/// The largest scale, in eighths, at which the received scans determine every pixel.
///
/// A coefficient counts as known if at most its lowest bit is missing.
static unsigned known_eighths(const reader *self) {
  // For each coefficient in zigzag order, the greater of its row and column (ITU-T T.81, figure A.6).
  static const uint8_t sides[DCTSIZE2] = {
      0, 1, 1, 2, 1, 2, 3, 2, 2, 3, 4, 3, 2, 3, 4, 5, 4, 3, 3, 4, 5, 6, 5, 4, 3, 4, 5, 6, 7, 6, 5, 4,
      4, 5, 6, 7, 7, 6, 5, 4, 5, 6, 7, 7, 6, 5, 5, 6, 7, 7, 6, 5, 6, 7, 7, 6, 6, 7, 7, 6, 7, 7, 7, 7,
  };
  const struct jpeg_decompress_struct *jpeg = &self->jpeg;
  // libjpeg counts an interrupted scan as complete.
  if (!jpeg->progressive_mode || jpeg->coef_bits == NULL || self->has_gap) return 0;
  unsigned known = 8;
  for (int component = 0; component < jpeg->num_components; component++) {
    for (int place = 0; place < DCTSIZE2; place++) {
      int bits = jpeg->coef_bits[component][place];
      if ((bits < 0 || bits > 1) && sides[place] < known) known = sides[place];
    }
  }
  return known;
}

/// Whether the scans are complete for every component. No scan may be interrupted.
static bool has_all_scans(const reader *self) {
  const struct jpeg_decompress_struct *jpeg = &self->jpeg;
  for (int component = 0; component < jpeg->num_components; component++) {
    // libjpeg sets the table when the first scan of a component begins.
    if (jpeg->comp_info[component].quant_table == NULL) return false;
    if (!jpeg->progressive_mode || jpeg->coef_bits == NULL) continue;
    for (int place = 0; place < DCTSIZE2; place++) {
      if (jpeg->coef_bits[component][place] != 0) return false;
    }
  }
  return true;
}

static cpixels_status decode(reader *self, uint32_t width, uint32_t height, size_t memory, cpixels_frame *frame) {
  struct jpeg_decompress_struct *jpeg = &self->jpeg;
  if (setjmp(self->failure)) {
    if (self->is_stopped) return CPIXELS_STOPPED;
    // Use the rows from before the error.
    if (self->pixels == NULL || jpeg->output_scanline == 0) return CPIXELS_FAILED;
    if (self->last_row == UINT32_MAX) self->last_row = jpeg->output_scanline;
    clear_rest(self, jpeg->output_scanline, frame);
    return CPIXELS_DAMAGED;
  }
  bool is_cmyk = jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK;
  jpeg->out_color_space = is_cmyk ? JCS_CMYK : JCS_EXT_RGBA;
  jpeg->scale_num = eighths(self, width, height);
  jpeg->scale_denom = 8;
  jpeg->mem->max_memory_to_use = memory > LONG_MAX ? LONG_MAX : (long)memory;
  jpeg->progress = &self->progress;
  jpeg_start_decompress(jpeg);
  size_t size = cpixels_size(jpeg->output_width, jpeg->output_height, memory);
  self->pixels = size == 0 ? NULL : malloc(size);
  if (self->pixels == NULL) {
    snprintf(self->base.reason, sizeof self->base.reason, "not enough memory");
    return CPIXELS_FAILED;
  }
  size_t stride = (size_t)jpeg->output_width * 4;
  *frame = (cpixels_frame){
      .pixels = self->pixels,
      .width = jpeg->output_width,
      .height = jpeg->output_height,
      .stride = stride,
      .layout = is_cmyk ? CPIXELS_CMYK : CPIXELS_RGBA,
      .is_opaque = !is_cmyk,
  };
  while (jpeg->output_scanline < jpeg->output_height) {
    JSAMPROW row = self->pixels + jpeg->output_scanline * stride;
    jpeg_read_scanlines(jpeg, &row, 1);
  }
  unsigned known = known_eighths(self);
  frame->known_width = (uint32_t)(((uint64_t)self->base.head.width * known + 7) / 8);
  frame->known_height = (uint32_t)(((uint64_t)self->base.head.height * known + 7) / 8);
  bool is_complete = has_all_scans(self);
  // After the last row, only the end marker can be missing.
  jpeg_finish_decompress(jpeg);
  if (self->has_no_end && !is_complete) self->is_damaged = true;
  // In a baseline image, libjpeg fills the rows after the end of the data with grey.
  if (!jpeg->progressive_mode && self->last_row < jpeg->output_height) clear_rest(self, self->last_row, frame);
  return self->is_damaged ? CPIXELS_DAMAGED : CPIXELS_WHOLE;
}

/// Drops the last scan, whose header is damaged, so that the earlier scans can be decoded.
static bool drop_last_scan(reader *self) {
  size_t place = self->count - self->jpeg.src->bytes_in_buffer;
  // These markers cannot occur within the data of a scan (ITU-T T.81 §B.1.1.5).
  for (; place >= 2; place--) {
    const uint8_t *mark = self->bytes + place - 2;
    if (mark[0] == 0xFF && (mark[1] == 0xDA || mark[1] == 0xC4)) break;
  }
  if (place < 2) return false;
  self->count = place - 2;
  jpeg_abort_decompress(&self->jpeg);
  if (setjmp(self->failure)) return false;
  jpeg_mem_src(&self->jpeg, self->bytes, self->count);
  return jpeg_read_header(&self->jpeg, TRUE) == JPEG_HEADER_OK;
}

static cpixels_status next(cpixels_reader *base, uint32_t width, uint32_t height, size_t memory,
                           cpixels_frame *frame) {
  reader *self = (reader *)base;
  if (self->is_started) return CPIXELS_END;
  self->is_started = true;
  cpixels_status status = decode(self, width, height, memory, frame);
  bool can_retry = status == CPIXELS_FAILED && self->has_scans && self->pixels == NULL;
  if (can_retry && self->jpeg.input_scan_number <= maximum_scans && drop_last_scan(self)) {
    self->last_row = UINT32_MAX;
    status = decode(self, width, height, memory, frame);
    if (status == CPIXELS_WHOLE) status = CPIXELS_DAMAGED;
  }
  return status;
}

static int32_t orientation(const struct jpeg_decompress_struct *jpeg) {
  static const uint8_t mark[] = "Exif\0";
  for (jpeg_saved_marker_ptr marker = jpeg->marker_list; marker != NULL; marker = marker->next) {
    if (marker->marker == JPEG_APP0 + 1 && marker->data_length > 6 && memcmp(marker->data, mark, 6) == 0) {
      return cpixels_exif_orientation(marker->data + 6, marker->data_length - 6);
    }
  }
  return 1;
}

static bool read_head(reader *self, const uint8_t *bytes, size_t count) {
  if (setjmp(self->failure)) return false;
  jpeg_create_decompress(&self->jpeg);
  self->jpeg.client_data = self;
  jpeg_mem_src(&self->jpeg, bytes, count);
  jpeg_save_markers(&self->jpeg, JPEG_APP0 + 1, 0xFFFF);
  jpeg_save_markers(&self->jpeg, JPEG_APP0 + 2, 0xFFFF);
  jpeg_read_header(&self->jpeg, TRUE);
  self->has_scans = jpeg_has_multiple_scans(&self->jpeg);
  self->base.head.is_gray = self->jpeg.num_components == 1;
  unsigned int size = 0;
  if (jpeg_read_icc_profile(&self->jpeg, &self->profile, &size)) {
    self->base.head.profile = self->profile;
    self->base.head.profile_size = size;
  }
  return true;
}

cpixels_reader *cjpeg_open(const uint8_t *bytes, size_t count, const cpixels_stop *stop, char *reason, size_t size) {
  reader *self = calloc(1, sizeof *self);
  if (self == NULL) {
    snprintf(reason, size, "not enough memory");
    return NULL;
  }
  self->bytes = bytes;
  self->count = count;
  self->jpeg.err = jpeg_std_error(&self->errors);
  self->jpeg.client_data = self;
  self->errors.error_exit = fail;
  self->errors.emit_message = note;
  self->errors.output_message = ignore_message;
  self->progress.progress_monitor = check_progress;
  self->last_row = UINT32_MAX;
  self->base.stop = stop;
  self->base.cost = cost;
  self->base.next = next;
  self->base.close = close_reader;
  if (!read_head(self, bytes, count)) {
    snprintf(reason, size, "%s", self->base.reason);
    close_reader(&self->base);
    return NULL;
  }
  self->base.head.width = self->jpeg.image_width;
  self->base.head.height = self->jpeg.image_height;
  self->base.head.frames = 1;
  self->base.head.orientation = orientation(&self->jpeg);
  return &self->base;
}

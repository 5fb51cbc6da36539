#include "CGIF.h"

#include <gif_lib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  cpixels_reader base;
  GifFileType *gif;
  const uint8_t *bytes;
  size_t count, place;
  // The current image, and a copy from before a frame with the disposal method "previous".
  uint8_t *canvas, *before;
  GifPixelType *row;
  GraphicsControlBlock control;
  // The current frame, which is disposed of before the next one.
  GifImageDesc shown;
  int disposal;
  // Whether a frame was decoded completely.
  bool has_frame;
} reader;

static int give_bytes(GifFileType *gif, GifByteType *target, int count) {
  reader *self = gif->UserData;
  size_t rest = self->count - self->place;
  size_t given = count < 0 ? 0 : (size_t)count < rest ? (size_t)count : rest;
  memcpy(target, self->bytes + self->place, given);
  self->place += given;
  return (int)given;
}

static void close_reader(cpixels_reader *base) {
  reader *self = (reader *)base;
  if (self->gif != NULL) DGifCloseFile(self->gif, NULL);
  free(self->canvas);
  free(self->before);
  free(self->row);
  free(self);
}

static size_t cost(const cpixels_reader *base, uint32_t width, uint32_t height) {
  (void)width;
  (void)height;
  return (uint64_t)base->head.width * base->head.height * 8 + 65536;
}

static cpixels_status fail(reader *self, const char *reason) {
  snprintf(self->base.reason, sizeof self->base.reason, "%s", reason);
  return CPIXELS_FAILED;
}

static size_t size_of_canvas(const reader *self) { return (size_t)self->base.head.width * self->base.head.height * 4; }

static void clear(reader *self, GifImageDesc area) {
  for (int y = 0; y < area.Height; y++) {
    size_t row = (size_t)(area.Top + y), left = (size_t)area.Left;
    if (row >= self->base.head.height || left >= self->base.head.width) return;
    size_t width = self->base.head.width - left;
    if ((size_t)area.Width < width) width = (size_t)area.Width;
    memset(self->canvas + (row * self->base.head.width + left) * 4, 0, width * 4);
  }
}

static void dispose(reader *self) {
  if (self->disposal == DISPOSE_BACKGROUND) clear(self, self->shown);
  if (self->disposal == DISPOSE_PREVIOUS) memcpy(self->canvas, self->before, size_of_canvas(self));
  self->disposal = DISPOSAL_UNSPECIFIED;
}

static void draw_row(reader *self, const GifImageDesc *area, int y) {
  const ColorMapObject *colors = area->ColorMap != NULL ? area->ColorMap : self->gif->SColorMap;
  size_t row = (size_t)(area->Top + y);
  if (colors == NULL || row >= self->base.head.height) return;
  for (int x = 0; x < area->Width; x++) {
    size_t column = (size_t)(area->Left + x);
    int index = self->row[x];
    if (column >= self->base.head.width) return;
    if (index == self->control.TransparentColor || index >= colors->ColorCount) continue;
    GifColorType color = colors->Colors[index];
    uint8_t *pixel = self->canvas + (row * self->base.head.width + column) * 4;
    pixel[0] = color.Red;
    pixel[1] = color.Green;
    pixel[2] = color.Blue;
    pixel[3] = 255;
  }
}

/// The number of rows of a frame that are on the canvas.
static int visible_rows(const reader *self, const GifImageDesc *area) {
  size_t top = (size_t)area->Top, height = self->base.head.height;
  if (top >= height || (size_t)area->Left >= self->base.head.width) return 0;
  return (size_t)area->Height < height - top ? area->Height : (int)(height - top);
}

/// Skips the remaining codes of a frame without decoding them.
static cpixels_status skip_codes(reader *self) {
  GifByteType *block;
  do {
    if (DGifGetCodeNext(self->gif, &block) == GIF_ERROR) return CPIXELS_DAMAGED;
  } while (block != NULL);
  return CPIXELS_WHOLE;
}

/// Draws the rows of a frame, in four passes if it is interlaced (GIF89a, appendix E).
///
/// Rows after the last visible one are not decoded.
static cpixels_status draw(reader *self, const GifImageDesc *area) {
  static const int starts[] = {0, 4, 2, 1}, steps[] = {8, 8, 4, 2};
  int visible = visible_rows(self, area), drawn = 0;
  for (int pass = 0; pass < (area->Interlace ? 4 : 1); pass++) {
    int step = area->Interlace ? steps[pass] : 1;
    for (int y = area->Interlace ? starts[pass] : 0; y < area->Height; y += step) {
      if (cpixels_is_stopped(self->base.stop)) return CPIXELS_STOPPED;
      if (drawn == visible) return skip_codes(self);
      if (DGifGetLine(self->gif, self->row, area->Width) == GIF_ERROR) return CPIXELS_DAMAGED;
      if (y < visible) drawn++;
      draw_row(self, area, y);
    }
  }
  return CPIXELS_WHOLE;
}

static cpixels_status read_frame(reader *self, cpixels_frame *frame) {
  if (DGifGetImageDesc(self->gif) == GIF_ERROR) return fail(self, "the data end too early");
  GifImageDesc area = self->gif->Image;
  if (area.Left < 0 || area.Top < 0 || area.Width <= 0 || area.Height <= 0) return fail(self, "a frame is empty");
  if ((uint64_t)area.Width * (uint64_t)area.Height > self->base.head.frame_pixels) {
    return fail(self, "a frame is larger than expected");
  }
  free(self->row);
  self->row = calloc((size_t)area.Width, 1);
  if (self->row == NULL) return fail(self, "not enough memory");
  if (self->control.DisposalMode == DISPOSE_PREVIOUS) {
    if (self->before == NULL) self->before = malloc(size_of_canvas(self));
    if (self->before == NULL) return fail(self, "not enough memory");
    memcpy(self->before, self->canvas, size_of_canvas(self));
  }
  cpixels_status status = draw(self, &area);
  if (status == CPIXELS_WHOLE) self->has_frame = true;
  self->shown = area;
  self->disposal = self->control.DisposalMode;
  *frame = (cpixels_frame){
      .pixels = self->canvas,
      .width = self->base.head.width,
      .height = self->base.head.height,
      .stride = (size_t)self->base.head.width * 4,
      .layout = CPIXELS_RGBA,
      .is_opaque = cpixels_is_opaque(self->canvas, size_of_canvas(self) / 4),
      .duration = (uint32_t)self->control.DelayTime * 10,
  };
  self->control = (GraphicsControlBlock){.TransparentColor = NO_TRANSPARENT_COLOR};
  return status;
}

static bool read_extension(reader *self) {
  int code;
  GifByteType *block;
  if (DGifGetExtension(self->gif, &code, &block) == GIF_ERROR) return false;
  if (code == GRAPHICS_EXT_FUNC_CODE && block != NULL) DGifExtensionToGCB(block[0], block + 1, &self->control);
  while (block != NULL) {
    if (DGifGetExtensionNext(self->gif, &block) == GIF_ERROR) return false;
  }
  return true;
}

static cpixels_status next(cpixels_reader *base, uint32_t width, uint32_t height, size_t memory,
                           cpixels_frame *frame) {
  (void)width;
  (void)height;
  reader *self = (reader *)base;
  if (self->canvas == NULL) {
    size_t size = cpixels_size(base->head.width, base->head.height, memory);
    self->canvas = size == 0 ? NULL : calloc(1, size);
    if (self->canvas == NULL) return fail(self, "not enough memory");
  }
  dispose(self);
  for (;;) {
    if (cpixels_is_stopped(base->stop)) return CPIXELS_STOPPED;
    GifRecordType type;
    if (DGifGetRecordType(self->gif, &type) == GIF_ERROR) {
      // Many files lack a valid trailer. Browsers play them.
      return self->has_frame ? CPIXELS_END : fail(self, "the data end too early");
    }
    switch (type) {
      case IMAGE_DESC_RECORD_TYPE: return read_frame(self, frame);
      case EXTENSION_RECORD_TYPE:
        if (!read_extension(self)) return fail(self, "the data end too early");
        break;
      case TERMINATE_RECORD_TYPE: return CPIXELS_END;
      default: break;
    }
  }
}

/// The number of plays by an application extension; `before` if it is another extension. Zero means endless.
///
/// `bytes` begins after the label. The file stores the number of repetitions after the first play.
static uint32_t read_loops(const uint8_t *bytes, size_t rest, uint32_t before) {
  if (rest < 16 || bytes[0] != 11 || memcmp(bytes + 1, "NETSCAPE2.0", 11) != 0) return before;
  if (bytes[12] != 3 || bytes[13] != 1) return before;
  uint32_t repeats = (uint32_t)(bytes[14] | bytes[15] << 8);
  return repeats == 0 ? 0 : repeats + 1;
}

static uint32_t read_number(const uint8_t *bytes) { return (uint32_t)(bytes[0] | bytes[1] << 8); }

static uint64_t read_area(const uint8_t *bytes) { return (uint64_t)read_number(bytes) * read_number(bytes + 2); }

/// Widens the canvas so that the first frame fits, as browsers do.
static void widen_canvas(const uint8_t *bytes, cpixels_head *head) {
  uint32_t right = read_number(bytes) + read_number(bytes + 4), bottom = read_number(bytes + 2) + read_number(bytes + 6);
  if (right > head->width) head->width = right;
  if (bottom > head->height) head->height = bottom;
}

/// Finds the number of frames, the size of the largest and the number of plays (GIF89a, section 20).
///
/// It reads only the structure, because giflib would decode all frames.
static void read_structure(const uint8_t *bytes, size_t count, cpixels_head *head) {
  if (count < 13) return;
  size_t place = 13 + ((bytes[10] & 0x80) != 0 ? (size_t)3 << ((bytes[10] & 7) + 1) : 0);
  while (place < count) {
    uint8_t kind = bytes[place++];
    if (kind == 0x21) {
      if (place < count && bytes[place] == APPLICATION_EXT_FUNC_CODE) {
        head->loops = read_loops(bytes + place + 1, count - place - 1, head->loops);
      }
      place += 1;
    } else if (kind == 0x2C) {
      if (count < 9 || place > count - 9) return;
      uint8_t flags = bytes[place + 8];
      uint64_t area = read_area(bytes + place + 4);
      if (area > head->frame_pixels) head->frame_pixels = area;
      if (head->frames == 0) widen_canvas(bytes + place, head);
      place += 9 + ((flags & 0x80) != 0 ? (size_t)3 << ((flags & 7) + 1) : 0) + 1;
      head->frames += 1;
    } else {
      return;
    }
    while (place < count && bytes[place] != 0) place += (size_t)bytes[place] + 1;
    place += 1;
  }
}

cpixels_reader *cgif_open(const uint8_t *bytes, size_t count, const cpixels_stop *stop, char *reason, size_t size) {
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
  self->control.TransparentColor = NO_TRANSPARENT_COLOR;
  int code = 0;
  self->gif = DGifOpen(self, give_bytes, &code);
  if (self->gif == NULL) {
    const char *text = GifErrorString(code);
    snprintf(reason, size, "%s", text == NULL ? "not a GIF" : text);
    close_reader(&self->base);
    return NULL;
  }
  self->base.head.width = (uint32_t)self->gif->SWidth;
  self->base.head.height = (uint32_t)self->gif->SHeight;
  self->base.head.orientation = 1;
  // Without the extension, an animation plays once.
  self->base.head.loops = 1;
  read_structure(bytes, count, &self->base.head);
  return &self->base;
}

#include "CPixels.h"

#include <string.h>

size_t cpixels_cost(const cpixels_reader *reader, uint32_t width, uint32_t height) {
  return reader->cost(reader, width, height);
}

cpixels_status cpixels_next(cpixels_reader *reader, uint32_t width, uint32_t height, size_t memory,
                            cpixels_frame *frame) {
  if (cpixels_is_stopped(reader->stop)) return CPIXELS_STOPPED;
  memset(frame, 0, sizeof *frame);
  return reader->next(reader, width, height, memory, frame);
}

void cpixels_close(cpixels_reader *reader) {
  if (reader != NULL) reader->close(reader);
}

void cpixels_ask_to_stop(cpixels_stop *stop) { __atomic_store_n(&stop->is_set, 1, __ATOMIC_RELAXED); }

bool cpixels_is_stopped(const cpixels_stop *stop) {
  return stop != NULL && __atomic_load_n(&stop->is_set, __ATOMIC_RELAXED) != 0;
}

size_t cpixels_size(uint32_t width, uint32_t height, size_t memory) {
  uint64_t area = (uint64_t)width * height;
  return area > memory / 4 ? 0 : (size_t)area * 4;
}

static uint32_t number(const uint8_t *bytes, size_t count, bool is_little) {
  uint32_t value = 0;
  for (size_t i = 0; i < count; i++) value = value << 8 | bytes[is_little ? count - 1 - i : i];
  return value;
}

// TIFF 6.0, section 2: byte order, the number 42, and the offset of the first directory. Entries have 12 bytes.
int32_t cpixels_exif_orientation(const uint8_t *bytes, size_t count) {
  if (count < 14) return 1;
  bool is_little = bytes[0] == 'I' && bytes[1] == 'I';
  if (!is_little && !(bytes[0] == 'M' && bytes[1] == 'M')) return 1;
  size_t place = number(bytes + 4, 4, is_little);
  if (place > count - 2) return 1;
  size_t entries = number(bytes + place, 2, is_little);
  for (size_t i = 0; i < entries; i++) {
    size_t entry = place + 2 + i * 12;
    if (entry > count - 12) return 1;
    if (number(bytes + entry, 2, is_little) != 0x0112) continue;
    uint32_t value = number(bytes + entry + 8, 2, is_little);
    return value >= 1 && value <= 8 ? (int32_t)value : 1;
  }
  return 1;
}

void cpixels_premultiply(uint8_t *pixels, size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint8_t *pixel = pixels + i * 4;
    uint32_t alpha = pixel[3];
    if (alpha == 255) continue;
    for (int channel = 0; channel < 3; channel++) pixel[channel] = (uint8_t)((pixel[channel] * alpha + 127) / 255);
  }
}

void cpixels_unpremultiply(uint8_t *pixels, size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint8_t *pixel = pixels + i * 4;
    uint32_t alpha = pixel[3];
    if (alpha == 255 || alpha == 0) continue;
    for (int channel = 0; channel < 3; channel++) {
      uint32_t value = (pixel[channel] * 255 + alpha / 2) / alpha;
      pixel[channel] = (uint8_t)(value > 255 ? 255 : value);
    }
  }
}

void cpixels_swap_red_and_blue(uint8_t *pixels, size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint8_t red = pixels[i * 4];
    pixels[i * 4] = pixels[i * 4 + 2];
    pixels[i * 4 + 2] = red;
  }
}

bool cpixels_is_opaque(const uint8_t *pixels, size_t count) {
  uint8_t all = 255;
  for (size_t i = 0; i < count; i++) all &= pixels[i * 4 + 3];
  return all == 255;
}

void cpixels_orient(const uint8_t *source, uint32_t width, uint32_t height, int32_t orientation, uint8_t *target) {
  for (uint32_t y = 0; y < height; y++) {
    for (uint32_t x = 0; x < width; x++) {
      size_t column = x, row = y, across = width;
      switch (orientation) {
        case 2: column = width - 1 - x; break;
        case 3: column = width - 1 - x; row = height - 1 - y; break;
        case 4: row = height - 1 - y; break;
        case 5: column = y; row = x; across = height; break;
        case 6: column = height - 1 - y; row = x; across = height; break;
        case 7: column = height - 1 - y; row = width - 1 - x; across = height; break;
        case 8: column = y; row = width - 1 - x; across = height; break;
        default: break;
      }
      memcpy(target + (row * across + column) * 4, source + ((size_t)y * width + x) * 4, 4);
    }
  }
}


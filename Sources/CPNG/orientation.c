#include "orientation.h"

#include <string.h>
#include <zlib.h>

static uint32_t number(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// libpng reads a chunk after the pixels only when these are decoded, and many programs write eXIf there. As in
// libpng, a chunk is ignored if it is too short, has an unknown byte order or has a wrong checksum.
int32_t cpng_orientation(const uint8_t *bytes, size_t count, size_t maximum) {
  size_t place = 8;
  // A chunk has a length, a type, its data and a checksum (PNG specification, section 5.3).
  while (count >= 12 && place <= count - 12) {
    size_t size = number(bytes + place);
    const uint8_t *type = bytes + place + 4, *content = bytes + place + 8;
    if (size > count - place - 12 || memcmp(type, "IEND", 4) == 0) return 1;
    place += size + 12;
    if (memcmp(type, "eXIf", 4) != 0 || size < 2 || size > maximum) continue;
    bool has_order = content[0] == content[1] && (content[0] == 'I' || content[0] == 'M');
    if (has_order && crc32_z(0, type, size + 4) == number(content + size)) return cpixels_exif_orientation(content, size);
  }
  return 1;
}

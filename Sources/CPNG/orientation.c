#include "orientation.h"

#include <string.h>

static uint32_t number(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/// Four bits at a time (PNG specification, annex D).
static uint32_t checksum(const uint8_t *bytes, size_t count) {
  static const uint32_t sums[] = {
      0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
      0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
  };
  uint32_t sum = UINT32_MAX;
  for (size_t i = 0; i < count; i++) {
    sum ^= bytes[i];
    sum = sum >> 4 ^ sums[sum & 15];
    sum = sum >> 4 ^ sums[sum & 15];
  }
  return ~sum;
}

// Libpng tells of a chunk behind the pixels when these have been decoded, and many programs write eXIf there. Its
// rules hold here: what is too short, of no known byte order or of a wrong checksum is passed over.
int32_t cpng_orientation(const uint8_t *bytes, size_t count, size_t most) {
  size_t place = 8;
  // A length, a type and a checksum are around what a chunk holds (PNG specification, section 5.3).
  while (count >= 12 && place <= count - 12) {
    size_t size = number(bytes + place);
    const uint8_t *type = bytes + place + 4, *content = bytes + place + 8;
    if (size > count - place - 12 || memcmp(type, "IEND", 4) == 0) return 1;
    place += size + 12;
    if (memcmp(type, "eXIf", 4) != 0 || size < 2 || size > most) continue;
    bool has_order = content[0] == content[1] && (content[0] == 'I' || content[0] == 'M');
    if (has_order && checksum(type, size + 4) == number(content + size)) return cpixels_exif_orientation(content, size);
  }
  return 1;
}

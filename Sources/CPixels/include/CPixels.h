// The common interface of the codecs: a reader of frames with four bytes a pixel.
#ifndef FEEDIMG_CPIXELS_H
#define FEEDIMG_CPIXELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
  /// The frame is complete.
  CPIXELS_WHOLE,
  /// The frame is incomplete or damaged.
  CPIXELS_DAMAGED,
  /// There are no more frames.
  CPIXELS_END,
  /// Nothing could be decoded.
  CPIXELS_FAILED,
  /// Another thread stopped decoding.
  CPIXELS_STOPPED,
} cpixels_status;

typedef enum {
  /// Red, green, blue and straight alpha.
  CPIXELS_RGBA,
  /// Cyan, magenta, yellow and black, where 255 is no ink.
  CPIXELS_CMYK,
} cpixels_layout;

/// A flag by which another thread stops decoding.
typedef struct {
  int32_t is_set;
} cpixels_stop;

/// A chromaticity (x and y of CIE 1931).
typedef struct {
  double x, y;
} cpixels_point;

/// The colour space of a file without a profile; all zero if the file does not specify it.
typedef struct {
  /// Codes of ITU-T H.273, tables 2 and 3.
  uint16_t primaries, transfer;
  /// Whether the points replace the code of the primaries.
  bool has_points;
  cpixels_point white, red, green, blue;
  /// The exponent that replaces the code of the transfer function; 0 for none.
  double exponent;
} cpixels_colors;

typedef struct {
  /// The stored size, before the orientation is applied.
  uint32_t width, height;
  /// The number of frames by the header; 0 if it is unknown before all of them are read.
  uint32_t frames;
  /// The number of pixels of the largest frame, if frames may be larger than the image, which clips them; else 0.
  uint64_t frame_pixels;
  /// 1 to 8 (EXIF, CIPA DC-008, tag 0x0112).
  int32_t orientation;
  /// The number of plays of an animation; 0 for endless.
  uint32_t loops;
  /// The ICC profile, owned by the reader; NULL for none.
  const uint8_t *profile;
  size_t profile_size;
  /// Whether the image is grey. A profile for grey has no effect on other images.
  bool is_gray;
  /// Used if there is no suitable profile.
  cpixels_colors colors;
} cpixels_head;

typedef struct {
  /// Owned by the reader, and valid until the next frame.
  const uint8_t *pixels;
  /// May be less than in the header, if the codec can decode a smaller image.
  uint32_t width, height;
  size_t stride;
  cpixels_layout layout;
  /// Whether the alpha of every pixel is 255.
  bool is_opaque;
  /// The number of missing rows at the bottom of a damaged frame, if known.
  uint32_t missing_rows;
  /// The duration in milliseconds.
  uint32_t duration;
  /// The largest size at which a frame with missing scans is exact; 0 if parts are missing, or if it is unknown.
  uint32_t known_width, known_height;
} cpixels_frame;

typedef struct cpixels_reader cpixels_reader;
struct cpixels_reader {
  cpixels_head head;
  /// The reason of a failure.
  char reason[200];
  const cpixels_stop *stop;
  size_t (*cost)(const cpixels_reader *, uint32_t width, uint32_t height);
  cpixels_status (*next)(cpixels_reader *, uint32_t width, uint32_t height, size_t memory, cpixels_frame *);
  void (*close)(cpixels_reader *);
};

/// Estimates the memory that decoding a frame of at least this size needs, in bytes.
size_t cpixels_cost(const cpixels_reader *reader, uint32_t width, uint32_t height);
/// Decodes the next frame, in at least this size or its own if that is smaller.
///
/// Fails if the pixels need more than `memory` bytes.
cpixels_status cpixels_next(cpixels_reader *reader, uint32_t width, uint32_t height, size_t memory,
                            cpixels_frame *frame);
/// Frees the reader and its frame.
void cpixels_close(cpixels_reader *reader);

void cpixels_ask_to_stop(cpixels_stop *stop);
bool cpixels_is_stopped(const cpixels_stop *stop);

/// The size of the pixels in bytes; 0 if it exceeds `memory`.
size_t cpixels_size(uint32_t width, uint32_t height, size_t memory);

/// The orientation in EXIF data, which begin with the byte order; 1 for none.
int32_t cpixels_exif_orientation(const uint8_t *bytes, size_t count);

/// Premultiplies alpha, in place. `count` is the number of pixels.
void cpixels_premultiply(uint8_t *pixels, size_t count);
/// Reverts the premultiplication of alpha, in place.
void cpixels_unpremultiply(uint8_t *pixels, size_t count);
/// Swaps the first and the third byte of each pixel, in place.
void cpixels_swap_red_and_blue(uint8_t *pixels, size_t count);
bool cpixels_is_opaque(const uint8_t *pixels, size_t count);
/// Applies an orientation. For 5 to 8, the result is as wide as the source is high.
void cpixels_orient(const uint8_t *source, uint32_t width, uint32_t height, int32_t orientation, uint8_t *target);

#endif

// What the codecs have in common: a reader that gives one frame after the other as rows of four bytes a pixel.
#ifndef FEEDIMG_CPIXELS_H
#define FEEDIMG_CPIXELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
  /// The whole frame is there.
  CPIXELS_WHOLE,
  /// A part of the frame is there, or parts of it are wrong.
  CPIXELS_DAMAGED,
  /// There is no further frame.
  CPIXELS_END,
  /// Nothing could be decoded.
  CPIXELS_FAILED,
  /// Somebody asked to stop.
  CPIXELS_STOPPED,
} cpixels_status;

typedef enum {
  /// Red, green, blue, alpha; alpha not multiplied in.
  CPIXELS_RGBA,
  /// Cyan, magenta, yellow and black, where 255 is no ink.
  CPIXELS_CMYK,
} cpixels_layout;

/// Set by another thread to end decoding soon.
typedef struct {
  int32_t is_set;
} cpixels_stop;

/// A colour by its x and y of CIE 1931.
typedef struct {
  double x, y;
} cpixels_point;

/// What colours mean where there is no profile; all zero where the file does not tell.
typedef struct {
  /// Codes of ITU-T H.273, tables 2 and 3.
  uint16_t primaries, transfer;
  /// In place of the code of the primaries.
  bool has_points;
  cpixels_point white, red, green, blue;
  /// What makes light of numbers, in place of the code of the transfer; else 0.
  double exponent;
} cpixels_colors;

typedef struct {
  /// As stored, before the orientation is applied.
  uint32_t width, height;
  /// At least 1; as announced, or 0 where it cannot be told before all is read.
  uint32_t frames;
  /// Pixels of the largest frame, where frames may be larger than the picture, which clips them; else 0.
  uint64_t frame_pixels;
  /// 1 to 8, as EXIF counts (CIPA DC-008, tag 0x0112).
  int32_t orientation;
  /// How often an animation is shown; 0 is for ever.
  uint32_t loops;
  /// An ICC profile, owned by the reader; NULL where there is none.
  const uint8_t *profile;
  size_t profile_size;
  /// Whether the picture has no colours; one that has cannot mean a profile for grey.
  bool is_gray;
  /// Looked at where there is no profile that is of use.
  cpixels_colors colors;
} cpixels_head;

typedef struct {
  /// Owned by the reader, until the next frame is asked for.
  const uint8_t *pixels;
  /// May be less than the head says, where a codec can decode a smaller picture.
  uint32_t width, height;
  size_t stride;
  cpixels_layout layout;
  /// Whether every alpha is 255.
  bool is_opaque;
  /// Of a damaged frame, how many rows at the bottom did not come, where that is known.
  uint32_t missing_rows;
  /// In milliseconds.
  uint32_t duration;
  /// Of a damaged frame, in how many pixels of the stored picture all of it is known, as where some scans are still
  /// to come; 0 where parts are missing, or where that cannot be told.
  uint32_t known_width, known_height;
} cpixels_frame;

typedef struct cpixels_reader cpixels_reader;
struct cpixels_reader {
  cpixels_head head;
  /// In words, after a failure.
  char reason[200];
  const cpixels_stop *stop;
  size_t (*cost)(const cpixels_reader *, uint32_t width, uint32_t height);
  cpixels_status (*next)(cpixels_reader *, uint32_t width, uint32_t height, size_t memory, cpixels_frame *);
  void (*close)(cpixels_reader *);
};

/// The most bytes that decoding a frame of at least this size takes; an estimate.
size_t cpixels_cost(const cpixels_reader *reader, uint32_t width, uint32_t height);
/// Decodes the next frame in at least this size, or its own where that is less, in no more memory than this.
cpixels_status cpixels_next(cpixels_reader *reader, uint32_t width, uint32_t height, size_t memory,
                            cpixels_frame *frame);
/// Frees the reader and its frame.
void cpixels_close(cpixels_reader *reader);

void cpixels_ask_to_stop(cpixels_stop *stop);
bool cpixels_is_stopped(const cpixels_stop *stop);

/// Width times height times four, or 0 if that is more than the memory allows.
size_t cpixels_size(uint32_t width, uint32_t height, size_t memory);

/// The orientation that EXIF data (beginning with the byte order) tell; 1 if none.
int32_t cpixels_exif_orientation(const uint8_t *bytes, size_t count);

/// Multiplies alpha in, in place; a whole number of pixels.
void cpixels_premultiply(uint8_t *pixels, size_t count);
/// Takes alpha out again, in place.
void cpixels_unpremultiply(uint8_t *pixels, size_t count);
/// Exchanges the first and the third byte of each pixel, in place.
void cpixels_swap_red_and_blue(uint8_t *pixels, size_t count);
bool cpixels_is_opaque(const uint8_t *pixels, size_t count);
/// Turns a picture as its orientation says; of 5 to 8, the result is as wide as the source is high.
void cpixels_orient(const uint8_t *source, uint32_t width, uint32_t height, int32_t orientation, uint8_t *target);

#endif

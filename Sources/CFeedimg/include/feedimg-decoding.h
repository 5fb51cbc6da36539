/* feedimg-decoding: pixels of images for feedimg. The README lists the formats.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The library libfeedimg-decoding needs the codecs of the system; libfeedimg needs none of them.
 *
 * The rules of feedimg.h hold here too, except for one: these functions never change the result of
 * feedimg_error_last(). After a failure, feedimg_strerror() describes the code.
 */
#ifndef FEEDIMG_DECODING_H
#define FEEDIMG_DECODING_H

#include "feedimg.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * feedimg_codecs:
 *
 * The decoder for #feedimg_options.decoder. It makes images upright, in sRGB, at the requested size, and limits each
 * to 100 million pixels and 512 MiB. Programs may also call its functions themselves, on any thread.
 *
 * Returns: (transfer none): a decoder, which is static.
 */
const feedimg_decoder *feedimg_codecs(void);

/* ---- Animations ---- */

/**
 * feedimg_frame:
 * @size: the size of the struct.
 * @width: as in #feedimg_pixels.
 * @height: as in #feedimg_pixels.
 * @stride: as in #feedimg_pixels.
 * @data: as in #feedimg_pixels; the whole image.
 * @is_opaque: as in #feedimg_pixels.
 * @milliseconds: how long to show it, as the file says; viewers show frames of less than 20 ms for 100 ms.
 *
 * One frame of an animation.
 */
typedef struct feedimg_frame {
    size_t size;
    size_t width;
    size_t height;
    size_t stride;
    const uint8_t *data;
    int is_opaque;
    int64_t milliseconds;
} feedimg_frame;

/**
 * FEEDIMG_FRAME_INIT:
 *
 * An empty struct to receive a frame.
 */
#define FEEDIMG_FRAME_INIT {sizeof(feedimg_frame), 0, 0, 0, NULL, 0, 0}

/**
 * feedimg_frames:
 *
 * One pass over the frames of an animation. One thread at a time may use it.
 */
typedef struct feedimg_frames feedimg_frames;

/**
 * feedimg_frames_new:
 * @out: (out) (transfer full): the pass.
 * @bytes: (array length=length): the file, which is copied.
 * @length: the number of bytes.
 * @request: (nullable): the size of the pixels, without processors; NULL for the size of the image.
 *
 * Opens an animation to decode its frames one by one. A still image has one frame. The pass keeps the file and one
 * frame of full size in memory.
 *
 * Returns: FEEDIMG_OK, FEEDIMG_ERROR_ARGUMENT, FEEDIMG_ERROR_NOT_AN_IMAGE, FEEDIMG_ERROR_TOO_LARGE or
 *   FEEDIMG_ERROR_UNAVAILABLE.
 */
int feedimg_frames_new(feedimg_frames **out, const void *bytes, size_t length, const feedimg_pixel_request *request);

/**
 * feedimg_frames_next:
 * @out: (out): the frame, whose pixels live until the next call and until the pass is freed.
 * @frames: a pass.
 *
 * Decodes the next frame on the calling thread. This takes milliseconds, so a program calls it on a thread of its own.
 *
 * Returns: 1; 0 after the last frame; or an error as of feedimg_frames_new(). @out is unchanged unless the result is 1.
 */
int feedimg_frames_next(feedimg_frame *out, feedimg_frames *frames);

/**
 * feedimg_frames_loop_count:
 * @frames: a pass.
 *
 * Reads how often a viewer plays the animation. A pass has its frames once.
 *
 * Returns: the number of times; 0 for endless.
 */
int feedimg_frames_loop_count(const feedimg_frames *frames);

/**
 * feedimg_frames_free:
 * @frames: (nullable) (transfer full): a pass.
 *
 * Frees a pass.
 */
void feedimg_frames_free(feedimg_frames *frames);

#ifdef __cplusplus
}
#endif

#endif

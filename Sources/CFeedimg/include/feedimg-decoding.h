/* feedimg-decoding: pixels of JPEG, PNG, GIF, WebP and AVIF for feedimg.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The library libfeedimg-decoding needs the codecs of the system; libfeedimg needs none of them.
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

#ifdef __cplusplus
}
#endif

#endif

#ifndef CMOREFORMATS_H
#define CMOREFORMATS_H

#include <stddef.h>

/* Premultiplied pixels, red first, without padding. The caller frees them with free(3). */
typedef struct {
    int width;
    int height;
    unsigned char *pixels;
} more_image;

/* The most pixels of an image. */
#define MORE_MAXIMUM_PIXELS 100000000

/* These decode a whole image. They return 0, or -1 if it is damaged or too large. */
int more_decode_heif(const void *bytes, size_t count, more_image *image);
int more_decode_jxl(const void *bytes, size_t count, more_image *image);

/* Draws an SVG document. Its longer side becomes `side` pixels; 0 keeps the document's size. */
int more_draw_svg(const void *bytes, size_t count, int side, more_image *image);

#endif

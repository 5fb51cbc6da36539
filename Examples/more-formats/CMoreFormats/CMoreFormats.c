#include "CMoreFormats.h"

#include <jxl/decode.h>
#include <libheif/heif.h>
#include <stdlib.h>
#include <string.h>

/* The parts of librsvg 2.54 and cairo 1.16 that are used here. Their headers lie in folders that only pkg-config
   knows, and its flags for them make the Swift package manager warn in every build. */
typedef struct _RsvgHandle RsvgHandle;
typedef struct _cairo cairo_t;
typedef struct _cairo_surface cairo_surface_t;
typedef struct {
    double x, y, width, height;
} RsvgRectangle;
enum { CAIRO_FORMAT_ARGB32 = 0 };

extern RsvgHandle *rsvg_handle_new_from_data(const unsigned char *data, size_t length, void **error);
extern int rsvg_handle_get_intrinsic_size_in_pixels(RsvgHandle *handle, double *width, double *height);
extern int rsvg_handle_render_document(RsvgHandle *handle, cairo_t *cairo, const RsvgRectangle *view, void **error);
extern void g_object_unref(void *object);
extern cairo_surface_t *cairo_image_surface_create(int format, int width, int height);
extern unsigned char *cairo_image_surface_get_data(cairo_surface_t *surface);
extern int cairo_image_surface_get_stride(cairo_surface_t *surface);
extern void cairo_surface_flush(cairo_surface_t *surface);
extern void cairo_surface_destroy(cairo_surface_t *surface);
extern cairo_t *cairo_create(cairo_surface_t *surface);
extern void cairo_destroy(cairo_t *cairo);

/* Allocates the pixels of an image. */
static int make(more_image *image, int width, int height)
{
    if (width <= 0 || height <= 0 || width > MORE_MAXIMUM_PIXELS / height) return -1;
    image->width = width;
    image->height = height;
    image->pixels = malloc((size_t)width * (size_t)height * 4);
    return image->pixels == NULL ? -1 : 0;
}

static void premultiply(more_image *image)
{
    unsigned char *end = image->pixels + (size_t)image->width * (size_t)image->height * 4;
    for (unsigned char *pixel = image->pixels; pixel < end; pixel += 4)
        for (int channel = 0; channel < 3; channel++) pixel[channel] = (pixel[channel] * pixel[3] + 127) / 255;
}

int more_decode_heif(const void *bytes, size_t count, more_image *image)
{
    int result = -1;
    struct heif_image_handle *handle = NULL;
    struct heif_image *decoded = NULL;
    struct heif_context *context = heif_context_alloc();
    if (context == NULL) return -1;
    if (heif_context_read_from_memory_without_copy(context, bytes, count, NULL).code != heif_error_Ok) goto end;
    if (heif_context_get_primary_image_handle(context, &handle).code != heif_error_Ok) goto end;
    if (make(image, heif_image_handle_get_width(handle), heif_image_handle_get_height(handle)) != 0) goto end;
    enum heif_chroma chroma = heif_chroma_interleaved_RGBA;
    if (heif_decode_image(handle, &decoded, heif_colorspace_RGB, chroma, NULL).code != heif_error_Ok) goto end;
    int stride = 0;
    const unsigned char *plane = heif_image_get_plane_readonly(decoded, heif_channel_interleaved, &stride);
    if (plane == NULL || heif_image_get_width(decoded, heif_channel_interleaved) != image->width ||
        heif_image_get_height(decoded, heif_channel_interleaved) != image->height)
        goto end;
    size_t row = (size_t)image->width * 4;
    for (int y = 0; y < image->height; y++) memcpy(image->pixels + (size_t)y * row, plane + (size_t)y * (size_t)stride, row);
    premultiply(image);
    result = 0;
end:
    if (result != 0) {
        free(image->pixels);
        image->pixels = NULL;
    }
    if (decoded != NULL) heif_image_release(decoded);
    if (handle != NULL) heif_image_handle_release(handle);
    heif_context_free(context);
    return result;
}

int more_decode_jxl(const void *bytes, size_t count, more_image *image)
{
    int result = -1;
    JxlBasicInfo info;
    JxlPixelFormat format = {4, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
    JxlDecoder *decoder = JxlDecoderCreate(NULL);
    if (decoder == NULL) return -1;
    if (JxlDecoderSubscribeEvents(decoder, JXL_DEC_BASIC_INFO | JXL_DEC_FULL_IMAGE) != JXL_DEC_SUCCESS) goto end;
    if (JxlDecoderSetInput(decoder, bytes, count) != JXL_DEC_SUCCESS) goto end;
    JxlDecoderCloseInput(decoder);
    while (result != 0) {
        switch (JxlDecoderProcessInput(decoder)) {
        case JXL_DEC_BASIC_INFO:
            if (JxlDecoderGetBasicInfo(decoder, &info) != JXL_DEC_SUCCESS) goto end;
            if (info.xsize > MORE_MAXIMUM_PIXELS || info.ysize > MORE_MAXIMUM_PIXELS) goto end;
            if (image->pixels != NULL || make(image, (int)info.xsize, (int)info.ysize) != 0) goto end;
            break;
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER: {
            size_t size = (size_t)image->width * (size_t)image->height * 4;
            if (JxlDecoderSetImageOutBuffer(decoder, &format, image->pixels, size) != JXL_DEC_SUCCESS) goto end;
            break;
        }
        case JXL_DEC_FULL_IMAGE:
            /* Some files have premultiplied pixels. */
            if (!info.alpha_premultiplied) premultiply(image);
            result = 0;
            break;
        default: goto end;
        }
    }
end:
    if (result != 0) {
        free(image->pixels);
        image->pixels = NULL;
    }
    JxlDecoderDestroy(decoder);
    return result;
}

int more_draw_svg(const void *bytes, size_t count, int side, more_image *image)
{
    int result = -1;
    cairo_surface_t *surface = NULL;
    cairo_t *cairo = NULL;
    double width = 0, height = 0;
    /* Without a base address, librsvg opens no other files. */
    RsvgHandle *handle = rsvg_handle_new_from_data(bytes, count, NULL);
    if (handle == NULL) return -1;
    if (!rsvg_handle_get_intrinsic_size_in_pixels(handle, &width, &height) || !(width > 0 && height > 0)) {
        width = height = side > 0 ? side : 512;
    }
    if (side > 0) {
        double scale = side / (width > height ? width : height);
        width *= scale;
        height *= scale;
    }
    if (!(width <= MORE_MAXIMUM_PIXELS && height <= MORE_MAXIMUM_PIXELS)) goto end;
    if (make(image, width < 1 ? 1 : (int)width, height < 1 ? 1 : (int)height) != 0) goto end;
    surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, image->width, image->height);
    cairo = cairo_create(surface);
    RsvgRectangle viewport = {0, 0, image->width, image->height};
    if (!rsvg_handle_render_document(handle, cairo, &viewport, NULL)) goto end;
    cairo_surface_flush(surface);
    const unsigned char *plane = cairo_image_surface_get_data(surface);
    if (plane == NULL) goto end;
    int stride = cairo_image_surface_get_stride(surface);
    for (int y = 0; y < image->height; y++) {
        for (int x = 0; x < image->width; x++) {
            /* Cairo's pixels are premultiplied 32-bit numbers with alpha on top. */
            unsigned value;
            memcpy(&value, plane + (size_t)y * (size_t)stride + (size_t)x * 4, sizeof value);
            unsigned char *pixel = image->pixels + ((size_t)y * (size_t)image->width + (size_t)x) * 4;
            pixel[0] = value >> 16 & 255;
            pixel[1] = value >> 8 & 255;
            pixel[2] = value & 255;
            pixel[3] = value >> 24;
        }
    }
    result = 0;
end:
    if (result != 0) {
        free(image->pixels);
        image->pixels = NULL;
    }
    if (cairo != NULL) cairo_destroy(cairo);
    if (surface != NULL) cairo_surface_destroy(surface);
    g_object_unref(handle);
    return result;
}

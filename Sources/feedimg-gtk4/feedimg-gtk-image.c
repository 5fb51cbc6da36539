/* SPDX-License-Identifier: Apache-2.0 */
#include "feedimg-gtk-private.h"

struct _FeedimgImage {
    GObject parent_instance;
    feedimg_image *image;
};

G_DEFINE_FINAL_TYPE(FeedimgImage, feedimg_gtk_image, G_TYPE_OBJECT)

static void finalize(GObject *object) {
    feedimg_image_free(FEEDIMG_IMAGE(object)->image);
    G_OBJECT_CLASS(feedimg_gtk_image_parent_class)->finalize(object);
}

static void feedimg_gtk_image_class_init(FeedimgImageClass *class) { G_OBJECT_CLASS(class)->finalize = finalize; }

static void feedimg_gtk_image_init(FeedimgImage *self) { (void)self; }

FeedimgImage *_feedimg_gtk_image_new(feedimg_image *image) {
    FeedimgImage *self = g_object_new(FEEDIMG_TYPE_IMAGE, NULL);
    self->image = image;
    return self;
}

GdkTexture *_feedimg_gtk_texture(const feedimg_pixels *pixels) {
    g_autoptr(GBytes) bytes = g_bytes_new(pixels->data, pixels->stride * pixels->height);
    return gdk_memory_texture_new((int)pixels->width, (int)pixels->height, GDK_MEMORY_B8G8R8A8_PREMULTIPLIED, bytes,
                                  pixels->stride);
}

/**
 * feedimg_gtk_image_get_bytes:
 *
 * Returns: (transfer full): the bytes of the file.
 */
GBytes *feedimg_gtk_image_get_bytes(FeedimgImage *self) {
    g_return_val_if_fail(FEEDIMG_IS_IMAGE(self), NULL);
    size_t length = 0;
    const void *bytes = feedimg_image_bytes(&length, self->image);
    return g_bytes_new_with_free_func(bytes, length, g_object_unref, g_object_ref(self));
}

/**
 * feedimg_gtk_image_get_media_type:
 *
 * Returns: (transfer none): the media type, such as `image/jpeg`.
 */
const char *feedimg_gtk_image_get_media_type(FeedimgImage *self) {
    g_return_val_if_fail(FEEDIMG_IS_IMAGE(self), NULL);
    return feedimg_image_media_type(self->image);
}

/**
 * feedimg_gtk_image_get_path:
 *
 * Returns: (transfer none) (nullable): the file in the cache; %NULL if the image is not stored.
 */
const char *feedimg_gtk_image_get_path(FeedimgImage *self) {
    g_return_val_if_fail(FEEDIMG_IS_IMAGE(self), NULL);
    return feedimg_image_path(self->image);
}

/**
 * feedimg_gtk_image_get_role:
 *
 * Returns: whether it is the original or the thumbnail.
 */
FeedimgRole feedimg_gtk_image_get_role(FeedimgImage *self) {
    g_return_val_if_fail(FEEDIMG_IS_IMAGE(self), FEEDIMG_ROLE_PLACEHOLDER);
    return (FeedimgRole)feedimg_image_role(self->image);
}

/**
 * feedimg_gtk_image_get_texture:
 *
 * Returns: (transfer full) (nullable): the pixels; %NULL if the load did not ask for them.
 */
GdkTexture *feedimg_gtk_image_get_texture(FeedimgImage *self) {
    g_return_val_if_fail(FEEDIMG_IS_IMAGE(self), NULL);
    feedimg_pixels pixels = FEEDIMG_PIXELS_INIT;
    if (feedimg_image_pixels(&pixels, self->image) != 1) return NULL;
    return _feedimg_gtk_texture(&pixels);
}

/**
 * feedimg_gtk_image_get_url:
 *
 * Returns: (transfer none): the URL of the image.
 */
const char *feedimg_gtk_image_get_url(FeedimgImage *self) {
    g_return_val_if_fail(FEEDIMG_IS_IMAGE(self), NULL);
    return feedimg_image_url(self->image);
}

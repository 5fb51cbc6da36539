/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gdk/gdk.h>

#include "feedimg-gtk-types.h"

G_BEGIN_DECLS

/**
 * FeedimgImage:
 *
 * A loaded image.
 */
#define FEEDIMG_TYPE_IMAGE (feedimg_gtk_image_get_type())
FEEDIMG_GTK_API G_DECLARE_FINAL_TYPE(FeedimgImage, feedimg_gtk_image, FEEDIMG, IMAGE, GObject)

FEEDIMG_GTK_API GBytes *feedimg_gtk_image_get_bytes(FeedimgImage *self);
FEEDIMG_GTK_API const char *feedimg_gtk_image_get_media_type(FeedimgImage *self);
FEEDIMG_GTK_API const char *feedimg_gtk_image_get_path(FeedimgImage *self);
FEEDIMG_GTK_API FeedimgRole feedimg_gtk_image_get_role(FeedimgImage *self);
FEEDIMG_GTK_API GdkTexture *feedimg_gtk_image_get_texture(FeedimgImage *self);
FEEDIMG_GTK_API const char *feedimg_gtk_image_get_url(FeedimgImage *self);

G_END_DECLS

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "feedimg-gtk-loader.h"

G_BEGIN_DECLS

/**
 * FeedimgPaintable:
 *
 * The picture of one item at a time, for `GtkPicture` and other views: first the placeholder, the thumbnail or what has
 * arrived, then the image that the policy chooses. When a row of a list is used again, set the property `item`. The
 * paintable never shows the picture of an earlier item.
 */
#define FEEDIMG_TYPE_PAINTABLE (feedimg_gtk_paintable_get_type())
FEEDIMG_GTK_API G_DECLARE_FINAL_TYPE(FeedimgPaintable, feedimg_gtk_paintable, FEEDIMG, PAINTABLE, GObject)

FEEDIMG_GTK_API FeedimgPaintable *feedimg_gtk_paintable_new(FeedimgLoader *loader, int width, int height);

FEEDIMG_GTK_API const char *feedimg_gtk_paintable_get_item(FeedimgPaintable *self);
FEEDIMG_GTK_API void feedimg_gtk_paintable_set_item(FeedimgPaintable *self, const char *item);
FEEDIMG_GTK_API const char *feedimg_gtk_paintable_get_item_id(FeedimgPaintable *self);
FEEDIMG_GTK_API FeedimgRole feedimg_gtk_paintable_get_shown(FeedimgPaintable *self);
FEEDIMG_GTK_API gboolean feedimg_gtk_paintable_get_loading(FeedimgPaintable *self);
FEEDIMG_GTK_API double feedimg_gtk_paintable_get_progress(FeedimgPaintable *self);
FEEDIMG_GTK_API const char *feedimg_gtk_paintable_get_message(FeedimgPaintable *self);
FEEDIMG_GTK_API void feedimg_gtk_paintable_upgrade(FeedimgPaintable *self);

G_END_DECLS

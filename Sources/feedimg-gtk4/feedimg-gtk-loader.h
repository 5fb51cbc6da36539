/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "feedimg-gtk-image.h"
#include "feedimg-gtk-network.h"

G_BEGIN_DECLS

/**
 * FeedimgLoader:
 *
 * Decides which images of items to load, and loads them. A program makes one. It decodes images, and it calls back in
 * the default main context of the thread that made it.
 */
#define FEEDIMG_TYPE_LOADER (feedimg_gtk_loader_get_type())
FEEDIMG_GTK_API G_DECLARE_FINAL_TYPE(FeedimgLoader, feedimg_gtk_loader, FEEDIMG, LOADER, GObject)

FEEDIMG_GTK_API FeedimgLoader *feedimg_gtk_loader_new(GError **error);
FEEDIMG_GTK_API FeedimgLoader *feedimg_gtk_loader_new_with_policy(const char *policy, const char *const *overrides,
                                                                  GError **error);

FEEDIMG_GTK_API gboolean feedimg_gtk_loader_get_always_originals_on_cellular(FeedimgLoader *self);
FEEDIMG_GTK_API void feedimg_gtk_loader_set_always_originals_on_cellular(FeedimgLoader *self, gboolean always);
FEEDIMG_GTK_API FeedimgNetwork *feedimg_gtk_loader_get_network(FeedimgLoader *self);

FEEDIMG_GTK_API char *feedimg_gtk_loader_resolve(FeedimgLoader *self, const char *item, GError **error);
FEEDIMG_GTK_API void feedimg_gtk_loader_load_async(FeedimgLoader *self, const char *item, int width, int height,
                                                   GCancellable *cancellable, GAsyncReadyCallback callback,
                                                   gpointer user_data);
FEEDIMG_GTK_API FeedimgImage *feedimg_gtk_loader_load_finish(FeedimgLoader *self, GAsyncResult *result,
                                                             GError **error);
FEEDIMG_GTK_API char *feedimg_gtk_loader_get_usage(FeedimgLoader *self, int days, GError **error);
FEEDIMG_GTK_API guint64 *feedimg_gtk_loader_get_daily_usage(FeedimgLoader *self, int days, gsize *length,
                                                            GError **error);

G_END_DECLS

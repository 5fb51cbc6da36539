/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <feedimg-decoding.h>
#include <feedimg.h>
#include <gtk/gtk.h>

#include "feedimg-gtk.h"

/* An error of the C library as a GError. */
GError *_feedimg_gtk_error(const feedimg_error *error);

/* Whether a function of the C library succeeded; otherwise sets the error. */
gboolean _feedimg_gtk_check(int status, GError **error);

/* The loader of the C library, which lives as long as the object. */
feedimg_loader *_feedimg_gtk_loader_get(FeedimgLoader *self);

/* Takes the image. */
FeedimgImage *_feedimg_gtk_image_new(feedimg_image *image);

void _feedimg_gtk_network_update(FeedimgNetwork *self, const feedimg_network *network);

/* A texture with a copy of pixels. */
GdkTexture *_feedimg_gtk_texture(const feedimg_pixels *pixels);

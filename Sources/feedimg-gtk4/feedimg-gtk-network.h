/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "feedimg-gtk-types.h"

G_BEGIN_DECLS

/**
 * FeedimgNetwork:
 *
 * The active network path. `notify` tells of each change of a property.
 */
#define FEEDIMG_TYPE_NETWORK (feedimg_gtk_network_get_type())
FEEDIMG_GTK_API G_DECLARE_FINAL_TYPE(FeedimgNetwork, feedimg_gtk_network, FEEDIMG, NETWORK, GObject)

FEEDIMG_GTK_API FeedimgNetworkKind feedimg_gtk_network_get_kind(FeedimgNetwork *self);
FEEDIMG_GTK_API FeedimgMetered feedimg_gtk_network_get_metered(FeedimgNetwork *self);
FEEDIMG_GTK_API gboolean feedimg_gtk_network_get_reachable(FeedimgNetwork *self);

G_END_DECLS

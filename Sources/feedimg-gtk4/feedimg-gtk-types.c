/* SPDX-License-Identifier: Apache-2.0 */
#include "feedimg-gtk-private.h"

G_DEFINE_QUARK(feedimg-gtk-error-quark, feedimg_gtk_error)

// The enumerations have the values of the C library.
G_STATIC_ASSERT((int)FEEDIMG_ROLE_ORIGINAL == FEEDIMG_ORIGINAL && (int)FEEDIMG_ROLE_THUMBNAIL == FEEDIMG_THUMBNAIL);
G_STATIC_ASSERT((int)FEEDIMG_NETWORK_KIND_OTHER == FEEDIMG_NETWORK_OTHER);
G_STATIC_ASSERT((int)FEEDIMG_METERED_STATE_YES == FEEDIMG_METERED_YES);

static FeedimgError code(int code) {
    switch (code) {
    case FEEDIMG_ERROR_ITEM: return FEEDIMG_GTK_ERROR_INVALID_ITEM;
    case FEEDIMG_ERROR_CONFIGURATION:
    case FEEDIMG_ERROR_POLICY: return FEEDIMG_GTK_ERROR_CONFIGURATION;
    case FEEDIMG_ERROR_STATUS: return FEEDIMG_GTK_ERROR_STATUS;
    case FEEDIMG_ERROR_UNKNOWN_HOST:
    case FEEDIMG_ERROR_CONNECTION:
    case FEEDIMG_ERROR_TIMEOUT:
    case FEEDIMG_ERROR_SECURITY: return FEEDIMG_GTK_ERROR_CONNECTION;
    case FEEDIMG_ERROR_NOT_AN_IMAGE: return FEEDIMG_GTK_ERROR_NOT_AN_IMAGE;
    case FEEDIMG_ERROR_NOTHING_TO_SHOW: return FEEDIMG_GTK_ERROR_NOTHING_TO_SHOW;
    default: return FEEDIMG_GTK_ERROR_FAILED;
    }
}

GError *_feedimg_gtk_error(const feedimg_error *error) {
    if (error->code == FEEDIMG_ERROR_CANCELLED)
        return g_error_new_literal(G_IO_ERROR, G_IO_ERROR_CANCELLED, error->message);
    return g_error_new_literal(FEEDIMG_GTK_ERROR, code(error->code), error->message);
}

gboolean _feedimg_gtk_check(int status, GError **error) {
    if (status >= 0) return TRUE;
    g_propagate_error(error, _feedimg_gtk_error(feedimg_error_last()));
    return FALSE;
}

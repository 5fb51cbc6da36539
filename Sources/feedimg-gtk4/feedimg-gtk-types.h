/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gio/gio.h>

#define FEEDIMG_GTK_API __attribute__((visibility("default"))) extern

G_BEGIN_DECLS

/**
 * FEEDIMG_GTK_ERROR:
 *
 * The domain of errors.
 */
#define FEEDIMG_GTK_ERROR (feedimg_gtk_error_quark())
FEEDIMG_GTK_API GQuark feedimg_gtk_error_quark(void);

/**
 * FeedimgError:
 * @FEEDIMG_GTK_ERROR_FAILED: any other error; the message has the reason.
 * @FEEDIMG_GTK_ERROR_INVALID_ITEM: the item is not valid; the message names the member.
 * @FEEDIMG_GTK_ERROR_CONFIGURATION: a policy, a fact or a setting is not valid.
 * @FEEDIMG_GTK_ERROR_STATUS: the server responded with an error.
 * @FEEDIMG_GTK_ERROR_CONNECTION: there is no connection to the server.
 * @FEEDIMG_GTK_ERROR_NOT_AN_IMAGE: the response is not a valid image.
 * @FEEDIMG_GTK_ERROR_NOTHING_TO_SHOW: the policy shows the placeholder.
 *
 * The codes of %FEEDIMG_GTK_ERROR. A cancelled function fails with %G_IO_ERROR_CANCELLED instead.
 */
typedef enum {
    FEEDIMG_GTK_ERROR_FAILED,
    FEEDIMG_GTK_ERROR_INVALID_ITEM,
    FEEDIMG_GTK_ERROR_CONFIGURATION,
    FEEDIMG_GTK_ERROR_STATUS,
    FEEDIMG_GTK_ERROR_CONNECTION,
    FEEDIMG_GTK_ERROR_NOT_AN_IMAGE,
    FEEDIMG_GTK_ERROR_NOTHING_TO_SHOW
} FeedimgError;

/**
 * FeedimgRole:
 * @FEEDIMG_ROLE_PLACEHOLDER: no image: the colour or the blurred preview of the item.
 * @FEEDIMG_ROLE_THUMBNAIL: the thumbnail.
 * @FEEDIMG_ROLE_ORIGINAL: the original.
 *
 * The image of an item that is shown.
 */
typedef enum {
    FEEDIMG_ROLE_PLACEHOLDER,
    FEEDIMG_ROLE_THUMBNAIL,
    FEEDIMG_ROLE_ORIGINAL
} FeedimgRole;

/**
 * FeedimgNetworkKind:
 * @FEEDIMG_NETWORK_KIND_OFFLINE: no usable route.
 * @FEEDIMG_NETWORK_KIND_WIFI: Wi-Fi.
 * @FEEDIMG_NETWORK_KIND_ETHERNET: a cable.
 * @FEEDIMG_NETWORK_KIND_CELLULAR: a modem, or a phone that shares its data.
 * @FEEDIMG_NETWORK_KIND_OTHER: a network whose hardware is unknown.
 *
 * The kind of the active network path.
 */
typedef enum {
    FEEDIMG_NETWORK_KIND_OFFLINE,
    FEEDIMG_NETWORK_KIND_WIFI,
    FEEDIMG_NETWORK_KIND_ETHERNET,
    FEEDIMG_NETWORK_KIND_CELLULAR,
    FEEDIMG_NETWORK_KIND_OTHER
} FeedimgNetworkKind;

/**
 * FeedimgMetered:
 * @FEEDIMG_METERED_STATE_UNKNOWN: not known.
 * @FEEDIMG_METERED_STATE_NO: data costs nothing.
 * @FEEDIMG_METERED_STATE_YES: the user pays for data.
 *
 * Whether the user pays for the data of a network.
 */
typedef enum {
    FEEDIMG_METERED_STATE_UNKNOWN,
    FEEDIMG_METERED_STATE_NO,
    FEEDIMG_METERED_STATE_YES
} FeedimgMetered;

G_END_DECLS

/* SPDX-License-Identifier: Apache-2.0 */
#include "feedimg-gtk-private.h"

struct _FeedimgNetwork {
    GObject parent_instance;
    FeedimgNetworkKind kind;
    FeedimgMetered metered;
    gboolean is_reachable;
};

G_DEFINE_FINAL_TYPE(FeedimgNetwork, feedimg_gtk_network, G_TYPE_OBJECT)

enum { PROP_KIND = 1, PROP_METERED, PROP_REACHABLE, PROP_COUNT };
static GParamSpec *properties[PROP_COUNT];

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
    FeedimgNetwork *self = FEEDIMG_NETWORK(object);
    switch (id) {
    case PROP_KIND: g_value_set_enum(value, self->kind); break;
    case PROP_METERED: g_value_set_enum(value, self->metered); break;
    case PROP_REACHABLE: g_value_set_boolean(value, self->is_reachable); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

static void feedimg_gtk_network_class_init(FeedimgNetworkClass *class) {
    GObjectClass *object_class = G_OBJECT_CLASS(class);
    object_class->get_property = get_property;
    GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
    /**
     * FeedimgNetwork:kind: (getter get_kind)
     *
     * The kind of the network path.
     */
    properties[PROP_KIND] = g_param_spec_enum("kind", NULL, NULL, FEEDIMG_TYPE_NETWORK_KIND,
                                              FEEDIMG_NETWORK_KIND_OFFLINE, flags);
    /**
     * FeedimgNetwork:metered: (getter get_metered)
     *
     * Whether the user pays for the data.
     */
    properties[PROP_METERED] = g_param_spec_enum("metered", NULL, NULL, FEEDIMG_TYPE_METERED,
                                                 FEEDIMG_METERED_STATE_UNKNOWN, flags);
    /**
     * FeedimgNetwork:reachable: (getter get_reachable)
     *
     * Whether the path may reach the internet.
     */
    properties[PROP_REACHABLE] = g_param_spec_boolean("reachable", NULL, NULL, FALSE, flags);
    g_object_class_install_properties(object_class, PROP_COUNT, properties);
}

static void feedimg_gtk_network_init(FeedimgNetwork *self) { (void)self; }

void _feedimg_gtk_network_update(FeedimgNetwork *self, const feedimg_network *network) {
    FeedimgNetwork old = *self;
    self->kind = (FeedimgNetworkKind)network->kind;
    self->metered = (FeedimgMetered)network->metered;
    self->is_reachable = network->is_reachable;
    g_object_freeze_notify(G_OBJECT(self));
    if (self->kind != old.kind) g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_KIND]);
    if (self->metered != old.metered) g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_METERED]);
    if (self->is_reachable != old.is_reachable) g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_REACHABLE]);
    g_object_thaw_notify(G_OBJECT(self));
}

/**
 * feedimg_gtk_network_get_kind: (get-property kind)
 *
 * Returns: the kind of the network path.
 */
FeedimgNetworkKind feedimg_gtk_network_get_kind(FeedimgNetwork *self) {
    g_return_val_if_fail(FEEDIMG_IS_NETWORK(self), FEEDIMG_NETWORK_KIND_OFFLINE);
    return self->kind;
}

/**
 * feedimg_gtk_network_get_metered: (get-property metered)
 *
 * Returns: whether the user pays for the data.
 */
FeedimgMetered feedimg_gtk_network_get_metered(FeedimgNetwork *self) {
    g_return_val_if_fail(FEEDIMG_IS_NETWORK(self), FEEDIMG_METERED_STATE_UNKNOWN);
    return self->metered;
}

/**
 * feedimg_gtk_network_get_reachable: (get-property reachable)
 *
 * Returns: whether the path may reach the internet.
 */
gboolean feedimg_gtk_network_get_reachable(FeedimgNetwork *self) {
    g_return_val_if_fail(FEEDIMG_IS_NETWORK(self), FALSE);
    return self->is_reachable;
}

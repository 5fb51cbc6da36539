/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "feedimg-gtk-animation.h"

struct _FeedimgPaintable {
    GObject parent_instance;
    FeedimgLoader *loader;
    feedimg_slot *slot;
    char *item;
    int width;
    int height;
    /* What is drawn; NULL until the first presentation. */
    feedimg_presentation *presentation;
    GdkTexture *texture;
    char *message;
    /* Plays the image of the presentation; NULL for still images. */
    Animation *animation;
};

static void paintable_init(GdkPaintableInterface *interface);

G_DEFINE_FINAL_TYPE_WITH_CODE(FeedimgPaintable, feedimg_gtk_paintable, G_TYPE_OBJECT,
                              G_IMPLEMENT_INTERFACE(GDK_TYPE_PAINTABLE, paintable_init))

enum {
    PROP_LOADER = 1,
    PROP_WIDTH,
    PROP_HEIGHT,
    PROP_ITEM,
    PROP_SHOWN,
    PROP_LOADING,
    PROP_PROGRESS,
    PROP_MESSAGE,
    PROP_COUNT
};
static GParamSpec *properties[PROP_COUNT];

// MARK: Drawing

static void snapshot(GdkPaintable *paintable, GdkSnapshot *snapshot, double width, double height) {
    FeedimgPaintable *self = FEEDIMG_PAINTABLE(paintable);
    graphene_rect_t bounds = GRAPHENE_RECT_INIT(0, 0, (float)width, (float)height);
    if (self->texture) {
        gtk_snapshot_append_texture(snapshot, self->texture, &bounds);
        return;
    }
    const char *text = self->presentation ? feedimg_presentation_color(self->presentation) : NULL;
    GdkRGBA color;
    if (text && gdk_rgba_parse(&color, text)) gtk_snapshot_append_color(snapshot, &color, &bounds);
}

static GdkPaintable *current_image(GdkPaintable *paintable) {
    FeedimgPaintable *self = FEEDIMG_PAINTABLE(paintable);
    if (self->texture) return GDK_PAINTABLE(g_object_ref(self->texture));
    return gdk_paintable_new_empty(self->width, self->height);
}

/* The texture of a placeholder may be a single pixel, which is stretched over the view. */
static gboolean has_image(FeedimgPaintable *self) {
    return self->texture && (feedimg_presentation_shown(self->presentation) != FEEDIMG_PLACEHOLDER ||
                             feedimg_presentation_is_partial(self->presentation));
}

static int intrinsic_width(GdkPaintable *paintable) {
    FeedimgPaintable *self = FEEDIMG_PAINTABLE(paintable);
    return has_image(self) ? gdk_texture_get_width(self->texture) : self->width;
}

static int intrinsic_height(GdkPaintable *paintable) {
    FeedimgPaintable *self = FEEDIMG_PAINTABLE(paintable);
    return has_image(self) ? gdk_texture_get_height(self->texture) : self->height;
}

static void paintable_init(GdkPaintableInterface *interface) {
    interface->snapshot = snapshot;
    interface->get_current_image = current_image;
    interface->get_intrinsic_width = intrinsic_width;
    interface->get_intrinsic_height = intrinsic_height;
}

// MARK: Presentations

static void show_frame(GdkTexture *frame, gpointer payload) {
    FeedimgPaintable *self = payload;
    g_set_object(&self->texture, frame);
    gdk_paintable_invalidate_contents(GDK_PAINTABLE(self));
}

static gboolean plays_animations(void) {
    GtkSettings *settings = gdk_display_get_default() ? gtk_settings_get_default() : NULL;
    gboolean plays = TRUE;
    if (settings) g_object_get(settings, "gtk-enable-animations", &plays, NULL);
    return plays;
}

/* The file of an animated image. NULL for others, and for images that the scan of a better one covers. */
static const void *animated_file(size_t *length, const feedimg_presentation *presentation) {
    const feedimg_image *image = presentation ? feedimg_presentation_image(presentation) : NULL;
    if (!image || feedimg_presentation_is_partial(presentation) || !feedimg_image_is_animated(image)) return NULL;
    return feedimg_image_bytes(length, image);
}

/* Draws the pixels of a presentation, and plays its animation. An animation that plays already continues.
 *
 * Returns whether the view must be drawn again. */
static gboolean draw(FeedimgPaintable *self, const feedimg_presentation *next) {
    size_t length = 0, size = 0;
    const void *file = animated_file(&length, next);
    const void *playing = self->animation ? animated_file(&size, self->presentation) : NULL;
    // A new version has the URL of the earlier one. The same version may be at another address.
    if (file && playing && length == size && (file == playing || memcmp(file, playing, size) == 0))
        return FALSE;
    feedimg_pixels pixels = FEEDIMG_PIXELS_INIT, drawn = FEEDIMG_PIXELS_INIT;
    gboolean has_pixels = next && feedimg_presentation_pixels(&pixels, next) == 1;
    // Presentations that differ only in their progress share their pixels. An animation has drawn a later frame.
    gboolean is_drawn = has_pixels && self->texture && !self->animation &&
                        feedimg_presentation_pixels(&drawn, self->presentation) == 1 && pixels.data == drawn.data &&
                        pixels.width == drawn.width && pixels.height == drawn.height;
    g_clear_pointer(&self->animation, _feedimg_gtk_animation_stop);
    if (!is_drawn) g_clear_object(&self->texture);
    if (has_pixels && !is_drawn) self->texture = _feedimg_gtk_texture(&pixels);
    if (has_pixels && file && plays_animations())
        self->animation =
            _feedimg_gtk_animation_start(g_bytes_new(file, length), self->width, self->height, show_frame, self);
    return !is_drawn;
}

/* Draws a presentation from now on. NULL draws nothing. */
static void present(FeedimgPaintable *self, feedimg_presentation *presentation) {
    GObject *object = G_OBJECT(self);
    g_object_freeze_notify(object);
    int width = intrinsic_width(GDK_PAINTABLE(self)), height = intrinsic_height(GDK_PAINTABLE(self));
    gboolean is_changed = draw(self, presentation);
    feedimg_presentation_free(self->presentation);
    self->presentation = presentation;
    const feedimg_error *error = presentation ? feedimg_presentation_error(presentation) : NULL;
    g_free(self->message);
    self->message = error ? g_strdup(error->message) : NULL;
    for (guint id = PROP_SHOWN; id < PROP_COUNT; id++) g_object_notify_by_pspec(object, properties[id]);
    if (width != intrinsic_width(GDK_PAINTABLE(self)) || height != intrinsic_height(GDK_PAINTABLE(self)))
        gdk_paintable_invalidate_size(GDK_PAINTABLE(self));
    if (is_changed) gdk_paintable_invalidate_contents(GDK_PAINTABLE(self));
    g_object_thaw_notify(object);
}

static void presented(feedimg_presentation *presentation, void *payload) {
    // A handler of a signal may release the paintable.
    g_autoptr(FeedimgPaintable) self = g_object_ref(payload);
    present(self, presentation);
}

/* Draws what the slot has at once, so that a view never shows the item before. */
static void present_now(FeedimgPaintable *self) {
    feedimg_presentation *presentation = NULL;
    if (feedimg_slot_presentation(&presentation, self->slot) != 1) presentation = NULL;
    present(self, presentation);
}

// MARK: The object

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
    FeedimgPaintable *self = FEEDIMG_PAINTABLE(object);
    switch (id) {
    case PROP_LOADER: g_value_set_object(value, self->loader); break;
    case PROP_WIDTH: g_value_set_int(value, self->width); break;
    case PROP_HEIGHT: g_value_set_int(value, self->height); break;
    case PROP_ITEM: g_value_set_string(value, self->item); break;
    case PROP_SHOWN: g_value_set_enum(value, feedimg_gtk_paintable_get_shown(self)); break;
    case PROP_LOADING: g_value_set_boolean(value, feedimg_gtk_paintable_get_loading(self)); break;
    case PROP_PROGRESS: g_value_set_double(value, feedimg_gtk_paintable_get_progress(self)); break;
    case PROP_MESSAGE: g_value_set_string(value, self->message); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
    FeedimgPaintable *self = FEEDIMG_PAINTABLE(object);
    switch (id) {
    case PROP_LOADER: self->loader = g_value_dup_object(value); break;
    case PROP_WIDTH: self->width = g_value_get_int(value); break;
    case PROP_HEIGHT: self->height = g_value_get_int(value); break;
    case PROP_ITEM: feedimg_gtk_paintable_set_item(self, g_value_get_string(value)); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

static void constructed(GObject *object) {
    FeedimgPaintable *self = FEEDIMG_PAINTABLE(object);
    G_OBJECT_CLASS(feedimg_gtk_paintable_parent_class)->constructed(object);
    g_return_if_fail(self->loader != NULL);
    feedimg_slot_new(&self->slot, _feedimg_gtk_loader_get(self->loader), presented, self);
}

static void dispose(GObject *object) {
    FeedimgPaintable *self = FEEDIMG_PAINTABLE(object);
    g_clear_pointer(&self->slot, feedimg_slot_free);
    g_clear_pointer(&self->animation, _feedimg_gtk_animation_stop);
    g_clear_pointer(&self->presentation, feedimg_presentation_free);
    g_clear_object(&self->texture);
    g_clear_object(&self->loader);
    G_OBJECT_CLASS(feedimg_gtk_paintable_parent_class)->dispose(object);
}

static void finalize(GObject *object) {
    FeedimgPaintable *self = FEEDIMG_PAINTABLE(object);
    g_free(self->item);
    g_free(self->message);
    G_OBJECT_CLASS(feedimg_gtk_paintable_parent_class)->finalize(object);
}

static void feedimg_gtk_paintable_class_init(FeedimgPaintableClass *class) {
    GObjectClass *object_class = G_OBJECT_CLASS(class);
    object_class->get_property = get_property;
    object_class->set_property = set_property;
    object_class->constructed = constructed;
    object_class->dispose = dispose;
    object_class->finalize = finalize;
    GParamFlags construct = G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS;
    GParamFlags read = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
    /**
     * FeedimgPaintable:loader:
     *
     * The loader.
     */
    properties[PROP_LOADER] = g_param_spec_object("loader", NULL, NULL, FEEDIMG_TYPE_LOADER, construct);
    /**
     * FeedimgPaintable:width:
     *
     * The width of the view in pixels of the device; 0 for no limit.
     */
    properties[PROP_WIDTH] = g_param_spec_int("width", NULL, NULL, 0, G_MAXINT, 0, construct);
    /**
     * FeedimgPaintable:height:
     *
     * The height of the view in pixels of the device; 0 for no limit.
     */
    properties[PROP_HEIGHT] = g_param_spec_int("height", NULL, NULL, 0, G_MAXINT, 0, construct);
    /**
     * FeedimgPaintable:item: (getter get_item) (setter set_item)
     *
     * The item as JSON; %NULL to show nothing. Another value binds the paintable to another item at once.
     */
    properties[PROP_ITEM] = g_param_spec_string("item", NULL, NULL, NULL,
                                                G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
    /**
     * FeedimgPaintable:shown: (getter get_shown)
     *
     * What is drawn.
     */
    properties[PROP_SHOWN] = g_param_spec_enum("shown", NULL, NULL, FEEDIMG_TYPE_ROLE, FEEDIMG_ROLE_PLACEHOLDER, read);
    /**
     * FeedimgPaintable:loading: (getter get_loading)
     *
     * Whether a better image is on its way.
     */
    properties[PROP_LOADING] = g_param_spec_boolean("loading", NULL, NULL, FALSE, read);
    /**
     * FeedimgPaintable:progress: (getter get_progress)
     *
     * The received part of the image that is loading, from 0 to 1; 0 if its length is unknown.
     */
    properties[PROP_PROGRESS] = g_param_spec_double("progress", NULL, NULL, 0, 1, 0, read);
    /**
     * FeedimgPaintable:message: (getter get_message)
     *
     * Why the chosen image is not shown; %NULL without a failure.
     */
    properties[PROP_MESSAGE] = g_param_spec_string("message", NULL, NULL, NULL, read);
    g_object_class_install_properties(object_class, PROP_COUNT, properties);
}

static void feedimg_gtk_paintable_init(FeedimgPaintable *self) { (void)self; }

/**
 * feedimg_gtk_paintable_new:
 * @loader: the loader.
 * @width: the width of the view in pixels of the device; 0 for no limit.
 * @height: the height of the view in pixels of the device; 0 for no limit.
 *
 * Makes a paintable that shows nothing yet. Images are decoded to the size, and never enlarged.
 *
 * Returns: (transfer full): a paintable.
 */
FeedimgPaintable *feedimg_gtk_paintable_new(FeedimgLoader *loader, int width, int height) {
    g_return_val_if_fail(FEEDIMG_IS_LOADER(loader), NULL);
    return g_object_new(FEEDIMG_TYPE_PAINTABLE, "loader", loader, "width", width, "height", height, NULL);
}

/**
 * feedimg_gtk_paintable_get_item: (get-property item)
 *
 * Returns: (transfer none) (nullable): the item as JSON.
 */
const char *feedimg_gtk_paintable_get_item(FeedimgPaintable *self) {
    g_return_val_if_fail(FEEDIMG_IS_PAINTABLE(self), NULL);
    return self->item;
}

/* Binds the slot to an item. Returns NULL, or why the item cannot be shown. */
static char *bind(FeedimgPaintable *self, const char *json) {
    feedimg_item *item = NULL;
    if (feedimg_item_new(&item, json) != FEEDIMG_OK) return g_strdup(feedimg_error_last()->message);
    feedimg_pixel_request pixels = FEEDIMG_PIXEL_REQUEST_INIT;
    pixels.width = self->width;
    pixels.height = self->height;
    feedimg_load_options options = FEEDIMG_LOAD_OPTIONS_INIT;
    options.pixels = &pixels;
    int status = feedimg_slot_show(self->slot, item, &options);
    feedimg_item_free(item);
    return status == FEEDIMG_OK ? NULL : g_strdup(feedimg_error_last()->message);
}

/**
 * feedimg_gtk_paintable_set_item: (set-property item)
 * @item: (nullable): an item as JSON; %NULL to show nothing.
 *
 * Binds the paintable to an item, and cancels the loads for the item before. An invalid item shows nothing, and
 * the property `message` has the reason.
 */
void feedimg_gtk_paintable_set_item(FeedimgPaintable *self, const char *item) {
    g_return_if_fail(FEEDIMG_IS_PAINTABLE(self));
    if (g_strcmp0(self->item, item) == 0) return;
    g_free(self->item);
    self->item = g_strdup(item);
    g_autofree char *fault = item ? bind(self, item) : NULL;
    if (!item || fault) feedimg_slot_clear(self->slot);
    present_now(self);
    if (fault) {
        self->message = g_steal_pointer(&fault);
        g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_MESSAGE]);
    }
    g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_ITEM]);
}

/**
 * feedimg_gtk_paintable_get_item_id:
 *
 * Returns: (transfer none) (nullable): the member `id` of the item; %NULL without one.
 */
const char *feedimg_gtk_paintable_get_item_id(FeedimgPaintable *self) {
    g_return_val_if_fail(FEEDIMG_IS_PAINTABLE(self), NULL);
    return self->presentation ? feedimg_presentation_item_id(self->presentation) : NULL;
}

/**
 * feedimg_gtk_paintable_get_shown: (get-property shown)
 *
 * Returns: what is drawn.
 */
FeedimgRole feedimg_gtk_paintable_get_shown(FeedimgPaintable *self) {
    g_return_val_if_fail(FEEDIMG_IS_PAINTABLE(self), FEEDIMG_ROLE_PLACEHOLDER);
    return self->presentation ? (FeedimgRole)feedimg_presentation_shown(self->presentation) : FEEDIMG_ROLE_PLACEHOLDER;
}

/**
 * feedimg_gtk_paintable_get_loading: (get-property loading)
 *
 * Returns: whether a better image is on its way.
 */
gboolean feedimg_gtk_paintable_get_loading(FeedimgPaintable *self) {
    g_return_val_if_fail(FEEDIMG_IS_PAINTABLE(self), FALSE);
    return self->presentation && feedimg_presentation_is_loading(self->presentation);
}

/**
 * feedimg_gtk_paintable_get_progress: (get-property progress)
 *
 * Returns: the received part of the image that is loading, from 0 to 1.
 */
double feedimg_gtk_paintable_get_progress(FeedimgPaintable *self) {
    g_return_val_if_fail(FEEDIMG_IS_PAINTABLE(self), 0);
    uint64_t received = 0, total = 0;
    if (!self->presentation || feedimg_presentation_progress(&received, &total, self->presentation) != 1 || !total)
        return 0;
    return MIN(1, (double)received / (double)total);
}

/**
 * feedimg_gtk_paintable_get_message: (get-property message)
 *
 * Returns: (transfer none) (nullable): why the chosen image is not shown.
 */
const char *feedimg_gtk_paintable_get_message(FeedimgPaintable *self) {
    g_return_val_if_fail(FEEDIMG_IS_PAINTABLE(self), NULL);
    return self->message;
}

/**
 * feedimg_gtk_paintable_upgrade:
 *
 * Loads the original that the policy leaves to the user, such as after a tap. A thumbnail that is large enough for the
 * view stays.
 */
void feedimg_gtk_paintable_upgrade(FeedimgPaintable *self) {
    g_return_if_fail(FEEDIMG_IS_PAINTABLE(self));
    feedimg_slot_upgrade(self->slot);
}

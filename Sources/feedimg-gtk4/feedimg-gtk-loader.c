/* SPDX-License-Identifier: Apache-2.0 */
#include <glib-unix.h>
#include <string.h>

#include "feedimg-gtk-private.h"

struct _FeedimgLoader {
    GObject parent_instance;
    feedimg_loader *loader;
    feedimg_watch *watch;
    FeedimgNetwork *network;
    GMainContext *context;
    /* Calls back while the loader has callbacks that wait. */
    GSource *source;
};

G_DEFINE_FINAL_TYPE(FeedimgLoader, feedimg_gtk_loader, G_TYPE_OBJECT)

enum { PROP_ALWAYS_ORIGINALS_ON_CELLULAR = 1, PROP_NETWORK, PROP_COUNT };
static GParamSpec *properties[PROP_COUNT];

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
    FeedimgLoader *self = FEEDIMG_LOADER(object);
    switch (id) {
    case PROP_ALWAYS_ORIGINALS_ON_CELLULAR:
        g_value_set_boolean(value, feedimg_gtk_loader_get_always_originals_on_cellular(self));
        break;
    case PROP_NETWORK: g_value_set_object(value, self->network); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
    switch (id) {
    case PROP_ALWAYS_ORIGINALS_ON_CELLULAR:
        feedimg_gtk_loader_set_always_originals_on_cellular(FEEDIMG_LOADER(object), g_value_get_boolean(value));
        break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

static void dispose(GObject *object) {
    FeedimgLoader *self = FEEDIMG_LOADER(object);
    if (self->source) g_source_destroy(self->source);
    g_clear_pointer(&self->source, g_source_unref);
    g_clear_pointer(&self->watch, feedimg_watch_free);
    G_OBJECT_CLASS(feedimg_gtk_loader_parent_class)->dispose(object);
}

static void finalize(GObject *object) {
    FeedimgLoader *self = FEEDIMG_LOADER(object);
    if (self->loader) feedimg_loader_free(self->loader);
    g_object_unref(self->network);
    g_main_context_unref(self->context);
    G_OBJECT_CLASS(feedimg_gtk_loader_parent_class)->finalize(object);
}

static void feedimg_gtk_loader_class_init(FeedimgLoaderClass *class) {
    GObjectClass *object_class = G_OBJECT_CLASS(class);
    object_class->get_property = get_property;
    object_class->set_property = set_property;
    object_class->dispose = dispose;
    object_class->finalize = finalize;
    /**
     * FeedimgLoader:always-originals-on-cellular: (getter get_always_originals_on_cellular) (setter set_always_originals_on_cellular)
     *
     * The user's setting for all programs: load originals on cellular networks too.
     */
    properties[PROP_ALWAYS_ORIGINALS_ON_CELLULAR] =
        g_param_spec_boolean("always-originals-on-cellular", NULL, NULL, FALSE,
                             G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
    /**
     * FeedimgLoader:network: (getter get_network)
     *
     * The network, which notifies of changes.
     */
    properties[PROP_NETWORK] = g_param_spec_object("network", NULL, NULL, FEEDIMG_TYPE_NETWORK,
                                                   G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
    g_object_class_install_properties(object_class, PROP_COUNT, properties);
}

static void feedimg_gtk_loader_init(FeedimgLoader *self) {
    self->network = g_object_new(FEEDIMG_TYPE_NETWORK, NULL);
    self->context = g_main_context_ref_thread_default();
}

feedimg_loader *_feedimg_gtk_loader_get(FeedimgLoader *self) { return self->loader; }

static void network_changed(const feedimg_network *network, void *payload) {
    _feedimg_gtk_network_update(FEEDIMG_LOADER(payload)->network, network);
}

static gboolean dispatch(int descriptor, GIOCondition condition, gpointer payload) {
    (void)descriptor, (void)condition;
    // A callback may release the loader.
    g_autoptr(FeedimgLoader) self = g_object_ref(payload);
    feedimg_loader_dispatch(self->loader);
    return G_SOURCE_CONTINUE;
}

/* Overrides such as `network=cellular`, as facts that point into them. */
static feedimg_fact *facts(const char *const *overrides, GStrv *names) {
    guint count = overrides ? g_strv_length((GStrv)overrides) : 0;
    feedimg_fact *list = g_new0(feedimg_fact, count + 1);
    *names = g_new0(char *, count + 1);
    for (guint index = 0; index < count; index++) {
        char *name = (*names)[index] = g_strdup(overrides[index]);
        char *equals = strchr(name, '=');
        if (equals) *equals = '\0';
        list[index] = (feedimg_fact){name, equals ? equals + 1 : ""};
    }
    return list;
}

/**
 * feedimg_gtk_loader_new_with_policy:
 * @policy: (nullable): the name of a policy; %NULL for the default.
 * @overrides: (nullable) (array zero-terminated=1): facts that replace those of the system, such as
 *   `network=cellular`.
 * @error: return location for an error.
 *
 * Makes a loader with a policy.
 *
 * Returns: (transfer full): a loader, or %NULL with an error.
 */
FeedimgLoader *feedimg_gtk_loader_new_with_policy(const char *policy, const char *const *overrides, GError **error) {
    g_return_val_if_fail(error == NULL || *error == NULL, NULL);
    g_auto(GStrv) names = NULL;
    g_autofree feedimg_fact *list = facts(overrides, &names);
    feedimg_options options = FEEDIMG_OPTIONS_INIT;
    options.dispatch = FEEDIMG_DISPATCH_LOOP;
    options.policy = policy;
    options.overrides = list;
    options.override_count = g_strv_length(names);
    options.decoder = feedimg_codecs();
    g_autoptr(FeedimgLoader) self = g_object_new(FEEDIMG_TYPE_LOADER, NULL);
    if (!_feedimg_gtk_check(feedimg_loader_new(&self->loader, &options), error)) return NULL;
    int descriptor = -1;
    if (!_feedimg_gtk_check(feedimg_loader_fd(&descriptor, self->loader), error)) return NULL;
    self->source = g_unix_fd_source_new(descriptor, G_IO_IN);
    g_source_set_callback(self->source, G_SOURCE_FUNC(dispatch), self, NULL);
    g_source_attach(self->source, self->context);
    feedimg_network network = FEEDIMG_NETWORK_INIT;
    if (!_feedimg_gtk_check(feedimg_loader_network(&network, self->loader), error)) return NULL;
    _feedimg_gtk_network_update(self->network, &network);
    if (!_feedimg_gtk_check(feedimg_loader_watch_network(&self->watch, self->loader, network_changed, self), error))
        return NULL;
    return g_steal_pointer(&self);
}

/**
 * feedimg_gtk_loader_new:
 * @error: return location for an error.
 *
 * Makes a loader with the default policy.
 *
 * Returns: (transfer full): a loader, or %NULL with an error.
 */
FeedimgLoader *feedimg_gtk_loader_new(GError **error) { return feedimg_gtk_loader_new_with_policy(NULL, NULL, error); }

/**
 * feedimg_gtk_loader_get_always_originals_on_cellular: (get-property always-originals-on-cellular)
 *
 * Returns: whether originals are loaded on cellular networks too.
 */
gboolean feedimg_gtk_loader_get_always_originals_on_cellular(FeedimgLoader *self) {
    g_return_val_if_fail(FEEDIMG_IS_LOADER(self), FALSE);
    char *value = NULL;
    if (feedimg_loader_setting(&value, self->loader, FEEDIMG_SETTING_ALWAYS_ORIGINALS) != FEEDIMG_OK) return FALSE;
    gboolean always = strcmp(value, "yes") == 0;
    feedimg_free(value);
    return always;
}

/**
 * feedimg_gtk_loader_set_always_originals_on_cellular: (set-property always-originals-on-cellular)
 *
 * Changes the setting of the user for all programs.
 */
void feedimg_gtk_loader_set_always_originals_on_cellular(FeedimgLoader *self, gboolean always) {
    g_return_if_fail(FEEDIMG_IS_LOADER(self));
    if (feedimg_gtk_loader_get_always_originals_on_cellular(self) == !!always) return;
    const char *value = always ? "yes" : "no";
    if (feedimg_loader_set_setting(self->loader, FEEDIMG_SETTING_ALWAYS_ORIGINALS, value) != FEEDIMG_OK) {
        g_warning("%s", feedimg_error_last()->message);
        return;
    }
    g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_ALWAYS_ORIGINALS_ON_CELLULAR]);
}

/**
 * feedimg_gtk_loader_get_network: (get-property network)
 *
 * Returns: (transfer none): the network, which notifies of changes.
 */
FeedimgNetwork *feedimg_gtk_loader_get_network(FeedimgLoader *self) {
    g_return_val_if_fail(FEEDIMG_IS_LOADER(self), NULL);
    return self->network;
}

/**
 * feedimg_gtk_loader_resolve:
 * @item: an item as JSON.
 * @error: return location for an error.
 *
 * Decides which image of an item to show. Nothing is loaded.
 *
 * Returns: (transfer full): the decision as JSON, or %NULL with an error.
 */
char *feedimg_gtk_loader_resolve(FeedimgLoader *self, const char *item, GError **error) {
    g_return_val_if_fail(FEEDIMG_IS_LOADER(self), NULL);
    g_return_val_if_fail(item != NULL, NULL);
    feedimg_item *parsed = NULL;
    if (!_feedimg_gtk_check(feedimg_item_new(&parsed, item), error)) return NULL;
    feedimg_resolution *resolution = NULL;
    int status = feedimg_loader_resolve(&resolution, self->loader, parsed, NULL, 0);
    feedimg_item_free(parsed);
    if (!_feedimg_gtk_check(status, error)) return NULL;
    char *json = g_strdup(feedimg_resolution_json(resolution));
    feedimg_resolution_free(resolution);
    return json;
}

/**
 * feedimg_gtk_loader_get_usage:
 * @days: the number of days up to today, at least 1.
 * @error: return location for an error.
 *
 * Reports the data that all programs of the user received through feedimg, by day and network.
 *
 * Returns: (transfer full): the report as JSON, or %NULL with an error.
 */
char *feedimg_gtk_loader_get_usage(FeedimgLoader *self, int days, GError **error) {
    g_return_val_if_fail(FEEDIMG_IS_LOADER(self), NULL);
    char *json = NULL;
    if (!_feedimg_gtk_check(feedimg_loader_usage_json(&json, self->loader, days), error)) return NULL;
    char *report = g_strdup(json);
    feedimg_free(json);
    return report;
}

/**
 * feedimg_gtk_loader_get_daily_usage:
 * @days: the number of days up to today, at least 1.
 * @length: (out): the same number.
 * @error: return location for an error.
 *
 * Reads the bytes that all programs of the user received through feedimg on each day, such as for a chart.
 *
 * Returns: (transfer full) (array length=length): the bytes of each day, the last of which is today, or %NULL with an
 *   error.
 */
guint64 *feedimg_gtk_loader_get_daily_usage(FeedimgLoader *self, int days, gsize *length, GError **error) {
    g_return_val_if_fail(FEEDIMG_IS_LOADER(self), NULL);
    *length = (gsize)MAX(days, 0);
    g_autofree guint64 *bytes = g_try_new0(guint64, *length + 1);
    if (_feedimg_gtk_check(feedimg_loader_usage(bytes, self->loader, days), error)) return g_steal_pointer(&bytes);
    *length = 0;
    return NULL;
}

/* A load of feedimg_gtk_loader_load_async(). */
typedef struct {
    feedimg_load *load;
    /* Ends the load in its main context when the cancellable is cancelled; may be NULL. */
    GSource *cancellation;
} Load;

static void load_free(gpointer payload) {
    Load *load = payload;
    feedimg_load_free(load->load);
    if (load->cancellation) g_source_destroy(load->cancellation);
    g_clear_pointer(&load->cancellation, g_source_unref);
    g_free(load);
}

static void load_ended(const feedimg_error *error, feedimg_image *image, void *payload) {
    g_autoptr(GTask) task = payload;
    Load *load = g_task_get_task_data(task);
    if (load->cancellation) g_source_destroy(load->cancellation);
    if (error)
        g_task_return_error(task, _feedimg_gtk_error(error));
    else
        g_task_return_pointer(task, _feedimg_gtk_image_new(image), g_object_unref);
}

static gboolean load_cancelled(GCancellable *cancellable, gpointer payload) {
    (void)cancellable;
    g_autoptr(GTask) task = payload;
    Load *load = g_task_get_task_data(task);
    // The C library never calls back after this.
    feedimg_load_cancel(load->load);
    g_task_return_error_if_cancelled(task);
    return G_SOURCE_REMOVE;
}

/**
 * feedimg_gtk_loader_load_async:
 * @item: an item as JSON.
 * @width: the width of the texture in pixels; 0 for no limit, -1 for no texture.
 * @height: the height of the texture in pixels; 0 for no limit.
 * @cancellable: (nullable): ends the load.
 * @callback: (scope async) (closure user_data): called when the load has ended.
 * @user_data: the data for @callback.
 *
 * Loads the image that the policy chooses.
 */
void feedimg_gtk_loader_load_async(FeedimgLoader *self, const char *item, int width, int height,
                                   GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data) {
    g_return_if_fail(FEEDIMG_IS_LOADER(self));
    g_return_if_fail(item != NULL);
    g_autoptr(GTask) task = g_task_new(self, cancellable, callback, user_data);
    g_task_set_source_tag(task, feedimg_gtk_loader_load_async);
    if (g_task_return_error_if_cancelled(task)) return;
    GError *error = NULL;
    feedimg_item *parsed = NULL;
    if (!_feedimg_gtk_check(feedimg_item_new(&parsed, item), &error)) {
        g_task_return_error(task, error);
        return;
    }
    feedimg_pixel_request pixels = FEEDIMG_PIXEL_REQUEST_INIT;
    pixels.width = MAX(width, 0);
    pixels.height = MAX(height, 0);
    feedimg_load_options options = FEEDIMG_LOAD_OPTIONS_INIT;
    options.pixels = width < 0 ? NULL : &pixels;
    Load *load = g_new0(Load, 1);
    g_task_set_task_data(task, load, load_free);
    int status = feedimg_loader_load(&load->load, self->loader, parsed, &options, load_ended, task);
    feedimg_item_free(parsed);
    if (!_feedimg_gtk_check(status, &error)) {
        g_task_return_error(task, error);
        return;
    }
    if (cancellable) {
        load->cancellation = g_cancellable_source_new(cancellable);
        g_source_set_callback(load->cancellation, G_SOURCE_FUNC(load_cancelled), task, NULL);
        g_source_attach(load->cancellation, self->context);
    }
    // load_ended() or load_cancelled() releases it.
    g_steal_pointer(&task);
}

/**
 * feedimg_gtk_loader_load_finish:
 * @result: the result.
 * @error: return location for an error.
 *
 * Returns: (transfer full): the image, or %NULL with an error.
 */
FeedimgImage *feedimg_gtk_loader_load_finish(FeedimgLoader *self, GAsyncResult *result, GError **error) {
    g_return_val_if_fail(g_task_is_valid(result, self), NULL);
    return g_task_propagate_pointer(G_TASK(result), error);
}

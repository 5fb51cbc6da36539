/* Tests libfeedimg-gtk4 without a screen: every function, and thousands of rebinds with the numbers in the pictures.
 *
 * Usage: rebind BASE COUNT, with the server of screen.py at BASE
 */
#include <feedimg-gtk.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 12, BAR = 20, WIDTH = 320, HEIGHT = 180, VIEWS = 8, PICTURES = 50, ROUNDS = 4 };

static const char *base;

static char *item(const char *role, int number) {
    return g_strdup_printf("{\"id\":\"%d\",\"originalImage\":\"%s/%s/%d\"}", number, base, role, number);
}

/* The number that the bars of a picture show. */
static int number(GdkTexture *texture) {
    g_assert_cmpint(gdk_texture_get_width(texture), ==, WIDTH);
    g_assert_cmpint(gdk_texture_get_height(texture), ==, HEIGHT);
    g_autofree guint32 *pixels = g_new(guint32, WIDTH * HEIGHT);
    gdk_texture_download(texture, (guchar *)pixels, WIDTH * 4);
    int sum = 0;
    for (int bit = 0; bit < BITS; bit++) {
        guint32 pixel = pixels[90 * WIDTH + 50 + BAR * bit];
        sum |= ((pixel & 0xff) > 128) << bit;
    }
    return sum;
}

// MARK: Loads

static void keep_result(GObject *loader, GAsyncResult *result, gpointer place) {
    (void)loader;
    *(GAsyncResult **)place = g_object_ref(result);
}

static FeedimgImage *load(FeedimgLoader *loader, const char *role, int width, GCancellable *cancellable,
                          GError **error) {
    g_autoptr(GAsyncResult) result = NULL;
    g_autofree char *json = item(role, 5);
    feedimg_gtk_loader_load_async(loader, json, width, 0, cancellable, keep_result, &result);
    if (cancellable) g_cancellable_cancel(cancellable);
    while (!result) g_main_context_iteration(NULL, TRUE);
    return feedimg_gtk_loader_load_finish(loader, result, error);
}

static void test_loads(FeedimgLoader *loader) {
    g_autoptr(GError) error = NULL;
    g_autoptr(FeedimgImage) image = load(loader, "o", 0, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(feedimg_gtk_image_get_media_type(image), ==, "image/png");
    g_assert_cmpint(feedimg_gtk_image_get_role(image), ==, FEEDIMG_ROLE_ORIGINAL);
    g_assert_true(g_str_has_suffix(feedimg_gtk_image_get_url(image), "/o/5"));
    g_autofree char *contents = NULL;
    gsize length = 0;
    g_assert_true(g_file_get_contents(feedimg_gtk_image_get_path(image), &contents, &length, NULL));
    g_autoptr(GBytes) bytes = feedimg_gtk_image_get_bytes(image);
    g_assert_cmpmem(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes), contents, length);
    g_autoptr(GdkTexture) texture = feedimg_gtk_image_get_texture(image);
    g_assert_cmpint(number(texture), ==, 5);

    // The height follows from the width.
    g_autoptr(FeedimgImage) half = load(loader, "o", WIDTH / 2, NULL, &error);
    g_assert_no_error(error);
    g_autoptr(GdkTexture) small = feedimg_gtk_image_get_texture(half);
    g_assert_cmpint(gdk_texture_get_width(small), ==, WIDTH / 2);
    g_assert_cmpint(gdk_texture_get_height(small), ==, HEIGHT / 2);

    g_autoptr(FeedimgImage) without = load(loader, "o", -1, NULL, &error);
    g_assert_no_error(error);
    g_assert_null(feedimg_gtk_image_get_texture(without));

    g_assert_null(load(loader, "missing", 0, NULL, &error));
    g_assert_error(error, FEEDIMG_GTK_ERROR, FEEDIMG_GTK_ERROR_STATUS);
    g_clear_error(&error);
    g_autoptr(GCancellable) cancellable = g_cancellable_new();
    g_assert_null(load(loader, "silent", 0, cancellable, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    g_clear_error(&error);
    // Already cancelled.
    g_assert_null(load(loader, "o", 0, cancellable, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void test_decisions(FeedimgLoader *loader) {
    g_autoptr(GError) error = NULL;
    g_autofree char *json = item("o", 7);
    g_autofree char *decision = feedimg_gtk_loader_resolve(loader, json, &error);
    g_assert_no_error(error);
    g_assert_nonnull(strstr(decision, "\"image\":\"original\""));
    g_assert_null(feedimg_gtk_loader_resolve(loader, "{}", &error));
    g_assert_error(error, FEEDIMG_GTK_ERROR, FEEDIMG_GTK_ERROR_INVALID_ITEM);
    g_clear_error(&error);
    g_autofree char *usage = feedimg_gtk_loader_get_usage(loader, 1, &error);
    g_assert_no_error(error);
    g_assert_nonnull(strstr(usage, "\"total\""));
    gsize days = 0;
    g_autofree guint64 *bytes = feedimg_gtk_loader_get_daily_usage(loader, 7, &days, &error);
    g_assert_no_error(error);
    g_assert_cmpint(days, ==, 7);
    // Transfers over loopback are not counted.
    g_assert_cmpint(bytes[6], ==, 0);
    g_assert_null(feedimg_gtk_loader_get_daily_usage(loader, 0, &days, &error));
    g_assert_error(error, FEEDIMG_GTK_ERROR, FEEDIMG_GTK_ERROR_FAILED);
    g_clear_error(&error);

    g_assert_null(feedimg_gtk_loader_new_with_policy("no-such-policy", NULL, &error));
    g_assert_error(error, FEEDIMG_GTK_ERROR, FEEDIMG_GTK_ERROR_CONFIGURATION);

    g_assert_false(feedimg_gtk_loader_get_always_originals_on_cellular(loader));
    feedimg_gtk_loader_set_always_originals_on_cellular(loader, TRUE);
    gboolean always = FALSE;
    g_object_get(loader, "always-originals-on-cellular", &always, NULL);
    g_assert_true(always);
    g_object_set(loader, "always-originals-on-cellular", FALSE, NULL);

    FeedimgNetwork *network = feedimg_gtk_loader_get_network(loader);
    gboolean is_reachable = FALSE;
    g_object_get(network, "reachable", &is_reachable, NULL);
    g_assert_cmpint(is_reachable, ==, feedimg_gtk_network_get_reachable(network));
    g_assert_cmpint(feedimg_gtk_network_get_kind(network), <=, FEEDIMG_NETWORK_KIND_OTHER);
    g_assert_cmpint(feedimg_gtk_network_get_metered(network), <=, FEEDIMG_METERED_STATE_YES);
}

// MARK: Rebinds

/* The number of the picture that a paintable shows; 0 for the placeholder. */
static int shown(FeedimgPaintable *paintable) {
    g_autoptr(GdkPaintable) image = gdk_paintable_get_current_image(GDK_PAINTABLE(paintable));
    return GDK_IS_TEXTURE(image) ? number(GDK_TEXTURE(image)) : 0;
}

static gboolean frame_ended(gpointer place) {
    *(gboolean *)place = TRUE;
    return G_SOURCE_REMOVE;
}

/* Runs the main loop for some time. */
static void run_loop(guint milliseconds) {
    gboolean has_ended = FALSE;
    g_timeout_add(milliseconds, frame_ended, &has_ended);
    while (!has_ended) g_main_context_iteration(NULL, TRUE);
}

static void test_rebinds(FeedimgLoader *loader, int count) {
    FeedimgPaintable *views[VIEWS];
    int bound[VIEWS] = {0};
    for (int view = 0; view < VIEWS; view++) views[view] = feedimg_gtk_paintable_new(loader, WIDTH, HEIGHT);
    int pictures = 0;
    for (int turn = 0; turn < count; turn++) {
        int view = turn % VIEWS;
        bound[view] = turn * 7 % PICTURES + 1;
        g_autofree char *json = item("o", bound[view]);
        feedimg_gtk_paintable_set_item(views[view], json);
        g_assert_cmpstr(feedimg_gtk_paintable_get_item(views[view]), ==, json);
        g_assert_true(shown(views[view]) == 0 || shown(views[view]) == bound[view]);
        if (view != VIEWS - 1) continue;
        // Fast scrolling at 120 frames a second, and pauses: a slot that is bound again soon delays its load.
        run_loop(turn / VIEWS % 10 == 9 ? 100 : 8);
        for (int each = 0; each < VIEWS; each++) {
            int picture = shown(views[each]);
            g_assert_true(picture == 0 || picture == bound[each]);
            pictures += picture != 0;
        }
    }
    for (int view = 0; view < VIEWS; view++) {
        while (feedimg_gtk_paintable_get_loading(views[view])) g_main_context_iteration(NULL, TRUE);
        g_assert_null(feedimg_gtk_paintable_get_message(views[view]));
        g_assert_cmpint(shown(views[view]), ==, bound[view]);
        g_assert_cmpint(atoi(feedimg_gtk_paintable_get_item_id(views[view])), ==, bound[view]);
        g_assert_cmpint(feedimg_gtk_paintable_get_shown(views[view]), ==, FEEDIMG_ROLE_ORIGINAL);
    }
    FeedimgPaintable *view = views[0];
    g_assert_cmpint(gdk_paintable_get_intrinsic_width(GDK_PAINTABLE(view)), ==, WIDTH);
    feedimg_gtk_paintable_upgrade(view);
    feedimg_gtk_paintable_set_item(view, "{\"id\":1}");
    g_assert_nonnull(feedimg_gtk_paintable_get_message(view));
    g_assert_cmpint(shown(view), ==, 0);
    g_object_set(view, "item", NULL, NULL);
    g_assert_null(feedimg_gtk_paintable_get_message(view));
    g_assert_cmpfloat(feedimg_gtk_paintable_get_progress(view), ==, 0);
    for (int each = 0; each < VIEWS; each++) g_assert_finalize_object(views[each]);
    g_print("%d rebinds, %d pictures, none in a wrong view\n", count, pictures);
    g_assert_cmpint(pictures, >, count / 16);
}

/* Shows each picture once, so that memory has all of them afterwards. */
static void show_all(FeedimgLoader *loader) {
    FeedimgPaintable *view = feedimg_gtk_paintable_new(loader, WIDTH, HEIGHT);
    for (int picture = 1; picture <= PICTURES; picture++) {
        g_autofree char *json = item("o", picture);
        feedimg_gtk_paintable_set_item(view, json);
        while (shown(view) != picture) g_main_context_iteration(NULL, TRUE);
    }
    g_assert_finalize_object(view);
}

static void presented(FeedimgPaintable *view, GParamSpec *property, gpointer count) {
    (void)view, (void)property;
    ++*(int *)count;
}

/* A placeholder has the size of the view, although its texture has one pixel. */
static void test_placeholder(FeedimgLoader *loader) {
    FeedimgPaintable *view = feedimg_gtk_paintable_new(loader, WIDTH, HEIGHT);
    g_autofree char *json =
        g_strdup_printf("{\"placeholder\":{\"color\":\"#5f4456\"},\"originalImage\":\"%s/silent/1\"}", base);
    feedimg_gtk_paintable_set_item(view, json);
    g_assert_cmpint(feedimg_gtk_paintable_get_shown(view), ==, FEEDIMG_ROLE_PLACEHOLDER);
    g_assert_cmpint(gdk_paintable_get_intrinsic_width(GDK_PAINTABLE(view)), ==, WIDTH);
    g_assert_cmpint(gdk_paintable_get_intrinsic_height(GDK_PAINTABLE(view)), ==, HEIGHT);
    // The next presentation has the same pixels, so their texture stays.
    g_autoptr(GdkPaintable) first = gdk_paintable_get_current_image(GDK_PAINTABLE(view));
    g_assert_true(GDK_IS_TEXTURE(first));
    int count = 0;
    g_signal_connect(view, "notify::shown", G_CALLBACK(presented), &count);
    while (count == 0) g_main_context_iteration(NULL, TRUE);
    g_autoptr(GdkPaintable) next = gdk_paintable_get_current_image(GDK_PAINTABLE(view));
    g_assert_true(next == first);
    g_assert_finalize_object(view);
}

/* The first scan of a progressive JPEG is shown before the server sends the second one. */
static void test_scans(FeedimgLoader *loader) {
    FeedimgPaintable *view = feedimg_gtk_paintable_new(loader, WIDTH, WIDTH);
    g_autofree char *json = item("scans", 40);
    feedimg_gtk_paintable_set_item(view, json);
    while (shown(view) == 0) g_main_context_iteration(NULL, TRUE);
    g_assert_cmpint(shown(view), ==, 40);
    g_assert_cmpint(feedimg_gtk_paintable_get_shown(view), ==, FEEDIMG_ROLE_PLACEHOLDER);
    g_assert_true(feedimg_gtk_paintable_get_loading(view));
    g_assert_cmpfloat(feedimg_gtk_paintable_get_progress(view), >, 0);
    // A scan has the shape of the image, not of the view.
    g_assert_cmpint(gdk_paintable_get_intrinsic_height(GDK_PAINTABLE(view)), ==, HEIGHT);
    // This request lets the server go on.
    g_assert_null(load(loader, "rest", 0, NULL, NULL));
    while (feedimg_gtk_paintable_get_loading(view)) g_main_context_iteration(NULL, TRUE);
    g_assert_cmpint(feedimg_gtk_paintable_get_shown(view), ==, FEEDIMG_ROLE_ORIGINAL);
    g_assert_cmpint(shown(view), ==, 40);
    g_assert_finalize_object(view);
}

/* An animation plays its frames in order, and stops after the last. */
static void test_animation(FeedimgLoader *loader) {
    FeedimgPaintable *view = feedimg_gtk_paintable_new(loader, WIDTH, HEIGHT);
    g_autofree char *json = item("animation", 20);
    feedimg_gtk_paintable_set_item(view, json);
    int last = 0;
    while (last < 22) {
        g_main_context_iteration(NULL, TRUE);
        int now = shown(view);
        g_assert_true(now == last || now == last + 1 || (last == 0 && now == 20));
        last = now;
    }
    run_loop(150);
    g_assert_cmpint(shown(view), ==, 22);
    // Another presentation of the same file does not begin again.
    int count = 0;
    g_signal_connect(view, "notify::shown", G_CALLBACK(presented), &count);
    feedimg_gtk_loader_set_always_originals_on_cellular(loader, TRUE);
    while (count == 0) g_main_context_iteration(NULL, TRUE);
    g_assert_cmpint(shown(view), ==, 22);
    feedimg_gtk_loader_set_always_originals_on_cellular(loader, FALSE);
    // Another item ends it at once.
    g_autofree char *still = item("o", 3);
    feedimg_gtk_paintable_set_item(view, json = (g_free(json), item("animation", 30)));
    while (shown(view) < 30) g_main_context_iteration(NULL, TRUE);
    feedimg_gtk_paintable_set_item(view, still);
    g_assert_cmpint(shown(view), <, 20);
    while (feedimg_gtk_paintable_get_loading(view)) g_main_context_iteration(NULL, TRUE);
    run_loop(150);
    g_assert_cmpint(shown(view), ==, 3);
    g_assert_finalize_object(view);
}

/* The width of the picture that a paintable draws; 0 for none. */
static int drawn_width(FeedimgPaintable *paintable) {
    g_autoptr(GdkPaintable) image = gdk_paintable_get_current_image(GDK_PAINTABLE(paintable));
    return GDK_IS_TEXTURE(image) ? gdk_texture_get_width(GDK_TEXTURE(image)) : 0;
}

/* No frame of a thumbnail covers the scan of its original. */
static void test_scan_of_animation(FeedimgLoader *loader) {
    // The cache has the thumbnail.
    g_autoptr(FeedimgImage) thumbnail = load(loader, "small", -1, NULL, NULL);
    g_assert_nonnull(thumbnail);
    FeedimgPaintable *view = feedimg_gtk_paintable_new(loader, WIDTH, HEIGHT);
    g_autofree char *json = g_strdup_printf("{\"thumbnailImage\":\"%s/small/5\",\"originalImage\":\"%s/scans/41\"}",
                                            base, base);
    feedimg_gtk_paintable_set_item(view, json);
    while (drawn_width(view) != WIDTH || feedimg_gtk_paintable_get_shown(view) != FEEDIMG_ROLE_THUMBNAIL)
        g_main_context_iteration(NULL, TRUE);
    run_loop(150);
    g_assert_cmpint(drawn_width(view), ==, WIDTH);
    g_assert_finalize_object(view);
}

/* The server has a new version of a cached animation, which plays in its place. */
static void test_new_version(FeedimgLoader *loader) {
    FeedimgPaintable *view = feedimg_gtk_paintable_new(loader, WIDTH, HEIGHT);
    g_autofree char *json = item("version", 5);
    feedimg_gtk_paintable_set_item(view, json);
    while (shown(view) < 17) g_main_context_iteration(NULL, TRUE);
    g_assert_cmpint(shown(view), ==, 17);
    g_assert_finalize_object(view);
}

int main(int argc, char **argv) {
    g_assert_cmpint(argc, ==, 3);
    base = argv[1];
    g_autoptr(GError) error = NULL;
    const char *overrides[] = {"network=wifi", NULL};
    FeedimgLoader *loader = feedimg_gtk_loader_new_with_policy(NULL, overrides, &error);
    g_assert_no_error(error);
    test_decisions(loader);
    test_loads(loader);
    test_placeholder(loader);
    test_scans(loader);
    test_animation(loader);
    test_scan_of_animation(loader);
    // The first version.
    g_object_unref(load(loader, "version", -1, NULL, &error));
    g_assert_no_error(error);
    show_all(loader);
    // A leak recurs in each round; the least growth of the heap leaves out memory that a round happens to keep.
    size_t used = G_MAXSIZE, growth = G_MAXSIZE;
    for (int round = 0; round < ROUNDS; round++) {
        test_rebinds(loader, atoi(argv[2]) / ROUNDS);
        size_t now = mallinfo2().uordblks;
        growth = MIN(growth, now > used ? now - used : round ? 0 : G_MAXSIZE);
        used = now;
    }
    g_print("the heap grows by %zu bytes a round\n", growth);
    g_assert_cmpint(growth, <, 100 * 1000);
    g_assert_finalize_object(loader);
    // The earlier loader would not ask the server again so soon.
    FeedimgLoader *second = feedimg_gtk_loader_new_with_policy(NULL, overrides, &error);
    g_assert_no_error(error);
    test_new_version(second);
    g_assert_finalize_object(second);
    g_autoptr(FeedimgLoader) other = feedimg_gtk_loader_new(&error);
    g_assert_no_error(error);
    return 0;
}

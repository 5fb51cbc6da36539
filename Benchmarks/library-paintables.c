/* Shows COUNT items in a window with 8 pictures, one after another, and prints the peak memory in KiB: of the empty
 * window, after a tenth and after all. Each item has its own paintable, because a paintable that is bound again soon
 * delays its load.
 *
 * Usage: library-paintables BASE COUNT
 */
#include <feedimg-gtk.h>
#include <feedimg.h>
#include <gtk/gtk.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { VIEWS = 8, COLUMNS = 4, WIDTH = 320, HEIGHT = 180 };

static long peak(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* The memory for images is a setting of the user. */
static void limit_memory(void)
{
    feedimg_loader *loader;
    if (feedimg_loader_new(&loader, NULL) || feedimg_loader_set_setting(loader, "cache-memory-limit", "8 MiB")) abort();
    feedimg_loader_free(loader);
}

static void painted(GdkFrameClock *clock, int *frames)
{
    (void)clock;
    ++*frames;
}

static GtkWidget *show_window(GtkWidget *grid)
{
    GtkWidget *window = gtk_window_new();
    int frames = 0;
    gtk_window_set_child(GTK_WINDOW(window), grid);
    gtk_window_present(GTK_WINDOW(window));
    gulong handler = g_signal_connect(gtk_widget_get_frame_clock(window), "after-paint", G_CALLBACK(painted), &frames);
    while (frames == 0) g_main_context_iteration(NULL, TRUE);
    g_signal_handler_disconnect(gtk_widget_get_frame_clock(window), handler);
    return window;
}

int main(int count, char **arguments)
{
    const char *wifi[] = {"network=wifi", "metered=no", NULL};
    GtkWidget *pictures[VIEWS];
    int items = count > 2 ? atoi(arguments[2]) : 0;
    limit_memory();
    gtk_init();
    FeedimgLoader *loader = feedimg_gtk_loader_new_with_policy(NULL, wifi, NULL);
    GtkWidget *grid = gtk_grid_new();
    for (int view = 0; view < VIEWS; view++) {
        pictures[view] = gtk_picture_new();
        gtk_widget_set_size_request(pictures[view], WIDTH, HEIGHT);
        gtk_grid_attach(GTK_GRID(grid), pictures[view], view % COLUMNS, view / COLUMNS, 1, 1);
    }
    GtkWidget *window = show_window(grid);
    printf("%ld ", peak());
    for (int first = 0; first < items; first += VIEWS) {
        FeedimgPaintable *paintables[VIEWS];
        for (int view = 0; view < VIEWS; view++) {
            char json[256];
            snprintf(json, sizeof json, "{\"originalImage\":\"%s%d\"}", arguments[1], first + view + 1);
            paintables[view] = feedimg_gtk_paintable_new(loader, WIDTH, HEIGHT);
            gtk_picture_set_paintable(GTK_PICTURE(pictures[view]), GDK_PAINTABLE(paintables[view]));
            feedimg_gtk_paintable_set_item(paintables[view], json);
        }
        for (int view = 0; view < VIEWS; view++) {
            while (feedimg_gtk_paintable_get_loading(paintables[view])
                   || feedimg_gtk_paintable_get_shown(paintables[view]) != FEEDIMG_ROLE_ORIGINAL) {
                if (feedimg_gtk_paintable_get_message(paintables[view])) abort();
                g_main_context_iteration(NULL, TRUE);
            }
            g_object_unref(paintables[view]);
        }
        if (first < items / 10 && first + VIEWS >= items / 10) printf("%ld ", peak());
    }
    printf("%ld\n", peak());
    gtk_window_destroy(GTK_WINDOW(window));
    g_object_unref(loader);
    return 0;
}

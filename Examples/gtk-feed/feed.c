/* A feed of pictures in GTK: feedimg decides which image of each row to load, and loads it.
 *
 * Usage: feed [--network=KIND] ITEMS
 *
 * The file has one item as JSON a line, as `feedimg items` prints them. --network shows the feed as on another network.
 */
#include <feedimg-gtk.h>
#include <gtk/gtk.h>

enum { WIDTH = 320, HEIGHT = 180, DAYS = 7 };

typedef struct {
    FeedimgLoader *loader;
    char *override;
    GtkStringList *items;
    GtkWidget *state, *banner, *usage;
} Feed;

static const char *nick(GType type, int value) {
    g_autoptr(GEnumClass) class = g_type_class_ref(type);
    return g_enum_get_value(class, value)->value_nick;
}

static GtkWidget *box_of_row(void) {
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    g_object_set(box, "margin-start", 12, "margin-end", 12, "margin-top", 6, "margin-bottom", 6, NULL);
    return box;
}

static void show_row(FeedimgPaintable *paintable, GParamSpec *property, GtkLabel *label) {
    const char *state = feedimg_gtk_paintable_get_message(paintable);
    if (!state) state = nick(FEEDIMG_TYPE_ROLE, feedimg_gtk_paintable_get_shown(paintable));
    if (feedimg_gtk_paintable_get_loading(paintable)) state = "loading";
    const char *id = feedimg_gtk_paintable_get_item_id(paintable);
    g_autofree char *text = g_strdup_printf("%s\n%s", id ? id : "", state);
    gtk_label_set_label(label, feedimg_gtk_paintable_get_item(paintable) ? text : "");
}

static void make_row(GtkListItemFactory *factory, GtkListItem *row, Feed *feed) {
    FeedimgPaintable *paintable = feedimg_gtk_paintable_new(feed->loader, WIDTH, HEIGHT);
    GtkWidget *picture = gtk_picture_new_for_paintable(GDK_PAINTABLE(paintable));
    gtk_widget_set_size_request(picture, WIDTH, HEIGHT);
    GtkWidget *label = gtk_label_new("");
    g_object_set(label, "xalign", 0.0, "wrap", TRUE, "hexpand", TRUE, NULL);
    g_signal_connect_object(paintable, "notify", G_CALLBACK(show_row), label, 0);
    g_signal_connect_object(paintable, "notify", G_CALLBACK(gtk_widget_queue_draw), feed->usage, G_CONNECT_SWAPPED);
    GtkGesture *tap = gtk_gesture_click_new();
    g_signal_connect_object(tap, "released", G_CALLBACK(feedimg_gtk_paintable_upgrade), paintable, G_CONNECT_SWAPPED);
    gtk_widget_add_controller(picture, GTK_EVENT_CONTROLLER(tap));
    GtkWidget *box = box_of_row();
    gtk_box_append(GTK_BOX(box), picture);
    gtk_box_append(GTK_BOX(box), label);
    gtk_list_item_set_child(row, box);
    // The row and its picture keep the paintable.
    g_object_set_data_full(G_OBJECT(row), "paintable", paintable, g_object_unref);
}

static void bind_row(GtkListItemFactory *factory, GtkListItem *row) {
    const char *item = gtk_string_object_get_string(gtk_list_item_get_item(row));
    feedimg_gtk_paintable_set_item(g_object_get_data(G_OBJECT(row), "paintable"), item);
}

static void unbind_row(GtkListItemFactory *factory, GtkListItem *row) {
    feedimg_gtk_paintable_set_item(g_object_get_data(G_OBJECT(row), "paintable"), NULL);
}

static void show_network(Feed *feed) {
    FeedimgNetwork *network = feedimg_gtk_loader_get_network(feed->loader);
    FeedimgNetworkKind kind = feedimg_gtk_network_get_kind(network);
    gboolean is_metered = !feed->override && feedimg_gtk_network_get_metered(network) == FEEDIMG_METERED_STATE_YES;
    const char *shown = feed->override ? feed->override : nick(FEEDIMG_TYPE_NETWORK_KIND, kind);
    g_autofree char *text = g_strdup_printf("Network: %s%s", shown, is_metered ? ", metered" : "");
    gtk_label_set_label(GTK_LABEL(feed->state), text);
    gtk_widget_set_visible(feed->banner, !feed->override && kind == FEEDIMG_NETWORK_KIND_OFFLINE);
}

/* Draws the bytes of each day as a bar. */
static void draw_usage(GtkDrawingArea *area, cairo_t *cairo, int width, int height, gpointer payload) {
    Feed *feed = payload;
    gsize count = 0;
    g_autofree guint64 *days = feedimg_gtk_loader_get_daily_usage(feed->loader, DAYS, &count, NULL);
    guint64 most = 1;
    for (gsize day = 0; day < count; day++) most = MAX(most, days[day]);
    cairo_set_source_rgb(cairo, 0.2, 0.5, 0.9);
    for (gsize day = 0; day < count; day++) {
        double tall = (double)height * (double)days[day] / (double)most, wide = (double)width / DAYS;
        cairo_rectangle(cairo, (double)day * wide + 1, height - tall, wide - 2, tall);
    }
    cairo_fill(cairo);
}

static GtkWidget *make_bar(Feed *feed) {
    feed->state = gtk_label_new("");
    g_object_set(feed->state, "xalign", 0.0, "hexpand", TRUE, NULL);
    GtkWidget *setting = gtk_check_button_new_with_label("Always load originals on cellular");
    g_object_bind_property(feed->loader, "always-originals-on-cellular", setting, "active",
                           G_BINDING_BIDIRECTIONAL | G_BINDING_SYNC_CREATE);
    feed->usage = gtk_drawing_area_new();
    g_object_set(feed->usage, "content-width", 120, "content-height", 24, NULL);
    gtk_widget_set_tooltip_text(feed->usage, "Data of the last seven days");
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(feed->usage), draw_usage, feed, NULL);
    GtkWidget *bar = box_of_row(), *widgets[] = {feed->state, setting, feed->usage};
    for (gsize index = 0; index < G_N_ELEMENTS(widgets); index++) gtk_box_append(GTK_BOX(bar), widgets[index]);
    return bar;
}

static void show_feed(GtkApplication *app, Feed *feed) {
    GtkWidget *page = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0), *bar = make_bar(feed);
    feed->banner = gtk_label_new("Offline: only images that were loaded before");
    gtk_widget_add_css_class(feed->banner, "error");
    GtkListItemFactory *rows = gtk_signal_list_item_factory_new();
    g_signal_connect(rows, "setup", G_CALLBACK(make_row), feed);
    g_signal_connect(rows, "bind", G_CALLBACK(bind_row), NULL);
    g_signal_connect(rows, "unbind", G_CALLBACK(unbind_row), NULL);
    GtkWidget *list = gtk_list_view_new(GTK_SELECTION_MODEL(gtk_no_selection_new(G_LIST_MODEL(feed->items))), rows);
    GtkWidget *scrolled = gtk_scrolled_window_new();
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), list);
    gtk_widget_set_vexpand(scrolled, TRUE);
    for (GtkWidget **widget = (GtkWidget *[]){bar, feed->banner, scrolled, NULL}; *widget; widget++)
        gtk_box_append(GTK_BOX(page), *widget);
    g_signal_connect_swapped(feedimg_gtk_loader_get_network(feed->loader), "notify", G_CALLBACK(show_network), feed);
    show_network(feed);
    GtkWidget *window = gtk_application_window_new(app);
    g_object_set(window, "title", "Feed", "child", page, "default-width", 520, "default-height", 640, NULL);
    gtk_window_present(GTK_WINDOW(window));
}

int main(int count, char **arguments) {
    Feed feed = {.items = gtk_string_list_new(NULL)};
    GOptionEntry entries[] = {{"network", 0, 0, G_OPTION_ARG_STRING, &feed.override, "Another network", "KIND"}, {0}};
    g_autoptr(GOptionContext) options = g_option_context_new("ITEMS");
    g_option_context_add_main_entries(options, entries, NULL);
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL, *fact = NULL;
    if (g_option_context_parse(options, &count, &arguments, &error) &&
        g_file_get_contents(count > 1 ? arguments[1] : "", &text, NULL, &error)) {
        if (feed.override) fact = g_strconcat("network=", feed.override, NULL);
        feed.loader = feedimg_gtk_loader_new_with_policy(NULL, (const char *[]){fact, NULL}, &error);
    }
    if (!feed.loader) {
        g_printerr("feed: %s\n", error->message);
        return 1;
    }
    for (char *next = text, *line; (line = strsep(&next, "\n"));)
        if (*line) gtk_string_list_append(feed.items, line);
    g_autoptr(GtkApplication) app = gtk_application_new("org.example.Feed", G_APPLICATION_NON_UNIQUE);
    g_signal_connect(app, "activate", G_CALLBACK(show_feed), &feed);
    int status = g_application_run(G_APPLICATION(app), 0, NULL);
    // The end of the loader records the data used.
    g_object_unref(feed.loader);
    return status;
}

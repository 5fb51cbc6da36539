/* Shows COUNT items in 8 slots, one after another, and prints the peak memory in KiB after a tenth and after all.
 *
 * Usage: library-items BASE COUNT
 */
#include <feedimg.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { SLOTS = 8 };

static int waiting;

static void shown(feedimg_presentation *presentation, void *payload)
{
    int *is_waiting = payload;
    if (*is_waiting && !feedimg_presentation_is_loading(presentation)) {
        if (feedimg_presentation_shown(presentation) != FEEDIMG_ORIGINAL) abort();
        *is_waiting = 0;
        waiting--;
    }
    feedimg_presentation_free(presentation);
}

static long peak(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

int main(int count, char **arguments)
{
    const feedimg_fact wifi[] = {{"network", "wifi"}, {"metered", "no"}};
    feedimg_options options = FEEDIMG_OPTIONS_INIT;
    feedimg_loader *loader;
    struct pollfd ready = {0};
    int is_waiting[SLOTS], items = count > 2 ? atoi(arguments[2]) : 0;
    options.dispatch = FEEDIMG_DISPATCH_LOOP;
    options.overrides = wifi;
    options.override_count = 2;
    options.memory_limit = 8 << 20;
    if (feedimg_loader_new(&loader, &options) || feedimg_loader_fd(&ready.fd, loader)) return 1;
    ready.events = POLLIN;
    for (int first = 0; first < items; first += SLOTS) {
        feedimg_slot *slots[SLOTS];
        for (int place = 0; place < SLOTS; place++) {
            char json[256];
            feedimg_item *item;
            snprintf(json, sizeof json, "{\"originalImage\":\"%s%d\"}", arguments[1], first + place + 1);
            is_waiting[place] = 1;
            waiting++;
            if (feedimg_slot_new(&slots[place], loader, shown, &is_waiting[place])) return 1;
            if (feedimg_item_new(&item, json) || feedimg_slot_show(slots[place], item, NULL)) return 1;
            feedimg_item_free(item);
        }
        while (waiting > 0 && poll(&ready, 1, 30000) > 0) feedimg_loader_dispatch(loader);
        if (waiting > 0) return 1;
        for (int place = 0; place < SLOTS; place++) feedimg_slot_free(slots[place]);
        if (first < items / 10 && first + SLOTS >= items / 10) printf("%ld ", peak());
    }
    printf("%ld\n", peak());
    feedimg_loader_free(loader);
    return 0;
}

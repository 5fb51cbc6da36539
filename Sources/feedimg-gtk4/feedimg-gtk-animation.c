/* SPDX-License-Identifier: Apache-2.0 */
#include "feedimg-gtk-animation.h"

/* Viewers show frames of less than the first number of milliseconds for the second. */
enum { SHORTEST = 20, USUAL = 100 };

struct _Animation {
    /* Reads the file and these from the start on. */
    GBytes *file;
    feedimg_pixel_request request;
    AnimationShow show;
    gpointer payload;
    GMainContext *context;
    gboolean is_stopped;
    /* Shows the next frame after the time of this one; NULL while a thread decodes. */
    GSource *timer;
    /* When the latest frame was shown, in microseconds, and its time. */
    gint64 shown_at;
    gint64 milliseconds;
    /* Used by the thread that decodes, and by no other at that time: */
    feedimg_frames *frames;
    int passes;
};

/* A decoded frame. */
typedef struct {
    GdkTexture *texture;
    gint64 milliseconds;
} Frame;

static void frame_free(gpointer payload) {
    Frame *frame = payload;
    g_clear_object(&frame->texture);
    g_free(frame);
}

static void animation_clear(gpointer payload) {
    Animation *self = payload;
    feedimg_frames_free(self->frames);
    g_bytes_unref(self->file);
    g_main_context_unref(self->context);
}

static void animation_unref(gpointer self) { g_atomic_rc_box_release_full(self, animation_clear); }

/* Decodes the next frame, and the first one again after the last. Returns NULL when the animation has ended. */
static Frame *next(Animation *self) {
    feedimg_frame frame = FEEDIMG_FRAME_INIT;
    for (int attempt = 0; attempt < 2; attempt++) {
        if (!self->frames) {
            gsize length = 0;
            gconstpointer bytes = g_bytes_get_data(self->file, &length);
            if (feedimg_frames_new(&self->frames, bytes, length, &self->request) != FEEDIMG_OK) return NULL;
        }
        if (feedimg_frames_next(&frame, self->frames) == 1) {
            Frame *decoded = g_new0(Frame, 1);
            const feedimg_pixels pixels = {
                sizeof pixels, frame.width, frame.height, frame.stride, frame.data, frame.is_opaque,
            };
            decoded->texture = _feedimg_gtk_texture(&pixels);
            decoded->milliseconds = frame.milliseconds < SHORTEST ? USUAL : frame.milliseconds;
            return decoded;
        }
        int most = feedimg_frames_loop_count(self->frames);
        g_clear_pointer(&self->frames, feedimg_frames_free);
        if (++self->passes == most) return NULL;
    }
    return NULL;
}

static void decode(GTask *task, gpointer source, gpointer payload, GCancellable *cancellable) {
    (void)source, (void)cancellable;
    g_task_return_pointer(task, next(payload), frame_free);
}

static void decoded(GObject *source, GAsyncResult *result, gpointer payload);

static void begin(Animation *self) {
    g_autoptr(GTask) task = g_task_new(NULL, NULL, decoded, NULL);
    g_task_set_task_data(task, g_atomic_rc_box_acquire(self), animation_unref);
    g_task_run_in_thread(task, decode);
}

/* A frame that waits for its time. */
typedef struct {
    Animation *animation;
    Frame *frame;
} Turn;

static void turn_free(gpointer payload) {
    Turn *turn = payload;
    animation_unref(turn->animation);
    frame_free(turn->frame);
    g_free(turn);
}

static gboolean show(gpointer payload) {
    Turn *turn = payload;
    Animation *self = turn->animation;
    g_clear_pointer(&self->timer, g_source_unref);
    self->shown_at = g_get_monotonic_time();
    self->milliseconds = turn->frame->milliseconds;
    begin(self);
    // The last use of the animation, because the function may stop it.
    self->show(turn->frame->texture, self->payload);
    return G_SOURCE_REMOVE;
}

static void decoded(GObject *source, GAsyncResult *result, gpointer payload) {
    (void)source, (void)payload;
    Animation *self = g_task_get_task_data(G_TASK(result));
    Frame *frame = g_task_propagate_pointer(G_TASK(result), NULL);
    if (!frame) return;
    if (self->is_stopped) {
        frame_free(frame);
        return;
    }
    gint64 elapsed = (g_get_monotonic_time() - self->shown_at) / 1000;
    Turn *turn = g_new(Turn, 1);
    *turn = (Turn){g_atomic_rc_box_acquire(self), frame};
    self->timer = g_timeout_source_new((guint)CLAMP(self->milliseconds - elapsed, 0, G_MAXINT));
    g_source_set_callback(self->timer, show, turn, turn_free);
    g_source_attach(self->timer, self->context);
}

Animation *_feedimg_gtk_animation_start(GBytes *file, int width, int height, AnimationShow show, gpointer payload) {
    Animation *self = g_atomic_rc_box_new0(Animation);
    self->file = file;
    self->request = (feedimg_pixel_request)FEEDIMG_PIXEL_REQUEST_INIT;
    self->request.width = width;
    self->request.height = height;
    self->show = show;
    self->payload = payload;
    self->context = g_main_context_ref_thread_default();
    begin(self);
    return self;
}

void _feedimg_gtk_animation_stop(Animation *self) {
    self->is_stopped = TRUE;
    if (self->timer) g_source_destroy(self->timer);
    g_clear_pointer(&self->timer, g_source_unref);
    animation_unref(self);
}

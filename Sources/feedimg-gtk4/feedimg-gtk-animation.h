/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "feedimg-gtk-private.h"

/* Plays an animation. Threads of GTask decode its frames one by one. */
typedef struct _Animation Animation;

/* Receives each frame in the main context that was the default. */
typedef void (*AnimationShow)(GdkTexture *frame, gpointer payload);

/* Starts an animation, which takes the file. The function is never called before this returns. */
Animation *_feedimg_gtk_animation_start(GBytes *file, int width, int height, AnimationShow show, gpointer payload);

/* Stops an animation and releases it. No frame arrives afterwards. */
void _feedimg_gtk_animation_stop(Animation *self);

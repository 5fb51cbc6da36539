/* feedimg-gtk4: images of feeds in GTK views, by network and cost.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * All objects belong to the thread that made their loader, and call back in the main context that was the default of
 * that thread (`g_main_context_get_thread_default()`).
 */
#pragma once

#include "feedimg-gtk-enums.h"
#include "feedimg-gtk-image.h"
#include "feedimg-gtk-loader.h"
#include "feedimg-gtk-network.h"
#include "feedimg-gtk-paintable.h"
#include "feedimg-gtk-types.h"

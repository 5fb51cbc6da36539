// Functions and constants of the C library and the kernel that Swift cannot import.
#ifndef FEEDIMG_CNETLINK_H
#define FEEDIMG_CNETLINK_H

#include <linux/fib_rules.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/nl80211.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <sys/timerfd.h>

/// The size of a buffer for the name of a driver, with its final NUL (ETHTOOL_BUSINFO_LEN of linux/ethtool.h).
#define FEEDIMG_DRIVER_LENGTH 32

/// Reads the name of the driver of an interface (SIOCETHTOOL, ETHTOOL_GDRVINFO). Needs no privileges.
///
/// The socket can be of any family; it selects the network namespace. Returns 0, or an error number.
int feedimg_link_driver(int socket, const char *interface, char driver[FEEDIMG_DRIVER_LENGTH]);

/// Drops messages about routes to small networks (a prefix longer than /16) before they are queued.
///
/// The remaining messages are about routes that can carry internet traffic: the default route, and the halves and
/// quarters of the address space that tunnels use. Returns 0, or an error number.
int feedimg_drop_narrow_routes(int socket);

#endif

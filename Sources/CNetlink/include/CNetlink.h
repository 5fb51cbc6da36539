// What Swift cannot call or cannot see of the C library and the kernel's headers.
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

/// The room for a driver's name, its final NUL included (ETHTOOL_BUSINFO_LEN of linux/ethtool.h).
#define FEEDIMG_DRIVER_LENGTH 32

/// Asks for the driver of an interface (SIOCETHTOOL, ETHTOOL_GDRVINFO), which needs no privilege.
///
/// Any socket will do: its namespace is what counts. Returns 0, or an error number.
int feedimg_link_driver(int socket, const char *interface, char driver[FEEDIMG_DRIVER_LENGTH]);

/// Drops messages about routes to small networks (a prefix longer than /16) before they are queued.
///
/// What remains can change the way to the internet: the default route, and the halves and quarters
/// with which tunnels cover it. Returns 0, or an error number.
int feedimg_drop_narrow_routes(int socket);

#endif

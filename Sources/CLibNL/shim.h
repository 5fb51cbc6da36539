#include <netlink/netlink.h>
#include <netlink/socket.h>

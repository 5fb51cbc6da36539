#include "CNetlink.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>

int feedimg_link_driver(int socket, const char *interface, char driver[FEEDIMG_DRIVER_LENGTH]) {
  struct ethtool_drvinfo information = {.cmd = ETHTOOL_GDRVINFO};
  struct ifreq request = {0};
  if (strlen(interface) >= sizeof request.ifr_name) return ENODEV;
  strcpy(request.ifr_name, interface);
  request.ifr_data = (void *)&information;
  if (ioctl(socket, SIOCETHTOOL, &request) != 0) return errno;
  _Static_assert(sizeof information.driver == FEEDIMG_DRIVER_LENGTH, "linux/ethtool.h");
  memcpy(driver, information.driver, FEEDIMG_DRIVER_LENGTH);
  driver[FEEDIMG_DRIVER_LENGTH - 1] = 0;
  return 0;
}

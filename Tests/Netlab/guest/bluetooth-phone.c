// Simulates a phone that shares its network by Bluetooth. Connects two controllers of btvirt, hci0 of the
// computer and hci1 of the phone, by a personal area network (BNEP). The interfaces are bnep0 on the computer
// and bnep1 on the phone.
//
// It omits the negotiation of bluetoothd, because the kernel does not need it. It runs until it is killed.
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

// From net/bluetooth/{bluetooth,hci_sock,l2cap,bnep/bnep}.h of the kernel, which has no user-space header.
enum { AF_BLUETOOTH_ = 31, BTPROTO_L2CAP = 0, BTPROTO_HCI = 1, BTPROTO_BNEP = 4 };
enum { PSM_BNEP = 15, BNEP_SVC_PANU = 0x1115, BNEP_SVC_NAP = 0x1116, BNEP_MTU = 1691 };
enum { SCAN_PAGE = 2, SOL_L2CAP_ = 6, L2CAP_OPTIONS_ = 1 };
#define HCIDEVUP _IOW('H', 201, int)
#define HCIGETDEVINFO _IOR('H', 211, int)
#define HCISETSCAN _IOW('H', 221, int)
#define BNEPCONNADD _IOW('B', 200, int)

struct device_info {
  uint16_t id;
  char name[8];
  uint8_t address[6];
  char rest[128];
};
struct device_request {
  uint16_t id;
  uint32_t option;
};
struct l2cap_address {
  uint16_t family, psm;
  uint8_t address[6];
  uint16_t channel;
  uint8_t type;
};
struct l2cap_options {
  uint16_t outgoing_mtu, incoming_mtu, flush_to;
  uint8_t mode, fcs, max_tx;
  uint16_t window;
};
struct bnep_request {
  int socket;
  uint32_t flags;
  uint16_t role;
  char device[16];
};

static void check(int result, const char *what) {
  if (result >= 0) return;
  perror(what);
  exit(1);
}

static struct device_info bring_up(int control, int id) {
  struct device_info info = {.id = id};
  struct device_request scan = {.id = id, .option = SCAN_PAGE};
  if (ioctl(control, HCIDEVUP, id) < 0 && errno != EALREADY) check(-1, "HCIDEVUP");
  check(ioctl(control, HCISETSCAN, &scan), "HCISETSCAN");
  check(ioctl(control, HCIGETDEVINFO, &info), "HCIGETDEVINFO");
  return info;
}

static int channel_from(const struct device_info *device) {
  int channel = socket(AF_BLUETOOTH_, SOCK_SEQPACKET, BTPROTO_L2CAP);
  check(channel, "socket");
  struct l2cap_options options;
  socklen_t size = sizeof options;
  check(getsockopt(channel, SOL_L2CAP_, L2CAP_OPTIONS_, &options, &size), "L2CAP_OPTIONS");
  options.incoming_mtu = options.outgoing_mtu = BNEP_MTU;
  check(setsockopt(channel, SOL_L2CAP_, L2CAP_OPTIONS_, &options, size), "L2CAP_OPTIONS");
  struct l2cap_address address = {.family = AF_BLUETOOTH_};
  memcpy(address.address, device->address, sizeof address.address);
  check(bind(channel, (struct sockaddr *)&address, sizeof address), "bind");
  return channel;
}

static void network_over(int channel, uint16_t role, const char *name) {
  int control = socket(AF_BLUETOOTH_, SOCK_RAW, BTPROTO_BNEP);
  check(control, "socket");
  struct bnep_request request = {.socket = channel, .role = role};
  strcpy(request.device, name);
  check(ioctl(control, BNEPCONNADD, &request), "BNEPCONNADD");
}

int main(void) {
  int control = socket(AF_BLUETOOTH_, SOCK_RAW, BTPROTO_HCI);
  check(control, "socket");
  struct device_info computer = bring_up(control, 0), phone = bring_up(control, 1);

  int listening = socket(AF_BLUETOOTH_, SOCK_SEQPACKET, BTPROTO_L2CAP);
  check(listening, "socket");
  struct l2cap_address address = {.family = AF_BLUETOOTH_, .psm = PSM_BNEP};
  memcpy(address.address, phone.address, sizeof address.address);
  check(bind(listening, (struct sockaddr *)&address, sizeof address), "bind");
  check(listen(listening, 1), "listen");

  int outgoing = channel_from(&computer);
  check(connect(outgoing, (struct sockaddr *)&address, sizeof address), "connect");
  int incoming = accept(listening, NULL, NULL);
  check(incoming, "accept");
  network_over(outgoing, BNEP_SVC_NAP, "bnep0");
  network_over(incoming, BNEP_SVC_PANU, "bnep1");
  puts("joined");
  for (;;) pause();
}

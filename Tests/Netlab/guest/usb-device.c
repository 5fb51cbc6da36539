// Simulates a USB device (gadgetfs), for drivers without a matching gadget function in the kernel.
//
//   usb-device DEVICE CONFIGURATION REQUEST=RESPONSE... ENDPOINT:DATA...
//
// All arguments are hexadecimal. DEVICE and CONFIGURATION are descriptors. CONFIGURATION includes the
// descriptors of its interfaces and endpoints, and the program fills in its length. REQUEST is the first two
// bytes of a control request (type and request). Each ENDPOINT sends its DATA once. The program runs until it
// is killed, which unplugs the device.
#include <fcntl.h>
#include <glob.h>
#include <linux/usb/ch9.h>
#include <linux/usb/gadgetfs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static size_t bytes(const char *hex, uint8_t *out) {
  size_t count = 0;
  unsigned byte;
  int used;
  while (sscanf(hex, " %2x%n", &byte, &used) == 1) {
    out[count++] = byte;
    hex += used;
  }
  return count;
}

static int open_matching(const char *pattern) {
  glob_t found;
  if (glob(pattern, 0, NULL, &found) != 0) fail(pattern);
  int file = open(found.gl_pathv[0], O_RDWR);
  if (file < 0) fail(found.gl_pathv[0]);
  return file;
}

// Another process sends the data, because the write blocks until the computer reads.
static void send_once(int endpoint, uint8_t address, char **arguments) {
  uint8_t data[512];
  char name[8];
  snprintf(name, sizeof name, "%02x:", address);
  for (; *arguments; arguments++) {
    if (strncmp(*arguments, name, 3) != 0 || fork() != 0) continue;
    if (write(endpoint, data, bytes(*arguments + 3, data)) < 0) fail(*arguments);
    exit(0);
  }
}

// The endpoints exist once the computer has chosen the configuration.
static void open_endpoints(const uint8_t *configuration, size_t length, char **arguments) {
  for (size_t at = 0; at + 1 < length && configuration[at] > 0; at += configuration[at]) {
    if (configuration[at + 1] != USB_DT_ENDPOINT) continue;
    uint8_t address = configuration[at + 2];
    char pattern[64];
    snprintf(pattern, sizeof pattern, "/dev/gadget/ep%d%s*", address & 15, address & 0x80 ? "in" : "out");
    uint8_t message[4 + 2 * USB_DT_ENDPOINT_SIZE] = {1};
    memcpy(message + 4, configuration + at, USB_DT_ENDPOINT_SIZE);
    memcpy(message + 4 + USB_DT_ENDPOINT_SIZE, configuration + at, USB_DT_ENDPOINT_SIZE);
    int endpoint = open_matching(pattern);
    if (write(endpoint, message, sizeof message) < 0) fail(pattern);
    send_once(endpoint, address, arguments);
  }
}

static void respond(int control, const struct usb_ctrlrequest *setup, char **responses) {
  uint8_t data[4096];
  if (!(setup->bRequestType & USB_DIR_IN)) {
    // A read without data acknowledges the request.
    if (read(control, data, setup->wLength) < 0) perror("read");
    return;
  }
  char request[8];
  snprintf(request, sizeof request, "%02x%02x=", setup->bRequestType, setup->bRequest);
  for (; *responses; responses++) {
    if (strncmp(*responses, request, 5) != 0) continue;
    size_t length = bytes(*responses + 5, data);
    if (write(control, data, length < setup->wLength ? length : setup->wLength) < 0) perror("write");
    return;
  }
  printf("no response to %s\n", request);
  // A read in place of a write refuses the request.
  (void)!read(control, data, 0);
}

int main(int count, char **arguments) {
  if (count < 3) return 2;
  setlinebuf(stdout);
  uint8_t configuration[1024], message[4 + 2 * sizeof configuration + USB_DT_DEVICE_SIZE] = {0};
  size_t length = bytes(arguments[2], configuration);
  configuration[2] = length & 255;
  configuration[3] = length >> 8;
  // The same configuration at full and high speed.
  memcpy(message + 4, configuration, length);
  memcpy(message + 4 + length, configuration, length);
  size_t total = 4 + 2 * length + bytes(arguments[1], message + 4 + 2 * length);
  int control = open_matching("/dev/gadget/*udc*");
  if (write(control, message, total) < 0) fail("descriptors");
  struct usb_gadgetfs_event event;
  while (read(control, &event, sizeof event) == sizeof event) {
    if (event.type != GADGETFS_SETUP) continue;
    if (event.u.setup.bRequestType == 0 && event.u.setup.bRequest == USB_REQ_SET_CONFIGURATION)
      open_endpoints(configuration, length, arguments + 3);
    respond(control, &event.u.setup, arguments + 3);
  }
  fail("events");
}

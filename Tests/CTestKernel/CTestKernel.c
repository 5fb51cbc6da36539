#define _GNU_SOURCE
#include "CTestKernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int test_leave_network(void) { return unshare(CLONE_NEWNET) ? errno : 0; }

// Makes calls have no effect if two of their arguments, counted from zero, have these values. They fail with the
// error, or return 0 without one.
static int refuse(int error, int call, int argument, unsigned value, int other, unsigned other_value) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[argument])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[other])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other_value, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {.len = sizeof steps / sizeof *steps, .filter = steps};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return errno;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) ? errno : 0;
}

int test_refuse_sockets(int family) { return refuse(EPERM, __NR_socket, 0, family, 0, family); }

int test_refuse_groups(void) {
  return refuse(EPERM, __NR_setsockopt, 1, SOL_NETLINK, 2, NETLINK_ADD_MEMBERSHIP);
}

int test_refuse_waiting(void) { return refuse(ECHILD, __NR_wait4, 2, 0, 3, 0); }

int test_write_nothing(int descriptor) { return refuse(0, __NR_write, 0, descriptor, 0, descriptor); }

int test_open_tunnel(const char *name) {
  int descriptor = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return -errno;
  struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
  strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
  if (ioctl(descriptor, TUNSETIFF, &request) == 0) return descriptor;
  int failure = errno;
  close(descriptor);
  return -failure;
}

int test_switch_link(const char *name, int on) {
  int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return errno;
  struct ifreq request = {0};
  strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
  int failure = ioctl(descriptor, SIOCGIFFLAGS, &request);
  request.ifr_flags = (short)(on ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP);
  if (!failure) failure = ioctl(descriptor, SIOCSIFFLAGS, &request);
  failure = failure ? errno : 0;
  close(descriptor);
  return failure;
}

int test_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) ? errno : 0; }

int test_accept(int socket) { return accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

int test_thread(void) { return (int)syscall(SYS_gettid); }

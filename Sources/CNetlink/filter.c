#include "CNetlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <sys/socket.h>

int feedimg_drop_narrow_routes(int socket) {
  // A filter loads in network byte order, but netlink uses the host's, hence htons.
  enum { type = offsetof(struct nlmsghdr, nlmsg_type) };
  enum { prefix = NLMSG_HDRLEN + offsetof(struct rtmsg, rtm_dst_len) };
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, type),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_NEWROUTE), 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_DELROUTE), 0, 2),
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, prefix),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 16, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  struct sock_fprog program = {.len = sizeof steps / sizeof *steps, .filter = steps};
  return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) ? errno : 0;
}

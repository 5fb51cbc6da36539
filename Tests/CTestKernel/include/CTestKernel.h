// What tests of the network do to the thread they run on, and to nothing else.
#ifndef FEEDIMG_CTESTKERNEL_H
#define FEEDIMG_CTESTKERNEL_H

/// Moves the calling thread to a network namespace of its own. Returns 0, or an error number.
int test_leave_network(void);

/// Makes the calling thread's calls of `socket` for a family fail with EPERM, for good, as the filters of
/// services and sandboxes do. Returns 0, or an error number.
int test_refuse_sockets(int family);

/// Makes the calling thread's netlink sockets hear no groups, for good, as some containers have it. Returns 0, or an
/// error number.
int test_refuse_groups(void);

/// Makes a tunnel of a program in the calling thread's network, which lives as long as the descriptor.
/// Returns the descriptor, or the negative of an error number.
int test_open_tunnel(const char *name);

/// Switches an interface on or off, in the calling thread's network. Returns 0, or an error number.
int test_switch_link(const char *name, int on);

/// Makes a pipe that no child inherits by accident. Returns 0, or an error number.
int test_pipe(int ends[2]);

/// Takes a connection that no child inherits by accident, and that does not block. Returns -1 where there is none.
int test_accept(int socket);

/// The identifier of the calling thread.
int test_thread(void);

#endif

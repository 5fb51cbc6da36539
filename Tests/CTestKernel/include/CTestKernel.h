// Changes the network settings of the calling thread, for tests.
#ifndef FEEDIMG_CTESTKERNEL_H
#define FEEDIMG_CTESTKERNEL_H

/// Moves the calling thread to a network namespace of its own. Returns 0, or an error number.
int test_leave_network(void);

/// Makes the calling thread's `socket` calls for a family fail with EPERM permanently, as service and sandbox
/// filters do. Returns 0, or an error number.
int test_refuse_sockets(int family);

/// Stops the calling thread's netlink sockets from receiving groups permanently, as some containers do.
/// Returns 0, or an error number.
int test_refuse_groups(void);

/// Makes the calling thread's `waitpid` calls without options fail with ECHILD permanently, as they do where SIGCHLD is
/// ignored. Returns 0, or an error number.
int test_refuse_waiting(void);

/// Makes the calling thread's `write` calls for a descriptor return 0 permanently, as a full device may. Returns 0, or
/// an error number.
int test_write_nothing(int descriptor);

/// Creates a TUN device in the calling thread's network, which lives as long as the descriptor. Returns the
/// descriptor, or the negative of an error number.
int test_open_tunnel(const char *name);

/// Switches an interface on or off, in the calling thread's network. Returns 0, or an error number.
int test_switch_link(const char *name, int on);

/// Makes a pipe that is closed on exec. Returns 0, or an error number.
int test_pipe(int ends[2]);

/// Accepts a connection that is closed on exec and does not block. Returns -1 if there is none.
int test_accept(int socket);

/// The identifier of the calling thread.
int test_thread(void);

#endif

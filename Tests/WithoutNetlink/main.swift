// Runs a program that gets no netlink sockets, as the filters of services and sandboxes have it.
//
//   WithoutNetlink PROGRAM ARGUMENT...
import CTestKernel
import Glibc

guard CommandLine.argc > 1, test_refuse_sockets(AF_NETLINK) == 0 else { exit(126) }
execv(CommandLine.arguments[1], CommandLine.unsafeArgv + 1)
exit(127)

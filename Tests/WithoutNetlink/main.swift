// Runs a program without netlink sockets, as service and sandbox filters do.
//
//   WithoutNetlink PROGRAM ARGUMENT...
import CTestKernel
import Glibc

guard CommandLine.argc > 1, test_refuse_sockets(AF_NETLINK) == 0 else { exit(126) }
execv(CommandLine.arguments[1], CommandLine.unsafeArgv + 1)
exit(127)

// Runs a program whose standard output takes no bytes and reports no error, as POSIX allows for a full device.
//
//   WithFullOutput PROGRAM ARGUMENT...
import CTestKernel
import Glibc

guard CommandLine.argc > 1, test_write_nothing(STDOUT_FILENO) == 0 else { exit(126) }
execv(CommandLine.arguments[1], CommandLine.unsafeArgv + 1)
exit(127)

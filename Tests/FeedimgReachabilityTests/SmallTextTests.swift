import FeedimgSystem
import Glibc
import Testing

@testable import FeedimgReachability

/// The small texts of sysfs, procfs and pppd.
@Suite struct SmallTextTests {
  @Test(arguments: [
    ("/usr/sbin/pppd nodetach lock ttyACM0 115200 plugin nm-pppd-plugin.so", false),
    ("pppd /dev/ttyUSB2 460800 connect chat", false),
    ("pppd /dev/rfcomm0", false),
    ("pppd call provider", false),
    ("pppd pty /usr/bin/sstpc vpn.example", true),
    ("pppd passive nodetach : plugin pppol2tp.so pppol2tp 7", true),
    ("/usr/sbin/pppd 230400 :192.0.2.1 nodetach openfortivpn", true),
    ("pppd ttyless wwanda", false),
    ("", false),
  ])
  func `a command line distinguishes a modem from a tunnel`(_ line: String, _ isTunnel: Bool) {
    #expect(PPPCommand.isTunnel(line.split(separator: " ")) == isTunnel)
  }

  @Test func `each PPPoE session has an interface`() {
    let table = """
      Id       Address              Device
      01000000 AE:C2:6F:46:0E:30       eth0
      02000000 AE:C2:6F:46:0E:31      eth0.7

      nonsense
      """
    #expect(PPPoESession.carriers(inTable: table) == ["eth0", "eth0.7"])
    #expect(PPPoESession.carriers(inTable: "").isEmpty)
  }

  @Test func `a missing file, or a path that is not a file, has no text`() {
    #expect(SystemFiles().read("/no/such/file") == nil)
    #expect(SystemFiles().read("/proc") == nil)
    #expect(SystemFiles().names(in: "/no/such/folder").isEmpty)
  }

  @Test func `a timer for resuming does not fire by itself`() throws {
    let timer = try #require(ResumeTimer())
    var wait = pollfd(fd: timer.descriptor, events: Int16(POLLIN), revents: 0)
    #expect(poll(&wait, 1, 0) == 0)
    timer.arm()
    #expect(poll(&wait, 1, 0) == 0)
  }
}

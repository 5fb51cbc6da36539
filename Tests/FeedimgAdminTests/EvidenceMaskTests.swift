import Testing

@testable import FeedimgAdmin

struct EvidenceMaskTests {
  static let rows: [(text: String, masked: String, because: String)] = [
    (
      "default via 192.168.1.1 dev wlan0", "default via 192.168.1.1 dev wlan0",
      "every private network may have it (RFC 1918)"
    ),
    (
      "default via 100.64.0.1 dev wwan0", "default via 100.64.0.1 dev wwan0",
      "many networks have it (RFC 6598)"
    ),
    ("via 192.0.2.1", "via 192.0.2.1", "an example (RFC 5737)"),
    ("via 93.184.216.34 dev eth0", "via PUBLIC-IPv4 dev eth0", "it identifies a user"),
    ("8.8.8.0/24 dev eth0", "PUBLIC-IPv4/24 dev eth0", "the prefix length may stay"),
    ("it was 8.8.8.8.", "it was PUBLIC-IPv4.", "the sentence ends after it"),
    ("(8.8.8.8)", "(PUBLIC-IPv4)", "in brackets"),
    ("via 2a00:1450::1 dev eth0", "via PUBLIC-IPv6 dev eth0", "it identifies a user"),
    ("via fd12:3456::1", "via PUBLIC-IPv6", "random, so it identifies one home (RFC 4193)"),
    ("via fe80::1 dev eth0", "via fe80::1 dev eth0", "every machine has it"),
    ("via fe80::c0ff:eeff:fe11:2233", "via PUBLIC-IPv6", "it contains a hardware address"),
    ("2001:db8::1", "2001:db8::1", "an example (RFC 3849)"),
    ("::/0 and ::1", "::/0 and ::1", "unspecified and loopback"),
    ("02:00:5e:10:00:00", "MAC", "a hardware address"),
    ("0000:00:03.0", "0000:00:03.0", "an address on the PCI bus"),
    ("3: wlx00c0ca112233 type 1", "3: wlxMAC type 1", "the name is the hardware address"),
    ("enx-ray is not an address", "enx-ray is not an address", "it only looks like one"),
    ("libcurl/7.88.1 zlib/1.2.13.1", "libcurl/7.88.1 zlib/1.2.13.1", "versions"),
    ("`/home/ada/.cache/feedimg`", "`~/.cache/feedimg`", "the home folder"),
    ("/home/adam", "/home/adam", "another home"),
    ("", "", "nothing"),
  ]

  @Test(arguments: ["/home/ada", "/home/ada/", "/home/ada//"])
  func `every spelling of the home folder is masked`(_ home: String) {
    #expect(EvidenceMask(home: home).applied(to: "`\(home)/x` in `/home/ada`") == "`~/x` in `~`")
    #expect(EvidenceMask(home: "/").applied(to: "/etc") == "/etc")
    #expect(EvidenceMask(home: nil).applied(to: "/etc") == "/etc")
  }

  @Test(arguments: rows)
  func `personal data is masked, and the rest stays`(
    _ text: String,
    _ masked: String,
    _ because: String
  ) {
    #expect(EvidenceMask(home: "/home/ada").applied(to: text) == masked, "\(because)")
  }
}

struct MountTableTests {
  private static let table = """
    /dev/vda1 / ext4 rw 0 0
    tmpfs /run tmpfs rw 0 0
    server:/home /home nfs4 rw 0 0
    /dev/vdb1 /home/ada/my\\040disk btrfs rw 0 0
    /dev/vdc1 /mnt ext4 rw 0 0
    /dev/vdd1 /mnt xfs rw 0 0
    broken
    """

  @Test(arguments: [
    ("/", "ext4"), ("/etc", "ext4"), ("/run/user/1000", "tmpfs"), ("/runner", "ext4"), ("/home/ada", "nfs4"),
    ("/home/ada/my disk/x", "btrfs"), ("/mnt", "xfs"),
  ])
  func `a path belongs to the nearest mount above it, and of several there to the last`(
    _ path: String,
    _ type: String
  ) {
    #expect(MountTable.fileSystem(of: path, in: Self.table) == type)
    #expect(MountTable.fileSystem(of: path, in: "") == nil)
  }
}

/// A shell script that runs the real program in a network namespace, which ends with it.
///
/// At first only the loopback device exists, and it is down. `$feedimg` is the program. `$unlinked` runs a
/// command without netlink.
enum NamespaceRun {
  /// A cable without a peer, and a route to the internet over it.
  static let cable = """
    ip link add v0 type veth peer name p0
    ip link set p0 up; ip link set v0 up
    ip addr add 192.0.2.2/24 dev v0
    ip route add default via 192.0.2.1

    """

  /// Whether this system lets the tests create such namespaces.
  static let isPermitted: Bool = {
    guard let folder = try? TestFolder() else { return false }
    return (try? run(cable, in: folder))?.status == 0
  }()

  static func run(
    _ script: String,
    in folder: TestFolder,
    environment: [String: String] = [:]
  ) throws -> CommandRun {
    try CommandRun(
      of: "/usr/bin/unshare",
      ["--net", "bash", "-eu", "-c", script],
      in: folder,
      environment: [
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "feedimg": CommandRun.program,
        "unlinked": CommandRun.besideTests("WithoutNetlink"), "TZ": "UTC",
      ].merging(environment) { $1 }
    )
  }
}

import FeedimgJSON
import LoopbackServer
import TestSystem
import Testing

/// The service on a machine with public addresses of its own.
@Suite(
  .timeLimit(.minutes(10)),
  .enabled(if: Namespace.isPermitted, "this system refuses network namespaces")
) struct OwnAddressTests {
  @Test(arguments: [
    ("http://9.9.9.9:1/a.jpg", 403, "forbidden-address"),
    ("http://[2620:fe::fe]:1/a.jpg", 403, "forbidden-address"),
    ("http://[::ffff:9.9.9.9]:1/a.jpg", 403, "forbidden-address"),
    ("http://[64:ff9b::909:909]:1/a.jpg", 403, "forbidden-address"),
    ("http://9.9.9.10:1/a.jpg", 502, "connection"),
  ])
  func `a public address of this machine is refused, and others are not`(
    _ url: String,
    _ status: Int,
    _ type: String
  ) throws {
    let setup = """
      ip link set lo up; ip addr add 9.9.9.9/32 dev lo; ip -6 addr add 2620:fe::fe/128 dev lo
      ip link add v0 type veth peer name p0; ip link set p0 up; ip link set v0 up
      ip addr add 192.0.2.2/24 dev v0; ip route add default dev v0
      ip route add unreachable 9.9.9.10; exec "$@"
      """
    let service = try ServiceRun(
      ["--network=wifi"],
      allowsPrivate: false,
      wrapper: ["/usr/bin/unshare", "--net", "/bin/sh", "-c", setup, "sh"],
      environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
    )
    let response = try CurlResponse(
      of: try service.request(["-G", "/v1/fetch", "--data-urlencode", "url=\(url)"])
    )
    #expect(response.status == status, "\(response.text)")
    #expect(response.object["type"] == .string("urn:feedimg:problem:\(type)"))
  }
}

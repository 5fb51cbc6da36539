import FeedimgModel
import FeedimgSystem
import LoopbackServer
import Synchronization
import Testing

@testable import FeedimgTransfer

/// Which hosts transfers connect to when private hosts are forbidden.
@Suite(.timeLimit(.minutes(10))) struct AddressPolicyTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var address: String
    var isPublic: Bool
    var why: String
    var testDescription: String { "\(address): \(why)" }

    init(_ address: String, _ isPublic: Bool, _ why: String) {
      (self.address, self.isPublic, self.why) = (address, isPublic, why)
    }
  }

  private static let rows = [
    Row("1.1.1.1", true, "a public resolver"),
    Row("172.15.255.255", true, "just below the private block"),
    Row("172.32.0.1", true, "just above it"),
    Row("126.255.255.255", true, "just below this machine"),
    Row("223.255.255.255", true, "just below the multicast range"),
    Row("0.0.0.0", false, "this machine, on Linux"),
    Row("0.1.2.3", false, "this network"),
    Row("10.1.2.3", false, "private"),
    Row("100.64.0.1", false, "shared by a carrier's customers"),
    Row("100.100.100.200", false, "Alibaba's metadata"),
    Row("127.0.0.1", false, "this machine"),
    Row("127.255.255.254", false, "this machine as well"),
    Row("168.63.129.16", false, "Azure's own"),
    Row("169.254.169.254", false, "metadata of most clouds"),
    Row("172.16.0.1", false, "private"),
    Row("172.31.255.255", false, "private"),
    Row("192.0.0.192", false, "Oracle's metadata"),
    Row("192.0.2.1", false, "documentation"),
    Row("192.168.1.1", false, "private"),
    Row("198.18.0.1", false, "benchmarks"),
    Row("224.0.0.1", false, "a group"),
    Row("255.255.255.255", false, "everybody"),
    Row("2606:4700:4700::1111", true, "a public resolver"),
    Row("::", false, "this machine, on Linux"),
    Row("::1", false, "this machine"),
    Row("fe80::1", false, "link-local"),
    Row("fc00::1", false, "unique local"),
    Row("fd00:ec2::254", false, "Amazon's metadata"),
    Row("ff02::1", false, "a group"),
    Row("fec0::1", false, "site-local, of old"),
    Row("2001:db8::1", false, "documentation"),
    Row("2001::7f00:1", false, "Teredo"),
    Row("2002:7f00:1::", false, "6to4 of this machine"),
    Row("3fff::1", false, "documentation"),
    Row("::ffff:127.0.0.1", false, "this machine, mapped"),
    Row("::ffff:8.8.8.8", true, "a public address, mapped"),
    Row("::127.0.0.1", false, "the deprecated compatible form"),
    Row("64:ff9b::7f00:1", false, "this machine, translated"),
    Row("64:ff9b::808:808", true, "a public address, translated, as in mobile networks"),
    Row("64:ff9b:1::808:808", false, "translated locally"),
  ]

  @Test(arguments: rows) func `an address is public or private`(row: Row) throws {
    let address = try #require(IPAddress(row.address))
    #expect(address.isPublic == row.isPublic)
  }

  @Test(arguments: [
    "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]",
    "localhost",
    "x.localhost", "169.254.169.254", "[fd00:ec2::254]",
  ])
  func `a private address in the URL is refused before name resolution`(host: String) throws {
    let url = try ImageURL("http://\(host)/")
    #expect(AddressPolicy.internet.rejection(of: url)?.code == .forbiddenAddress)
    #expect(AddressPolicy.everything.rejection(of: url) == nil)
  }

  @Test(arguments: ["example.org", "1.1.1.1", "[2606:4700:4700::1111]"])
  func `the addresses of other hosts are checked when they are connected`(host: String) throws {
    #expect(AddressPolicy.internet.rejection(of: try ImageURL("http://\(host)/")) == nil)
  }

  private func load(_ url: String, _ addresses: AddressPolicy) async -> LoadError? {
    let downloader = CurlDownloader(
      userAgent: "feedimg-tests/1",
      certificateFile: nil,
      addresses: addresses,
      libraryNames: CurlLibrary.fileNames
    )
    do throws(LoadError) {
      let url = try? ImageURL(url)
      guard let url else { return nil }
      _ = try await downloader.download(DownloadRequest(url: url), into: Collector())
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: ["127.0.0.1", "localhost", "127.1", "2130706433", "[::ffff:127.0.0.1]"])
  func `no name leads to a connection to this machine`(host: String) async throws {
    let server = try LoopbackServer { _ in .response(body: [1]) }
    let error = await load("http://\(host):\(server.port)/", .internet)
    #expect(error?.code == .forbiddenAddress)
    #expect(server.log.opened == 0)
  }

  private static let oneAddress = AddressPolicy { $0 == IPAddress("127.0.0.1") }

  @Test func `a redirect may lead only where a request may`() async throws {
    let inside = try LoopbackServer { _ in .response(body: [1]) }
    let outside = try LoopbackServer { [port = inside.port] _ in
      .redirect(to: "http://127.0.0.2:\(port)/secret")
    }
    let error = await load(outside.url("/"), Self.oneAddress)
    #expect(error?.code == .forbiddenAddress)
    #expect(error?.message.contains("127.0.0.2") == true)
    #expect(outside.log.requests.count == 1)
    #expect(inside.log.opened == 0)
  }

  @Test func `an allowed host is loaded`() async throws {
    let server = try LoopbackServer { _ in .response(body: [1]) }
    #expect(await load(server.url("/"), Self.oneAddress) == nil)
  }

  @Test func `an existing connection is checked for each request`() async throws {
    let server = try LoopbackServer { _ in .response(body: [1]) }
    // A name that was allowed for the connection and no longer is.
    let looks = Looks()
    let downloader = CurlDownloader(
      userAgent: "feedimg-tests/1",
      certificateFile: nil,
      // The first request checks when it connects and when it is sent.
      addresses: AddressPolicy { _ in looks.next() <= 2 },
      libraryNames: CurlLibrary.fileNames
    )
    let request = DownloadRequest(url: try ImageURL(server.url("/")))
    _ = try await downloader.download(request, into: Collector())
    await #expect(throws: LoadError.self) { try await downloader.download(request, into: Collector()) }
    #expect(server.log.requests.count == 1)
  }
}

/// Counts the address checks.
private final class Looks: Sendable {
  private let count = Atomic(0)

  func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}

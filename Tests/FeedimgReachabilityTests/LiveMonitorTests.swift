import CTestKernel
import FeedimgModel
import FeedimgSystem
import Glibc
import Synchronization
import TestSystem
import Testing

@testable import FeedimgReachability

/// The monitor on real interfaces, in namespaces that exist for one test.
@Suite(
  .enabled(if: Namespace.isPermitted, "this system refuses network namespaces"),
  .timeLimit(.minutes(10))
)
struct LiveMonitorTests {
  private static let cable = """
    link add v0 type veth peer name p0
    link set p0 up
    link set v0 up
    addr add 192.0.2.2/24 dev v0
    route add default via 192.0.2.1
    """

  /// The reported kinds: at first, and after each of the changes.
  private func kinds(after changes: String..., startingWith setup: String) async throws -> [NetworkKind] {
    let namespace = try Namespace()
    namespace.ip(setup)
    let monitor = NetlinkMonitor()
    var states = namespace.run { monitor.states() }.makeAsyncIterator()
    var kinds = await states.next().map { [$0.kind] } ?? []
    for change in changes {
      namespace.ip(change)
      if let state = await states.next() { kinds.append(state.kind) }
    }
    return kinds
  }

  @Test func `a route that appears and disappears is reported`() async throws {
    let kinds = try await kinds(after: Self.cable, "route del default", startingWith: "")
    #expect(kinds == [.offline, .ethernet, .offline])
  }

  @Test func `a link that is switched off loses its IPv4 route without an event`() async throws {
    let kinds = try await kinds(after: "link set v0 down", startingWith: Self.cable)
    #expect(kinds == [.ethernet, .offline])
  }

  @Test func `a removed link is reported`() async throws {
    #expect(try await kinds(after: "link del v0", startingWith: Self.cable) == [.ethernet, .offline])
  }

  @Test func `a lost carrier is reported although the route stays`() async throws {
    #expect(try await kinds(after: "link set p0 down", startingWith: Self.cable) == [.ethernet, .offline])
  }

  /// Cancels its observation when it is freed.
  private final class Owner: Sendable {
    let cancel = Mutex<(@Sendable () -> Void)?>(nil)

    deinit { cancel.withLock { $0 }?() }
  }

  @Test func `an object that is freed with its closure may cancel the observation again`() throws {
    let namespace = try Namespace()
    let monitor = NetlinkMonitor()
    let cancel: @Sendable () -> Void
    do {
      let owner = Owner()
      let observation = namespace.run { monitor.observe { _ in withExtendedLifetime(owner) {} } }
      cancel = try #require(observation)
      owner.cancel.withLock { $0 = cancel }
    }
    cancel()
  }

  @Test func `all listeners receive the current state, and the thread ends with the last one`() async throws {
    let namespace = try Namespace()
    let monitor = NetlinkMonitor()
    for _ in 0..<2 {
      do {
        var first = namespace.run { monitor.states() }.makeAsyncIterator()
        #expect(await first.next()?.kind == .offline)
        var second = namespace.run { monitor.states() }.makeAsyncIterator()
        #expect(await second.next()?.kind == .offline)
        #expect(threads(in: namespace).count == 1)
      }
      while !threads(in: namespace).isEmpty { await Task.yield() }
    }
  }

  @Test func `a cancelled observation receives no more states, and the thread ends`() async throws {
    let namespace = try Namespace()
    let monitor = NetlinkMonitor()
    let told = AsyncStream.makeStream(of: NetworkKind.self)
    let cancel = try #require(namespace.run { monitor.observe { told.continuation.yield($0.kind) } })
    var kinds = told.stream.makeAsyncIterator()
    #expect(await kinds.next() == .offline)
    cancel()
    cancel()
    while !threads(in: namespace).isEmpty { await Task.yield() }
    namespace.ip(Self.cable)
    told.continuation.finish()
    #expect(await kinds.next() == nil)
  }

  @Test func `a change of the watched file leads to a reading`() async throws {
    let namespace = try Namespace()
    namespace.ip(Self.cable)
    let path = "/tmp/feedimg-marks-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    defer { unlink(path) }
    let metered = Mutex(Metered.no)
    let reader = NetlinkReader(mark: { _ in metered.withLock { $0 } })
    let monitor = NetlinkMonitor(reader: reader, alsoWatching: { FileWatcher([path], onChange: $0) })
    var states = namespace.run { monitor.states() }.makeAsyncIterator()
    #expect(await states.next()?.metered == .no)
    metered.withLock { $0 = .yes }
    close(open(path, O_WRONLY | O_CREAT, 0o600))
    #expect(await states.next()?.metered == .yes)
  }

  @Test func `specific routes are filtered out, wide ones and links are not`() throws {
    let namespace = try Namespace()
    // The loopback device is the only one for which the kernel adds nothing later.
    namespace.ip("link set lo up")
    let events = try #require(namespace.run { try? NetlinkEvents() })
    namespace.ip((0..<200).map { "route add 10.0.\($0).0/24 dev lo" }.joined(separator: "\n"))
    #expect(events.drain() == .none)
    for change in ["route add 0.0.0.0/1 dev lo", "route del 0.0.0.0/1", "link set lo mtu 1400"] {
      namespace.ip(change)
      #expect(events.drain() == .some, "\(change)")
    }
  }

  @Test func `more events than the socket can hold are one overrun`() throws {
    let namespace = try Namespace()
    namespace.ip("link set lo up")
    let events = try #require(namespace.run { try? NetlinkEvents() })
    namespace.ip((0..<8000).map { "link set lo mtu \(1300 + $0 % 2)" }.joined(separator: "\n"))
    #expect(events.drain() == .overrun)
    #expect(events.drain() == .none)
  }

  /// The number of threads that watch a network.
  private func threads(in namespace: Namespace) -> Set<String> {
    func network(_ thread: String) -> String {
      var text = [CChar](repeating: 0, count: 64)
      let count = readlink("/proc/self/task/\(thread)/ns/net", &text, text.count)
      return text.withUnsafeBytes { String(decoding: $0.prefix(max(count, 0)), as: UTF8.self) }
    }
    let own = network(String(namespace.threadIdentifier))
    return Set(
      SystemFiles().names(in: "/proc/self/task").filter {
        SystemFiles().read("/proc/self/task/\($0)/comm") == "feedimg-netlink\n" && network($0) == own
      }
    )
  }
}

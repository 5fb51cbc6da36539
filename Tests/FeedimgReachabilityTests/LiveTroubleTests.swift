import CTestKernel
import FeedimgModel
import Glibc
import Synchronization
import TestSystem
import Testing

@testable import FeedimgReachability

/// Rare failures, in namespaces that exist for one test.
@Suite(
  .enabled(if: Namespace.isPermitted, "this system refuses network namespaces"),
  .timeLimit(.minutes(10))
)
struct LiveTroubleTests {
  @Test(arguments: [true, false])
  func `without netlink, a probe detects a route`(_ hasRoute: Bool) throws {
    let namespace = try Namespace()
    namespace.ip(hasRoute ? "\(LivePathTests.cables)\nroute add default via 192.0.2.1" : "link set lo up")
    let state = namespace.run { () -> NetworkState? in
      test_refuse_sockets(AF_NETLINK) == 0 ? NetlinkReader().currentState() : nil
    }
    #expect(state?.kind == .other)
    #expect(state?.metered == .unknown)
    #expect(state?.isReachable == hasRoute)
    #expect(state?.reason == "the system refuses netlink, so routes are unknown")
  }

  @Test func `without netlink, the monitor still reports the state`() async throws {
    let namespace = try Namespace()
    let states = namespace.run { () -> AsyncStream<NetworkState>? in
      test_refuse_sockets(AF_NETLINK) == 0 ? NetlinkMonitor().states() : nil
    }
    var iterator = try #require(states).makeAsyncIterator()
    #expect(await iterator.next()?.kind == .other)
  }

  @Test func `without events, the network is read periodically`() async throws {
    let namespace = try Namespace()
    namespace.ip("\(LivePathTests.cables)\nroute add default via 192.0.2.1")
    let monitor = NetlinkMonitor(reader: NetlinkReader(), polling: .milliseconds(20))
    let states = namespace.run { () -> AsyncStream<NetworkState>? in
      guard test_refuse_groups() == 0, (try? NetlinkEvents()) == nil else { return nil }
      return monitor.states()
    }
    var iterator = try #require(states).makeAsyncIterator()
    #expect(await iterator.next()?.via == ["left"])
    // This thread may still use netlink, and so may `ip`.
    namespace.ip("route replace default via 198.51.100.1")
    #expect(await iterator.next()?.via == ["right"])
    namespace.ip("route del default")
    #expect(await iterator.next()?.kind == .offline)
  }

  @Test func `without a watcher, the network is read periodically`() async throws {
    let namespace = try Namespace()
    namespace.ip("\(LivePathTests.cables)\nroute add default via 192.0.2.1")
    let metered = Mutex(Metered.no)
    let reader = NetlinkReader(mark: { _ in metered.withLock { $0 } })
    let monitor = NetlinkMonitor(reader: reader, alsoWatching: { _ in nil }, polling: .milliseconds(20))
    var iterator = namespace.run { monitor.states() }.makeAsyncIterator()
    #expect(await iterator.next()?.metered == .no)
    metered.withLock { $0 = .yes }
    #expect(await iterator.next()?.metered == .yes)
  }

  @Test func `among 10,000 routes the right one is found`() throws {
    let namespace = try Namespace()
    namespace.ip("\(LivePathTests.cables)\nroute add default via 192.0.2.1")
    let routes = (0..<10_000).map { "route add 10.\($0 / 250).\($0 % 250).0/24 via 198.51.100.1" }
    namespace.ip(routes.joined(separator: "\n"))
    #expect(namespace.run { NetlinkReader().currentState() }.route == "default via 192.0.2.1 dev left")
  }

  @Test func `among 500 interfaces the right one is found, also below a tunnel and in a bridge`() throws {
    let namespace = try Namespace()
    namespace.ip(
      "\(LivePathTests.cables)\nlink add br0 type bridge\nlink set br0 up\nlink set left master br0"
    )
    let pairs = (0..<250).map { "link add x\($0) type veth peer name y\($0)\nlink set x\($0) master br0" }
    namespace.ip(pairs.joined(separator: "\n"))
    namespace.ip("addr add 192.0.2.3/24 dev br0\nroute add default via 192.0.2.1 dev br0 metric 600")
    #expect(namespace.run { NetlinkReader().currentState() }.via == ["br0", "left"])
    let tunnel = namespace.run { test_open_tunnel("tun0") }
    try #require(tunnel >= 0)
    defer { close(tunnel) }
    namespace.ip("link set tun0 up\nroute add default dev tun0 metric 50")
    #expect(namespace.run { NetlinkReader().currentState() }.via == ["tun0", "br0", "left"])
  }

  @Test func `lists that change while they are read are complete or refused`() throws {
    let namespace = try Namespace()
    namespace.ip((0..<100).map { "link add x\($0) type veth peer name y\($0)" }.joined(separator: "\n"))
    let kernel = try #require(namespace.run { try? LiveKernel() })
    // Pairs of links appear and disappear while the list is read.
    let changes = (0..<40).map { "link add z\($0) type veth peer name w\($0)\nlink del z\($0)\n" }.joined()
    let churn = try #require(
      namespace.run {
        Child(["/bin/sh", "-c", "ip -batch - && echo done"], environment: ["PATH=/usr/sbin:/sbin"])
      }
    )
    churn.write(changes)
    churn.endInput()
    for _ in 0..<60 {
      do throws(NetlinkError) {
        let names = try kernel.links(.all).map(\.name)
        #expect(names.count == 201 || names.count == 203, "\(names.count) links")
        #expect(Set(names).count == names.count)
      } catch {
        #expect(error.code == .interrupted)
      }
    }
    #expect(churn.readLine() == "done")
  }

  @Test
  func `a link that moves between networks during a reading is present or gone, never another one`()
    async throws
  {
    let (here, there) = (try Namespace(), try Namespace())
    here.ip("link add left type veth peer name left1\nlink set left1 up")
    let kinds = Mutex<Set<NetworkKind>>([])
    let isOver = Mutex(false)
    let looking = Task {
      let reader = NetlinkReader()
      // The first reading opens the sockets, in that network.
      here.run { _ = reader.currentState() }
      while !isOver.withLock({ $0 }) {
        let state = reader.currentState()
        kinds.withLock { _ = $0.insert(state.kind) }
        await Task.yield()
      }
    }
    for _ in 0..<8 {
      here.ip("link set left up\naddr add 192.0.2.2/24 dev left\nroute add default via 192.0.2.1")
      here.ip("link set left netns \(there.threadIdentifier)")
      there.ip("link set left name right\nlink set right name left")
      there.ip("link set left netns \(here.threadIdentifier)")
    }
    isOver.withLock { $0 = true }
    await looking.value
    #expect(kinds.withLock { $0 }.isSubset(of: [.ethernet, .offline]))
  }

  @Test func `a reader serves many threads at once`() async throws {
    let reader = NetlinkReader()
    let first = reader.currentState()
    await withTaskGroup(of: NetworkState.self) { group in
      for _ in 0..<64 { group.addTask { reader.currentState() } }
      for await state in group { #expect(state == first) }
    }
  }
}

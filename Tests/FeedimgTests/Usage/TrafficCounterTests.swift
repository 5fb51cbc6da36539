import FeedimgModel
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// When the bytes of transfers are recorded, and under which network.
@Suite struct TrafficCountTests {
  static func carrier(_ kind: NetworkKind, _ metered: Metered) -> TransferNetwork {
    TransferNetwork(NetworkState(kind: kind, metered: metered, reason: "", meteredReason: ""))
  }

  let wifi = Self.carrier(.wifi, .no)
  let cellular = Self.carrier(.cellular, .yes)

  private func begin(_ count: inout TrafficCounter, over carrier: TransferNetwork?) -> Int {
    let number = count.begin()
    count.goOn(number, over: carrier)
    return number
  }

  @Test func `the first byte starts a timer that makes all gathered bytes due`() {
    var count = TrafficCounter()
    let (first, second) = (begin(&count, over: wifi), begin(&count, over: wifi))
    #expect(count.add(10, to: first, over: wifi) == true)
    #expect(count.add(20, to: first, over: wifi) == false, "one timer is enough")
    #expect(count.add(3, to: second, over: wifi) == false, "also for all transfers")
    #expect(count.alarm() == [.init(carrier: wifi, bytes: 33)])
    #expect(count.add(4, to: first, over: wifi) == true, "another interval begins")
    #expect(count.end(first) == [.init(carrier: wifi, bytes: 4, transfers: 1)])
    #expect(count.alarm() == [])
    #expect(count.end(second) == [.init(carrier: wifi, transfers: 1)])
  }

  @Test func `the end of a transfer starts no second timer`() {
    var count = TrafficCounter()
    let first = begin(&count, over: wifi)
    #expect(count.add(10, to: first, over: wifi) == true)
    #expect(count.end(first) == [.init(carrier: wifi, bytes: 10, transfers: 1)])
    let second = begin(&count, over: wifi)
    #expect(count.add(20, to: second, over: wifi) == false)
    #expect(count.alarm() == [.init(carrier: wifi, bytes: 20)])
  }

  @Test func `each network is charged for its bytes, and the last one for the transfer`() {
    var count = TrafficCounter()
    let number = begin(&count, over: wifi)
    let dear = Self.carrier(.wifi, .yes)
    _ = count.add(10, to: number, over: wifi)
    _ = count.add(20, to: number, over: cellular)
    _ = count.add(30, to: number, over: cellular)
    _ = count.add(1, to: number, over: dear)
    #expect(
      count.end(number) == [
        .init(carrier: wifi, bytes: 10), .init(carrier: cellular, bytes: 50),
        .init(carrier: dear, bytes: 1, transfers: 1),
      ],
      "metering counts too"
    )
  }

  @Test func `without bytes nothing is due`() {
    var count = TrafficCounter()
    let number = begin(&count, over: wifi)
    #expect(count.add(0, to: number, over: wifi) == false)
    #expect(count.alarm() == [])
    #expect(count.add(5, to: number, over: cellular) == true)
    #expect(count.alarm() == [.init(carrier: cellular, bytes: 5)])
    #expect(count.end(number) == [.init(carrier: cellular, transfers: 1)])
  }

  @Test func `only bytes from other machines count`() {
    var count = TrafficCounter()
    let (local, both) = (begin(&count, over: nil), begin(&count, over: nil))
    #expect(count.add(10, to: local, over: wifi) == false)
    #expect(count.add(10, to: both, over: wifi) == false)
    count.goOn(both, over: cellular)
    #expect(count.add(20, to: both, over: cellular) == true)
    #expect(count.end(local) == [])
    count.goOn(both, over: nil)
    #expect(count.add(40, to: both, over: cellular) == false)
    #expect(count.end(both) == [.init(carrier: cellular, bytes: 20, transfers: 1)])
  }

  @Test func `all transfers can be ended at once, and each counts once`() {
    var count = TrafficCounter()
    let numbers = [begin(&count, over: wifi), begin(&count, over: nil)]
    _ = count.add(10, to: numbers[0], over: wifi)
    #expect(count.endAll() == [.init(carrier: wifi, bytes: 10, transfers: 1)])
    #expect(count.endAll() == [])
    _ = count.add(5, to: numbers[0], over: wifi)
    #expect(count.end(numbers[0]) == [.init(carrier: wifi, bytes: 5)])
    #expect(count.end(numbers[1]) == [])
  }
}

/// Orders that wait while the thread has its hands full with what comes.
///
/// Where bodies come faster than they are taken, another request brings nothing sooner. What it brings fills the
/// buffers of the kernel, over loopback this thread then does the sending of the server besides, and images are
/// complete all at once at the end in place of one after another. So beyond what keeps a connection busy, requests go
/// out as soon as there is nothing to read, which is at once on any network that is slower than a processor.
///
/// A pure state machine; the first come are the first to go.
struct HeldOrders<Order: Identifiable> {
  /// Nil for those that have gone, of which nothing is to be kept.
  private var waiting: [(order: Order?, since: Moment)] = []
  /// How many of ``waiting`` have gone, from the front.
  private var gone = 0

  /// How long a body probably is whose head has not come.
  private(set) var typicalLength = 64 << 10

  /// So many bytes are under way whatever comes: what has been asked for is taken in while the next is asked for.
  private static var fewestUnderWay: Int { 1 << 20 }
  /// So long an order waits at most, as what comes may be for others, from elsewhere and without an end.
  private static var greatestWait: Int64 { 10_000_000 }

  var isEmpty: Bool { gone == waiting.count }

  /// Takes down how long a body was.
  mutating func learn(length: Int) { typicalLength += (length - typicalLength) / 4 }

  mutating func append(_ order: Order, at now: Moment) { waiting.append((order, now)) }

  /// Hands out the next order that is to begin.
  ///
  /// - Parameters:
  ///   - underWay: How many bytes are still to come of what runs, probably.
  ///   - isIdle: Whether the last look found nothing to read.
  ///   - now: The present time.
  /// - Returns: Nil where none waits, or those that wait are to go on waiting.
  mutating func next(underWay: Int, isIdle: Bool, at now: Moment) -> Order? {
    guard !isEmpty else { return nil }
    let (order, since) = waiting[gone]
    guard underWay < Self.fewestUnderWay || isIdle || since.nanoseconds(to: now) >= Self.greatestWait else {
      return nil
    }
    waiting[gone].order = nil
    gone += 1
    shorten()
    return order
  }

  /// Takes an order back.
  ///
  /// - Returns: Nil if it does not wait.
  mutating func remove(_ id: Order.ID) -> Order? {
    guard let index = waiting[gone...].firstIndex(where: { $0.order?.id == id }) else { return nil }
    defer { shorten() }
    return waiting.remove(at: index).order
  }

  /// Forgets those that have gone, once they are as many as those that wait.
  private mutating func shorten() {
    guard gone >= waiting.count - gone else { return }
    waiting.removeFirst(gone)
    gone = 0
  }

  /// Takes back all that wait.
  mutating func removeAll() -> [Order] {
    defer { (waiting, gone) = ([], 0) }
    return waiting.compactMap(\.order)
  }
}

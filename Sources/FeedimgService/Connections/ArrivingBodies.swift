import Feedimg
import Synchronization

/// The bodies that are sent while they come, so that what is held for those who read them can be told.
final class ArrivingBodies: Sendable {
  private struct Entry {
    var body: ResponseStream
    var readers = 0
  }

  /// Guards which there are.
  private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

  /// How many clients are being sent one.
  var readerCount: Int { entries.withLock { $0.values.reduce(0) { $0 + $1.readers } } }

  /// What memory has of them, in bytes; a body counts once, however many read it.
  var heldCount: Int {
    let bodies = entries.withLock { $0.values.map(\.body) }
    return bodies.reduce(0) { $0 + $1.heldCount }
  }

  /// Takes note that a client begins to read.
  func begin(_ body: ResponseStream) {
    entries.withLock { $0[ObjectIdentifier(body), default: Entry(body: body)].readers += 1 }
  }

  /// Takes note that a client reads no more.
  func end(_ body: ResponseStream) {
    entries.withLock { entries in
      entries[ObjectIdentifier(body)]?.readers -= 1
      if entries[ObjectIdentifier(body)]?.readers == 0 { entries[ObjectIdentifier(body)] = nil }
    }
  }
}

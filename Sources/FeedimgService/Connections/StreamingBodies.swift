import Feedimg
import Synchronization

/// The bodies that are sent while they are being received, for the metrics.
final class StreamingBodies: Sendable {
  private struct Entry {
    var body: ResponseStream
    var readers = 0
  }

  /// Guards the bodies and the number of their readers.
  private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

  /// The number of clients that read such a body.
  var readerCount: Int { entries.withLock { $0.values.reduce(0) { $0 + $1.readers } } }

  /// The bytes of these bodies in memory; a body with several readers counts once.
  var heldCount: Int {
    let bodies = entries.withLock { $0.values.map(\.body) }
    return bodies.reduce(0) { $0 + $1.heldCount }
  }

  /// Adds a reader.
  func begin(_ body: ResponseStream) {
    entries.withLock { $0[ObjectIdentifier(body), default: Entry(body: body)].readers += 1 }
  }

  /// Removes a reader.
  func end(_ body: ResponseStream) {
    entries.withLock { entries in
      entries[ObjectIdentifier(body)]?.readers -= 1
      if entries[ObjectIdentifier(body)]?.readers == 0 { entries[ObjectIdentifier(body)] = nil }
    }
  }
}

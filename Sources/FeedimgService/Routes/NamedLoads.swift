import Feedimg
import FeedimgModel
import Synchronization

/// The loads that their clients have named, so that they can say later how urgent they have become.
final class NamedLoads: Sendable {
  private struct Named: Sendable {
    weak var wish: LoadHandle?
  }

  private struct State {
    /// Those that run, and some that have ended.
    var loads: [String: Named] = [:]
    /// With so many, those that have ended are forgotten.
    var room = 64
    /// What was said of loads that nobody has begun, in the order in which it was.
    var early: [(name: String, priority: LoadPriority)] = []
  }

  /// So many words on what has yet to begin are kept; words on what has ended are taken for such.
  private static let greatestEarly = 64

  /// Guards which loads there are; the priority of those that are heard of by others is set outside.
  private let state = Mutex(State())

  /// Lets a load be named for as long as somebody holds on to its wish.
  ///
  /// What was said of it before holds at once: it may have come over a faster connection.
  func begin(_ name: String, _ wish: LoadHandle) {
    state.withLock { state in
      if state.loads.count >= state.room {
        state.loads = state.loads.filter { $0.value.wish != nil }
        state.room = max(64, 2 * state.loads.count)
      }
      state.loads[name] = Named(wish: wish)
      guard let index = state.early.firstIndex(where: { $0.name == name }) else { return }
      // Before anything later can be said of it; nobody listens to the wish yet.
      wish.priority = state.early.remove(at: index).priority
    }
  }

  /// Says how urgent a load is from now on.
  func set(_ name: String, _ priority: LoadPriority) {
    let wish = state.withLock { state -> LoadHandle? in
      if let wish = state.loads[name]?.wish { return wish }
      state.early.removeAll { $0.name == name }
      state.early.append((name, priority))
      if state.early.count > Self.greatestEarly { state.early.removeFirst() }
      return nil
    }
    wish?.priority = priority
  }
}

extension ServiceRequest {
  /// What the client calls the load; nil where it has no name for it.
  ///
  /// - Throws: ``Problem`` 400 for what is no name.
  var loadName: String? {
    get throws(Problem) {
      guard let name = fields["Feedimg-Load"] else { return nil }
      let isPlain = name.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
      }
      guard isPlain, (1...64).contains(name.utf8.count) else {
        throw Problem(400, "`Feedimg-Load`: expected up to 64 letters and digits")
      }
      return name
    }
  }
}

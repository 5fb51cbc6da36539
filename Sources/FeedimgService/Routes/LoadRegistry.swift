import Feedimg
import FeedimgModel
import Synchronization

/// The loads that clients have named with `Feedimg-Load`, so that they can change the priorities later.
final class LoadRegistry: Sendable {
  private struct Entry: Sendable {
    weak var handle: LoadHandle?
  }

  private struct State {
    /// Running loads, and some that have ended.
    var loads: [String: Entry] = [:]
    /// Priorities for loads that have not begun, the oldest first.
    var early: [(name: String, priority: LoadPriority)] = []
  }

  /// The number of early priorities that are kept; those for ended loads count as early.
  private static let maximumEarly = 64

  /// Guards the loads; the priority of a load that others observe is set outside.
  private let state = Mutex(State())

  /// Adds a load, which keeps its name as long as its handle lives.
  ///
  /// A priority that was set earlier applies at once: it may have arrived over another connection.
  func add(_ name: String, _ handle: LoadHandle) {
    state.withLock { state in
      if state.loads.count >= 64 { state.loads = state.loads.filter { $0.value.handle != nil } }
      state.loads[name] = Entry(handle: handle)
      guard let index = state.early.firstIndex(where: { $0.name == name }) else { return }
      // Set inside the lock, so that it precedes later priorities; nothing observes the handle yet.
      handle.priority = state.early.remove(at: index).priority
    }
  }

  /// Sets the priority of a load.
  func set(_ name: String, _ priority: LoadPriority) {
    let handle = state.withLock { state -> LoadHandle? in
      if let handle = state.loads[name]?.handle { return handle }
      state.early.removeAll { $0.name == name }
      state.early.append((name, priority))
      if state.early.count > Self.maximumEarly { state.early.removeFirst() }
      return nil
    }
    handle?.priority = priority
  }
}

extension LoadRegistry {
  /// `POST /v1/priority`: changes the priority of a load that the client waits for.
  ///
  /// The load may also be about to begin, or have ended.
  func changePriority(_ request: ServiceRequest) throws(Problem) -> ServiceResponse {
    guard let name = try request.loadName else {
      throw Problem(400, "expected the name of the load, as `Feedimg-Load`")
    }
    set(name, RequestPriority(request.fields["Priority"]).load)
    return ServiceResponse(204)
  }
}

extension ServiceRequest {
  /// Whether the client needs the file of the image, so that the response must wait for the store.
  var waitsForStorage: Bool { fields["Feedimg-Wait"] == "stored" }

  /// The name that the client gives to the load in `Feedimg-Load`; nil where the field is absent.
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

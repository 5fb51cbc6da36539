import Glibc

/// A connection to a message bus through sd-bus, for one thread at a time.
final class SystemBus: BusAsking {
  private static let path = "/run/dbus/system_bus_socket"

  private let library: BusLibrary
  private let patience: Duration
  private let bus: BusLibrary.Bus

  /// Whether the connection stands.
  var isOpen: Bool { library.isOpen(bus) > 0 }

  /// Becomes readable when a message has come.
  var descriptor: Int32 { library.descriptor(bus) }

  /// Connects, if there is a bus and a library to talk to it.
  ///
  /// - Parameters:
  ///   - address: Where the bus is, as D-Bus writes it; nil for the system's own.
  ///   - patience: How long an answer may take: who asks is about to load an image.
  init?(address: String? = nil, patience: Duration = .milliseconds(200)) {
    // Most systems without the bus have no library either, and to look for it takes longer.
    if address == nil, !TextFile.exists(Self.path) { return nil }
    guard let library = BusLibrary() else { return nil }
    var created: BusLibrary.Bus?
    guard library.new(&created) >= 0, let bus = created else { return nil }
    (self.library, self.patience) = (library, patience)
    self.bus = bus
    guard library.setAddress(bus, address ?? "unix:path=\(Self.path)") >= 0,
      library.setBusClient(bus, 1) >= 0, library.start(bus) >= 0, isReadyInTime()
    else { return nil }
  }

  deinit {
    _ = library.close(bus)
  }

  /// Waits until the bus has let us in; a bus that hangs must not hang us.
  private func isReadyInTime() -> Bool {
    let deadline = SuspendingClock.now + patience
    while library.isReady(bus) == 0 {
      let processed = library.process(bus, nil)
      if processed < 0 { return false }
      if processed > 0 { continue }
      let remaining = SuspendingClock.now.duration(to: deadline) / .microseconds(1)
      guard remaining > 0, library.wait(bus, UInt64(remaining)) > 0 else { return false }
    }
    return library.isReady(bus) > 0
  }

  func call(_ method: BusMethod, _ arguments: [String]) -> BusValue? {
    var created: BusLibrary.Message?
    let failure = library.newCall(bus, &created, method.service, method.object, method.interface, method.name)
    guard failure >= 0, let question = created else { return nil }
    defer { _ = library.release(question) }
    guard library.setAutoStart(question, 0) >= 0 else { return nil }
    for argument in arguments {
      let isAdded = argument.withCString { library.append(question, CChar(UInt8(ascii: "s")), $0) >= 0 }
      guard isAdded else { return nil }
    }
    var received: BusLibrary.Message?
    guard library.call(bus, question, UInt64(patience / .microseconds(1)), nil, &received) >= 0,
      let answer = received
    else {
      return nil
    }
    defer { _ = library.release(answer) }
    return BusReader(library: library, message: answer).value()
  }

  /// Has signals sent here; they only make ``descriptor`` readable.
  ///
  /// - Parameter rule: Which ones, as D-Bus writes it.
  func listen(to rule: String) {
    // Without a call-back of ours, and without waiting for the bus to agree.
    _ = library.addMatch(bus, nil, rule, nil, nil, nil)
  }

  /// Throws away what has come.
  ///
  /// - Returns: The number of messages; nil where the connection is lost.
  func drain() -> Int? {
    var count = 0
    while true {
      switch library.process(bus, nil) {
      case 0: return count
      case 1...: count += 1
      default: return nil
      }
    }
  }
}

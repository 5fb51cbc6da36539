import FeedimgSystem
import Glibc

/// A connection to a message bus through sd-bus.
///
/// Use it from one thread at a time.
final class SystemBus: BusCalling {
  /// The address of the system bus.
  static let usualAddress = "unix:path=\(path)"
  private static let path = "/run/dbus/system_bus_socket"

  private let library: BusLibrary
  private let timeout: Duration
  private let bus: BusLibrary.Bus

  /// Whether a reply did not arrive in time; the caller resets it.
  var hasTimedOut = false

  /// Whether the connection is open.
  var isOpen: Bool { library.isOpen(bus) > 0 }

  /// Readable when a message has arrived.
  var descriptor: Int32 { library.descriptor(bus) }

  /// Connects to the bus at a D-Bus address; nil if there is no bus, or no sd-bus library.
  ///
  /// The timeout is the longest wait for a reply. An image load waits for it.
  init?(address: String, timeout: Duration = .milliseconds(200)) {
    // Most systems without the bus also lack the library, and searching for it takes longer than this check.
    if address == Self.usualAddress, !SystemFiles().exists(Self.path) { return nil }
    guard let library = BusLibrary() else { return nil }
    var created: BusLibrary.Bus?
    guard library.new(&created) >= 0, let bus = created else { return nil }
    (self.library, self.timeout) = (library, timeout)
    self.bus = bus
    guard library.setAddress(bus, address) >= 0,
      library.setBusClient(bus, 1) >= 0, library.start(bus) >= 0, isReadyInTime()
    else { return nil }
  }

  deinit {
    _ = library.close(bus)
  }

  /// Waits for the handshake, at most for the timeout.
  private func isReadyInTime() -> Bool {
    let deadline = SuspendingClock.now + timeout
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
    guard failure >= 0, let request = created else { return nil }
    defer { _ = library.release(request) }
    guard library.setAutoStart(request, 0) >= 0 else { return nil }
    for argument in arguments {
      let isAdded = argument.withCString { library.append(request, CChar(UInt8(ascii: "s")), $0) >= 0 }
      guard isAdded else { return nil }
    }
    var received: BusLibrary.Message?
    let result = library.call(bus, request, UInt64(timeout / .microseconds(1)), nil, &received)
    if result == -ETIMEDOUT { hasTimedOut = true }
    guard result >= 0, let reply = received else { return nil }
    defer { _ = library.release(reply) }
    return BusReader(library: library, message: reply).value()
  }

  /// Subscribes to a signal of an interface, with any first argument if it is nil; it makes ``descriptor`` readable.
  func listen(to interface: String, _ signal: String, about argument: String? = nil) {
    let rule =
      "type='signal',interface='\(interface)',member='\(signal)'" + (argument.map { ",arg0='\($0)'" } ?? "")
    // Without a callback, this call does not wait for the bus.
    _ = library.addMatch(bus, nil, rule, nil, nil, nil)
  }

  /// Discards the messages that have arrived.
  ///
  /// - Returns: The number of messages; nil if the connection was lost.
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

/// The sd-bus functions (libsystemd) that feedimg calls.
///
/// feedimg loads the library at run time, when there is a bus, and keeps it loaded. Systems without systemd
/// lack it, and loading takes a millisecond.
struct BusLibrary {
  typealias Bus = OpaquePointer
  typealias Message = OpaquePointer
  typealias Text = UnsafePointer<CChar>
  typealias Handle = UnsafeMutablePointer<OpaquePointer?>

  private struct Missing: Error {}

  let new: @convention(c) (Handle) -> Int32
  let setAddress: @convention(c) (Bus, Text) -> Int32
  let setBusClient: @convention(c) (Bus, Int32) -> Int32
  let start: @convention(c) (Bus) -> Int32
  let close: @convention(c) (Bus) -> Bus?
  let descriptor: @convention(c) (Bus) -> Int32
  let process: @convention(c) (Bus, Handle?) -> Int32
  let addMatch: @convention(c) (Bus, Handle?, Text, OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Int32
  let isOpen: @convention(c) (Bus) -> Int32
  let isReady: @convention(c) (Bus) -> Int32
  let wait: @convention(c) (Bus, UInt64) -> Int32
  let newCall: @convention(c) (Bus, Handle, Text, Text, Text, Text) -> Int32
  let setAutoStart: @convention(c) (Message, Int32) -> Int32
  let append: @convention(c) (Message, CChar, UnsafeRawPointer?) -> Int32
  let call: @convention(c) (Bus, Message, UInt64, OpaquePointer?, Handle) -> Int32
  let peek: @convention(c) (Message, UnsafeMutablePointer<CChar>, UnsafeMutablePointer<Text?>) -> Int32
  let enter: @convention(c) (Message, CChar, Text?) -> Int32
  let exit: @convention(c) (Message) -> Int32
  let read: @convention(c) (Message, CChar, UnsafeMutableRawPointer?) -> Int32
  let release: @convention(c) (Message) -> Message?

  /// Loads the library; nil if the system has no library or an incompatible version.
  init?() {
    guard let library = dlopen("libsystemd.so.0", RTLD_LAZY | RTLD_LOCAL) else { return nil }
    func find<Function>(_ name: String) throws(Missing) -> Function {
      guard let symbol = dlsym(library, name) else { throw Missing() }
      // The types are those of systemd/sd-bus.h, whose binary interface is stable.
      return unsafeBitCast(symbol, to: Function.self)
    }
    do throws(Missing) {
      new = try find("sd_bus_new")
      setAddress = try find("sd_bus_set_address")
      setBusClient = try find("sd_bus_set_bus_client")
      start = try find("sd_bus_start")
      close = try find("sd_bus_close_unref")
      descriptor = try find("sd_bus_get_fd")
      process = try find("sd_bus_process")
      addMatch = try find("sd_bus_add_match_async")
      isOpen = try find("sd_bus_is_open")
      isReady = try find("sd_bus_is_ready")
      wait = try find("sd_bus_wait")
      newCall = try find("sd_bus_message_new_method_call")
      setAutoStart = try find("sd_bus_message_set_auto_start")
      append = try find("sd_bus_message_append_basic")
      call = try find("sd_bus_call")
      peek = try find("sd_bus_message_peek_type")
      enter = try find("sd_bus_message_enter_container")
      exit = try find("sd_bus_message_exit_container")
      read = try find("sd_bus_message_read_basic")
      release = try find("sd_bus_message_unref")
    } catch {
      return nil
    }
  }
}

/// Reads a D-Bus message.
struct BusReader {
  let library: BusLibrary
  let message: BusLibrary.Message

  /// The next value; nil at the end of the message or of the current container.
  func value() -> BusValue? {
    var type: CChar = 0
    var contents: BusLibrary.Text?
    guard library.peek(message, &type, &contents) > 0 else { return nil }
    switch UInt8(bitPattern: type) {
    case UInt8(ascii: "s"), UInt8(ascii: "o"), UInt8(ascii: "g"):
      var text: BusLibrary.Text?
      guard library.read(message, type, &text) > 0, let text else { return nil }
      return .text(String(cString: text))
    case UInt8(ascii: "b"): return basic(type, Int32(0)).map { .bool($0 != 0) }
    case UInt8(ascii: "u"): return basic(type, UInt32(0)).map { .number($0) }
    case UInt8(ascii: "v"): return inside(type, contents) { value() ?? .unread }
    case UInt8(ascii: "a"): return inside(type, contents) { elements(ofPairs: contents) }
    case UInt8(ascii: "r"), UInt8(ascii: "e"): return inside(type, contents) { .list(rest()) }
    // Enough for the other types, of which no value is used.
    default: return basic(type, UInt64(0)).map { _ in .unread }
    }
  }

  private func basic<Value: BitwiseCopyable>(_ type: CChar, _ zero: Value) -> Value? {
    var value = zero
    return library.read(message, type, &value) > 0 ? value : nil
  }

  private func inside(_ type: CChar, _ contents: BusLibrary.Text?, _ body: () -> BusValue) -> BusValue? {
    guard library.enter(message, type, contents) > 0 else { return nil }
    defer { _ = library.exit(message) }
    return body()
  }

  private func elements(ofPairs contents: BusLibrary.Text?) -> BusValue {
    let elements = rest()
    guard let contents, UInt8(bitPattern: contents.pointee) == UInt8(ascii: "{") else {
      return .list(elements)
    }
    var pairs: [BusValue: BusValue] = [:]
    for element in elements where element.list.count == 2 {
      pairs[element.list[0]] = element.list[1]
    }
    return .pairs(pairs)
  }

  private func rest() -> [BusValue] {
    var values: [BusValue] = []
    while let value = value() { values.append(value) }
    return values
  }
}

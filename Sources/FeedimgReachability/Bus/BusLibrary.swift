import Glibc

/// The calls of sd-bus (libsystemd) that are needed here, looked up when the library is loaded.
///
/// The program is not linked with it: systems without systemd have none, and loading it costs a millisecond.
/// So it is loaded when there is a bus to talk to, and stays.
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

  /// Loads the library.
  ///
  /// - Returns: Nil where this system has none that fits.
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

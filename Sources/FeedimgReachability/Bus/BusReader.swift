/// Reads a message of D-Bus.
struct BusReader {
  let library: BusLibrary
  let message: BusLibrary.Message

  /// The next value.
  ///
  /// - Returns: Nil at the end of the message or of the container that is being read.
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
    case UInt8(ascii: "y"): return basic(type, UInt8(0)).map { .number(Int64($0)) }
    case UInt8(ascii: "n"): return basic(type, Int16(0)).map { .number(Int64($0)) }
    case UInt8(ascii: "q"): return basic(type, UInt16(0)).map { .number(Int64($0)) }
    case UInt8(ascii: "i"): return basic(type, Int32(0)).map { .number(Int64($0)) }
    case UInt8(ascii: "u"): return basic(type, UInt32(0)).map { .number(Int64($0)) }
    case UInt8(ascii: "x"): return basic(type, Int64(0)).map { .number($0) }
    case UInt8(ascii: "t"): return basic(type, UInt64(0)).map { .number(Int64(clamping: $0)) }
    case UInt8(ascii: "d"): return basic(type, Double(0)).map { _ in .unread }
    case UInt8(ascii: "h"): return basic(type, Int32(0)).map { _ in .unread }
    case UInt8(ascii: "v"): return inside(type, contents) { value() ?? .unread }
    case UInt8(ascii: "a"): return inside(type, contents) { elements(ofPairs: contents) }
    default: return inside(type, contents) { .list(rest()) }
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

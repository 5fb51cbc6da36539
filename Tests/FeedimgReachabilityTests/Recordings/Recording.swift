import Testing

@testable import FeedimgReachability

/// Bytes as a kernel sent them, written as hexadecimal digits with comments.
struct Recording: CustomTestStringConvertible, Sendable {
  let bytes: [UInt8]
  let testDescription: String

  /// - Parameter text: Two digits per byte. Spaces, and text after `#` on a line, are ignored.
  init(_ text: String) {
    var digits: [UInt8] = []
    for line in text.split(separator: "\n") {
      digits += line.prefix { $0 != "#" }.compactMap { $0.hexDigitValue.map(UInt8.init) }
    }
    bytes = stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    testDescription = String(text.prefix { $0 != "\n" })
  }

  /// Calls a closure with the first message of the recording.
  func read<Result>(_ body: (NetlinkMessage) -> Result?) -> Result? {
    bytes.withUnsafeBytes { bytes in
      var messages = NetlinkMessages(bytes)
      return messages.next().flatMap(body)
    }
  }

  /// Calls a closure with the recording as the payload of any attribute.
  func payload<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    bytes.withUnsafeBytes(body)
  }
}

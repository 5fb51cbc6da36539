import Testing

@testable import FeedimgReachability

/// Bytes as a kernel sent them, written as hexadecimal digits with a comment for each part.
struct Recording: CustomTestStringConvertible, Sendable {
  let bytes: [UInt8]
  let testDescription: String

  /// - Parameter text: Two digits a byte; spaces do not count, nor does what follows `#` on a line.
  init(_ text: String) {
    var digits: [UInt8] = []
    for line in text.split(separator: "\n") {
      digits += line.prefix { $0 != "#" }.compactMap { $0.hexDigitValue.map(UInt8.init) }
    }
    bytes = stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    testDescription = String(text.prefix { $0 != "\n" })
  }

  /// The first message of the recording, for as long as the body runs.
  func read<Result>(_ body: (NetlinkMessage) -> Result?) -> Result? {
    bytes.withUnsafeBytes { bytes in
      var messages = NetlinkMessages(bytes)
      return messages.next().flatMap(body)
    }
  }

  /// Reads this as the payload of whatever it is.
  func payload<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    bytes.withUnsafeBytes(body)
  }
}

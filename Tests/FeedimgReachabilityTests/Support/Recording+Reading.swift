import FeedimgTesting

@testable import FeedimgReachability

extension Recording {
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

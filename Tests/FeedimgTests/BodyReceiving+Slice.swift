import FeedimgModel

extension BodyReceiving {
  /// Receives a part of a body, as a transfer delivers it: never empty.
  func receive(_ bytes: ArraySlice<UInt8>) throws(LoadError) {
    guard !bytes.isEmpty else { return }
    try bytes.withUnsafeBytes { bytes in
      Result { () throws(LoadError) in try receive(bytes) }
    }
    .get()
  }
}

import CAVIF
import CGIF
import CJPEG
import CPNG
import CPixels
import CWebP
import FeedimgModel

/// The formats that can be decoded, the smaller ones first.
enum Codec: String, Sendable, Hashable, CaseIterable {
  case avif = "image/avif"
  case webp = "image/webp"
  case jpeg = "image/jpeg"
  case png = "image/png"
  case gif = "image/gif"

  /// The codec of an image, by its first bytes.
  init(of bytes: some Collection<UInt8>) throws(DecodeError) {
    let type = ImageFormat.sniff(Array(bytes.prefix(ImageFormat.prefixLength)), declared: nil)
    guard let type else { throw DecodeError(.unknownFormat, "these bytes are no known image") }
    guard let codec = Self(rawValue: type) else {
      throw DecodeError(.unknownFormat, "there is no decoder for `\(type)`")
    }
    self = codec
  }

  typealias Reader = UnsafeMutablePointer<cpixels_reader>

  /// Opens a reader on bytes that must not move; returns nil and sets the reason on failure.
  func open(
    _ bytes: UnsafePointer<UInt8>,
    _ count: Int,
    _ stop: UnsafePointer<cpixels_stop>,
    reason: inout [CChar]
  ) -> Reader? {
    switch self {
    case .avif: cavif_open(bytes, count, stop, &reason, reason.count)
    case .webp: cwebp_open(bytes, count, stop, &reason, reason.count)
    case .jpeg: cjpeg_open(bytes, count, stop, &reason, reason.count)
    case .png: cpng_open(bytes, count, stop, &reason, reason.count)
    case .gif: cgif_open(bytes, count, stop, &reason, reason.count)
    }
  }
}

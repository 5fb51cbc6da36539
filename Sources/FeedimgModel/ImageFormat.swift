/// A format that feedimg recognises, with the checks of its files that need no codec.
package struct ImageFormat: Sendable {
  /// The media type, in lower case.
  package let mediaType: String
  /// Other media types that servers send for the format.
  private let otherMediaTypes: [String]
  /// The usual file ending, without a dot: at most four lower-case letters and digits.
  package let fileEnding: String
  /// Whether a file with these first bytes has the format.
  let begins: @Sendable (ImagePrefix) -> Bool
  /// Whether the bytes reach the end that the format defines; true for a format without a known end mark.
  ///
  /// If closing the connection ends a body, the body may be truncated without a sign (RFC 9112 §8). Then only
  /// the format shows its end.
  package let isWhole: @Sendable ([UInt8]) -> Bool
  /// Whether a file, or the first part of it, has more than one frame.
  ///
  /// Reads the structure of the file and decodes nothing. An animated PNG counts as a still image, because
  /// the decoders read only its first frame.
  package let isAnimated: @Sendable ([UInt8]) -> Bool

  private init(
    _ mediaType: String,
    or otherMediaTypes: [String] = [],
    ending fileEnding: String,
    isWhole: @escaping @Sendable ([UInt8]) -> Bool = { _ in true },
    isAnimated: @escaping @Sendable ([UInt8]) -> Bool = { _ in false },
    begins: @escaping @Sendable (ImagePrefix) -> Bool
  ) {
    self.mediaType = mediaType
    self.otherMediaTypes = otherMediaTypes
    self.fileEnding = fileEnding
    self.begins = begins
    self.isWhole = isWhole
    self.isAnimated = isAnimated
  }

  /// Finds the format of a media type, whose parameters do not count.
  package init?(mediaType: String) {
    let name = mediaType.prefix { $0 != ";" && $0 != " " }.lowercased()
    let found = Self.all.first { $0.mediaType == name || $0.otherMediaTypes.contains(name) }
    guard let found else { return nil }
    self = found
  }
}

// Servers often send a wrong type, so that the first bytes decide. Source: WHATWG MIME Sniffing §6.1, with
// AVIF, HEIC (ISO/IEC 23008-12), JPEG XL (ISO/IEC 18181-2), TIFF and SVG.
extension ImageFormat {
  /// The number of bytes that ``sniff(_:declared:)`` inspects.
  package static let prefixLength = 512

  /// The media type of a body by its first ``prefixLength`` bytes; nil for an unknown format.
  ///
  /// The declared `Content-Type` counts only for an SVG whose root element starts after the prefix.
  package static func sniff(_ prefix: [UInt8], declared: String?) -> String? {
    let prefix = ImagePrefix(bytes: prefix, declared: declared)
    return all.first { $0.begins(prefix) }?.mediaType
  }
}

extension ImageFormat {
  /// All formats; the first one that fits a file is its format.
  package static let all = [
    ImageFormat("image/jpeg", or: ["image/jpg"], ending: "jpg", isWhole: ImageStructure.hasEnd(ofJPEG:)) {
      $0.has([0xFF, 0xD8, 0xFF])
    },
    ImageFormat("image/png", or: ["image/apng"], ending: "png", isWhole: ImageStructure.hasEnd(ofPNG:)) {
      $0.has([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
    },
    ImageFormat(
      "image/gif",
      ending: "gif",
      isWhole: ImageStructure.hasEnd(ofGIF:),
      isAnimated: ImageStructure.hasSecondFrame(ofGIF:)
    ) { $0.has("GIF87a") || $0.has("GIF89a") },
    ImageFormat(
      "image/webp",
      ending: "webp",
      isWhole: ImageStructure.hasEnd(ofWebP:),
      isAnimated: ImageStructure.hasSecondFrame(ofWebP:)
    ) { $0.has("RIFF") && $0.has("WEBP", at: 8) },
    ImageFormat(
      "image/avif",
      ending: "avif",
      isWhole: ImageStructure.hasEnd(ofBoxes:),
      isAnimated: ImageStructure.isSequence(ofAVIF:)
    ) { $0.hasBrand(in: ["avif", "avis"]) },
    ImageFormat("image/heic", or: ["image/heif"], ending: "heic", isWhole: ImageStructure.hasEnd(ofBoxes:)) {
      $0.hasBrand(in: ["heic", "heix", "mif1"])
    },
    ImageFormat("image/jxl", ending: "jxl", isWhole: ImageStructure.hasEnd(ofJPEGXL:)) {
      $0.has([0xFF, 0x0A]) || $0.has([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20])
    },
    ImageFormat("image/bmp", ending: "bmp", isWhole: ImageStructure.hasEnd(ofBMP:)) { $0.isBitmap },
    ImageFormat("image/x-icon", or: ["image/vnd.microsoft.icon"], ending: "ico") {
      // A film may begin with a box of such a size.
      ($0.has([0, 0, 1, 0]) || $0.has([0, 0, 2, 0])) && !$0.has("ftyp", at: 4)
    },
    ImageFormat("image/tiff", ending: "tiff") {
      $0.has([0x49, 0x49, 0x2A, 0]) || $0.has([0x4D, 0x4D, 0, 0x2A])
    },
    ImageFormat("image/svg+xml", ending: "svg", isWhole: ImageStructure.hasEnd(ofSVG:)) { $0.isSVG },
  ]
}

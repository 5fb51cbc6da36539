import CMoreFormats
public import Feedimg
import Glibc

/// Decodes HEIC, JPEG XL and SVG with libheif, libjxl and librsvg, and other formats with another decoder.
///
/// ```swift
/// configuration.decoder = MoreFormats(beside: CodecDecoder())
/// ```
public struct MoreFormats: ImageDecoding {
  private enum Format: String {
    case heic = "HEIC"
    case jxl = "JPEG XL"
    case svg = "SVG"
  }

  private let other: any ImageDecoding

  /// - Parameter other: Decodes all other formats.
  public init(beside other: any ImageDecoding) { self.other = other }

  /// The three formats and those of the other decoder; servers choose by the order.
  public var mediaTypes: [String] { ["image/jxl", "image/heic"] + other.mediaTypes + ["image/svg+xml"] }

  /// Decodes an image at the requested size, see `ImageDecoding`.
  public func decode(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> DecodedImage {
    guard let format = Self.format(of: bytes) else { return try await other.decode(bytes, request) }
    var image = more_image()
    let side = request.size.map { max($0.pixels.width, $0.pixels.height) } ?? 0
    let result = bytes.withUnsafeBytes {
      switch format {
      case .heic: more_decode_heif($0.baseAddress, $0.count, &image)
      case .jxl: more_decode_jxl($0.baseAddress, $0.count, &image)
      case .svg: more_draw_svg($0.baseAddress, $0.count, Int32(clamping: side), &image)
      }
    }
    guard result == 0 else { throw DecodeError(.damaged, "the \(format.rawValue) picture is damaged") }
    defer { free(image.pixels) }
    let source = PixelSize(width: Int(image.width), height: Int(image.height))
    var pixels = [UInt8](UnsafeBufferPointer(start: image.pixels, count: source.width * source.height * 4))
    if request.format == .bgra {
      for pixel in stride(from: 0, to: pixels.count, by: 4) { pixels.swapAt(pixel, pixel + 2) }
    }
    let isOpaque = stride(from: 3, to: pixels.count, by: 4).allSatisfy { pixels[$0] == 255 }
    guard let bitmap = Bitmap(size: source, format: request.format, isOpaque: isOpaque, bytes: pixels) else {
      throw DecodeError(.unavailable, "no pixels")
    }
    let fitted = request.size.map { Self.fitted(source, in: $0) } ?? source
    return DecodedImage(bitmap: try Resize(to: fitted).process(bitmap), sourceSize: source)
  }

  /// Decodes an animation, see `ImageDecoding`; images of the three formats have one frame.
  public func animation(
    _ bytes: [UInt8],
    _ request: DecodeRequest
  ) async throws(DecodeError) -> ImageAnimation {
    guard Self.format(of: bytes) != nil else { return try await other.animation(bytes, request) }
    let image = try await decode(bytes, request)
    return ImageAnimation(frames: [.init(bitmap: image.bitmap, duration: .zero)], loopCount: 1)
  }

  private static func format(of bytes: [UInt8]) -> Format? {
    let start = bytes.prefix(12)
    if start.starts(with: [0xFF, 0x0A]) || start.starts(with: [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20]) {
      return .jxl
    }
    if ["heic", "heix", "mif1"].contains(where: { start.dropFirst(4).elementsEqual("ftyp\($0)".utf8) }) {
      return .heic
    }
    // The loader has already checked that a document is SVG.
    return start.first { ![0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "<")
      ? .svg : nil
  }

  /// The size at which an image fits into a view, or fills it; never enlarged.
  private static func fitted(_ source: PixelSize, in view: DisplaySize) -> PixelSize {
    let (x, y) = (
      Double(view.pixels.width) / Double(source.width), Double(view.pixels.height) / Double(source.height)
    )
    let scale = min(1, view.fitting == .fit ? min(x, y) : max(x, y))
    return PixelSize(
      width: max(1, Int(Double(source.width) * scale)),
      height: max(1, Int(Double(source.height) * scale))
    )
  }
}

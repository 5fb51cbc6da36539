/// Decodes images to pixels (a port).
///
/// The product `FeedimgDecoding` has an implementation.
public protocol ImageDecoding: Sendable {
  /// The supported media types, such as `image/avif`; formats with smaller files first.
  var mediaTypes: [String] { get }
  /// The number of images that are decoded at once. Others wait, the most urgent first.
  ///
  /// `Int.max` by default: the decoder gets all images at once.
  var width: Int { get }

  /// Decodes an image at the requested size, on another thread; for an animation, the first frame.
  ///
  /// Cancelling the task stops decoding soon.
  ///
  /// - Parameters:
  ///   - bytes: The encoded image, or its beginning.
  ///   - request: The size, pixel format and treatment of damage.
  /// - Returns: The image upright, in sRGB; never enlarged.
  /// - Throws: ``DecodeError``. An image that is too large fails before decoding starts.
  func decode(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> DecodedImage

  /// Decodes all frames of an animation at the requested size, on another thread.
  ///
  /// - Parameters:
  ///   - bytes: The encoded image, or its beginning.
  ///   - request: The size, pixel format and treatment of damage.
  /// - Returns: As many frames as the memory limit permits; for a still image, one frame.
  /// - Throws: ``DecodeError``. An image that is too large fails before decoding starts.
  func animation(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> ImageAnimation

  /// Opens an animation to decode its frames one by one, at the requested size.
  ///
  /// The default implementation returns the frames of ``animation(_:_:)``, which holds all of them in memory.
  ///
  /// - Parameters:
  ///   - bytes: The encoded image, or its beginning.
  ///   - request: The size, pixel format and treatment of damage.
  /// - Returns: A reader that starts with the first frame.
  /// - Throws: ``DecodeError``. An image that is too large fails before decoding starts.
  func frames(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> any FrameReading
}

extension ImageDecoding {
  /// No limit.
  public var width: Int { .max }
}

/// The size, format and error handling for decoding an image.
public struct DecodeRequest: Sendable, Hashable {
  /// The treatment of a truncated or damaged image.
  public enum Damage: String, Sendable, Hashable, CaseIterable {
    /// Decoding fails.
    case refuse
    /// Missing parts are transparent, or coarse if the format allows that.
    case show
  }

  /// Nil for the size of the image.
  public var size: DisplaySize?
  /// The order of a pixel's bytes.
  public var format: Bitmap.Format
  /// The treatment of a truncated or damaged image.
  public var damage: Damage
  /// Change the decoded pixels, in this order; the loader calls them, not the decoder.
  public var processors: [any ImageProcessing]

  /// Creates a request.
  public init(
    _ size: DisplaySize? = nil,
    format: Bitmap.Format = .rgba,
    damage: Damage = .refuse,
    processors: [any ImageProcessing] = []
  ) {
    self.size = size
    self.format = format
    self.damage = damage
    self.processors = processors
  }
}

/// An image as pixels.
public struct DecodedImage: Sendable, Hashable {
  /// Upright, in sRGB.
  public var bitmap: Bitmap
  /// The size of the encoded image, upright.
  public var sourceSize: PixelSize
  /// Whether a part of the image is missing or damaged.
  public var isPartial: Bool
  /// Whether the image has more frames; see ``ImageDecoding/frames(_:_:)``.
  public var isAnimated: Bool
  /// The resolution of the shown content: the bitmap's size, or less while only coarse scans have arrived.
  ///
  /// Zero if parts of the image are missing.
  public var detail: PixelSize

  /// Creates a decoded image, such as in a decoder of your own.
  ///
  /// Without a detail, it is the bitmap's size, or zero if parts are missing.
  public init(
    bitmap: Bitmap,
    sourceSize: PixelSize,
    isPartial: Bool = false,
    isAnimated: Bool = false,
    detail: PixelSize? = nil
  ) {
    self.bitmap = bitmap
    self.detail = detail ?? (isPartial ? PixelSize(width: 0, height: 0) : bitmap.size)
    self.sourceSize = sourceSize
    self.isPartial = isPartial
    self.isAnimated = isAnimated
  }
}

/// An animation as pixels.
public struct ImageAnimation: Sendable, Hashable {
  /// One image of the animation.
  public struct Frame: Sendable, Hashable {
    /// The complete image, upright, in sRGB.
    public var bitmap: Bitmap
    /// The duration in the file, possibly zero.
    ///
    /// Viewers show frames under 20 ms for 100 ms.
    public var duration: Duration

    /// Creates a frame.
    public init(bitmap: Bitmap, duration: Duration) {
      self.bitmap = bitmap
      self.duration = duration
    }
  }

  /// In order, at least one.
  public var frames: [Frame]
  /// The number of repetitions; nil for endless.
  public var loopCount: Int?
  /// Whether frames are missing because of damage or the memory limit.
  public var isPartial: Bool

  /// Creates an animation.
  public init(frames: [Frame], loopCount: Int?, isPartial: Bool = false) {
    self.frames = frames
    self.loopCount = loopCount
    self.isPartial = isPartial
  }
}

/// Why an image could not be decoded.
public struct DecodeError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure, for programs.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The format is unknown.
    case unknownFormat
    /// The image is truncated or damaged.
    case damaged
    /// The image exceeds the limit of pixels, frames or memory.
    case tooLarge
    case cancelled
    /// The system has no memory or thread left for it.
    case unavailable
  }

  /// The kind of failure.
  public var code: Code
  /// One line of text, in lower case, without a full stop.
  public var message: String

  /// Creates an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The message.
  public var description: String { message }
}

/// Reads the frames of an animation once, in order (a port).
///
/// See ``ImageDecoding/frames(_:_:)``.
public protocol FrameReading: AnyObject, Sendable {
  /// The number of repetitions of the animation; nil for endless.
  var loopCount: Int? { get }

  /// Decodes the next frame at the requested size, on another thread.
  ///
  /// Call it again only after the previous call has returned. Cancelling the task soon ends the reading for
  /// good.
  ///
  /// - Returns: Nil after the last available or permitted frame.
  /// - Throws: ``DecodeError``. No further frame follows.
  func next() async throws(DecodeError) -> ImageAnimation.Frame?
}

extension ImageDecoding {
  /// Returns the frames of ``animation(_:_:)`` one by one.
  public func frames(
    _ bytes: [UInt8],
    _ request: DecodeRequest
  ) async throws(DecodeError) -> any FrameReading {
    DecodedFrames(try await animation(bytes, request))
  }
}

/// Frames that are already decoded.
private actor DecodedFrames: FrameReading {
  nonisolated let loopCount: Int?
  private var rest: ArraySlice<ImageAnimation.Frame>

  init(_ animation: ImageAnimation) {
    loopCount = animation.loopCount
    rest = animation.frames[...]
  }

  func next() -> ImageAnimation.Frame? { rest.popFirst() }
}

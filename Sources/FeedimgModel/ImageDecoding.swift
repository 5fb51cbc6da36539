/// Makes pixels of encoded images (a port); the product `FeedimgDecoding` has one.
public protocol ImageDecoding: Sendable {
  /// What can be decoded, such as `image/avif`; the smaller formats first.
  var mediaTypes: [String] { get }
  /// How many images it decodes at once; further ones wait for it, the most urgent first.
  ///
  /// `Int.max` unless the decoder says otherwise: then it is asked for all at once.
  var width: Int { get }

  /// Decodes an image at the size asked, on another thread; of an animation, its first frame.
  ///
  /// Cancelling the task ends decoding soon.
  ///
  /// - Parameters:
  ///   - bytes: The encoded image, or its beginning.
  ///   - request: At which size, and what is to be done about damage.
  /// - Returns: The image upright, in sRGB; never enlarged.
  /// - Throws: ``DecodeError``; what is too large is told before anything is decoded.
  func decode(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> DecodedImage

  /// Decodes all frames of an animation at the size asked, on another thread.
  ///
  /// - Parameters:
  ///   - bytes: The encoded image, or its beginning.
  ///   - request: At which size, and what is to be done about damage.
  /// - Returns: As many frames as memory allows; of a still image, its only one.
  /// - Throws: ``DecodeError``; what is too large is told before anything is decoded.
  func animation(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> ImageAnimation

  /// Opens an animation to decode its frames one by one, at the size asked.
  ///
  /// Decoders that have no way of their own give the frames of ``animation(_:_:)``, which takes the memory of all.
  ///
  /// - Parameters:
  ///   - bytes: The encoded image, or its beginning.
  ///   - request: At which size, and what is to be done about damage.
  /// - Returns: A pass that begins with the first frame.
  /// - Throws: ``DecodeError``; what is too large is told before anything is decoded.
  func frames(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> any FrameReading
}

extension ImageDecoding {
  /// As many as come.
  public var width: Int { .max }
}

/// What is to become of an encoded image.
public struct DecodeRequest: Sendable, Hashable {
  /// What is to be done about an image that is cut off or damaged.
  public enum Damage: String, Sendable, Hashable, CaseIterable {
    /// It is an error.
    case refuse
    /// What is there is shown; what is missing is clear, or coarse where the format has it so.
    case show
  }

  /// Nil for the size that the image has.
  public var size: DisplaySize?
  /// The order of the bytes of a pixel.
  public var format: Bitmap.Format
  /// What is to be done about damage.
  public var damage: Damage

  /// Makes a request.
  ///
  /// - Parameters:
  ///   - size: Nil for the size that the image has.
  ///   - format: The order of the bytes of a pixel.
  ///   - damage: What is to be done about damage.
  public init(_ size: DisplaySize? = nil, format: Bitmap.Format = .rgba, damage: Damage = .refuse) {
    self.size = size
    self.format = format
    self.damage = damage
  }
}

/// An image as pixels.
public struct DecodedImage: Sendable, Hashable {
  /// Upright, in sRGB.
  public var bitmap: Bitmap
  /// How large the encoded image is, upright.
  public var sourceSize: PixelSize
  /// Whether some of it is missing or wrong.
  public var isPartial: Bool
  /// Whether there are further frames, see ``ImageDecoding/frames(_:_:)``.
  public var isAnimated: Bool
  /// How many pixels tell apart what the bitmap shows: those of the bitmap, or fewer where only coarse scans are there.
  ///
  /// Zero where parts of the picture are missing.
  public var detail: PixelSize

  package init(
    bitmap: Bitmap,
    sourceSize: PixelSize,
    isPartial: Bool,
    isAnimated: Bool,
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
  /// What is seen for a while.
  public struct Frame: Sendable, Hashable {
    /// The whole picture, upright, in sRGB.
    public var bitmap: Bitmap
    /// As the file says, zero included; viewers show frames under 20 ms for 100 ms.
    public var duration: Duration

    package init(bitmap: Bitmap, duration: Duration) {
      self.bitmap = bitmap
      self.duration = duration
    }
  }

  /// In order, at least one.
  public var frames: [Frame]
  /// How often it is shown; nil for ever.
  public var loopCount: Int?
  /// Whether frames are missing, as the file is damaged or memory has its limits.
  public var isPartial: Bool

  package init(frames: [Frame], loopCount: Int?, isPartial: Bool) {
    self.frames = frames
    self.loopCount = loopCount
    self.isPartial = isPartial
  }
}

/// Why an image could not be decoded.
public struct DecodeError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What to branch on.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// It is no format that is known here.
    case unknownFormat
    /// It is cut off or damaged.
    case damaged
    /// It has more pixels or frames, or takes more memory, than is allowed.
    case tooLarge
    case cancelled
    /// The system has no memory or no thread for it.
    case unavailable
  }

  /// What to branch on.
  public var code: Code
  /// One line in words.
  public var message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The message.
  public var description: String { message }
}

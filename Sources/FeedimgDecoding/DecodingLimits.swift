public import FeedimgModel

/// The most pixels, frames and memory for one image; checked against its header before decoding.
public struct DecodingLimits: Sendable, Hashable {
  /// The most pixels of the encoded image, and of each frame of a GIF.
  ///
  /// The default of 100 million suits the cameras of phones.
  public var pixels = 100_000_000
  /// The most frames to decode of an animation; later frames are dropped.
  public var frames = 1000
  /// The most memory for decoding an image, pixels included; an estimate for each codec.
  public var memory = ByteCount.mebibytes(512)

  /// The defaults.
  public init() {}
}

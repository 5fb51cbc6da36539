public import FeedimgModel

/// What an image may ask for; checked by what it announces, before anything is decoded.
public struct DecodingLimits: Sendable, Hashable {
  /// The most pixels of the encoded picture, and of each frame of a GIF; the default lets the cameras of phones pass,
  /// with 100 million.
  public var pixels = 100_000_000
  /// The most frames of an animation that are decoded; the rest is left out.
  public var frames = 1000
  /// The most memory while an image is decoded, its pixels included; an estimate for each codec.
  public var memory = ByteCount.mebibytes(512)

  /// The defaults.
  public init() {}
}

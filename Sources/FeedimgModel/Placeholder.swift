/// What stands in for a picture that cannot be shown yet.
public struct Placeholder: Sendable, Hashable {
  /// A BlurHash (github.com/woltapp/blurhash), if the feed has one.
  public var blurHash: String?
  /// A ThumbHash in base64 (github.com/evanw/thumbhash), if the feed has one.
  public var thumbHash: String?
  /// `#rrggbb`, if the feed has one.
  public var color: String?

  /// Makes a placeholder out of what the feed offers.
  public init(blurHash: String? = nil, thumbHash: String? = nil, color: String? = nil) {
    self.blurHash = blurHash
    self.thumbHash = thumbHash
    self.color = color
  }

  /// Whether there is anything to draw.
  public var isEmpty: Bool { blurHash == nil && thumbHash == nil && color == nil }
}

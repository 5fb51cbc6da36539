/// Drawn in place of an image that is not available yet.
public struct Placeholder: Sendable, Hashable {
  /// A BlurHash (github.com/woltapp/blurhash), if the feed has one.
  public var blurHash: String?
  /// A ThumbHash in base64 (github.com/evanw/thumbhash), if the feed has one.
  public var thumbHash: String?
  /// `#rrggbb`, if the feed has one.
  public var color: String?

  /// Creates a placeholder from the values of the feed.
  public init(blurHash: String? = nil, thumbHash: String? = nil, color: String? = nil) {
    self.blurHash = blurHash
    self.thumbHash = thumbHash
    self.color = color
  }

  /// Whether nothing can be drawn.
  public var isEmpty: Bool { blurHash == nil && thumbHash == nil && color == nil }
}

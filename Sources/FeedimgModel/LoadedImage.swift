/// An image with its bytes, and where it came from.
public struct LoadedImage: Sendable, Hashable {
  /// Where the bytes came from this time.
  public enum Source: String, Sendable, Hashable, CaseIterable {
    /// This process has them, be it that another load of the same image brought them just now.
    case memory
    case disk
    case network
  }

  /// The picture that was loaded.
  public var variant: ImageVariant
  /// Where its bytes came from.
  public var source: Source
  /// The decision that led here.
  public var resolution: Resolution
  /// The encoded image, whole.
  public var bytes: [UInt8]
  /// Told by the bytes, not by the server.
  public var mediaType: String
  /// Its pixels; nil where none were asked for, or nothing decodes.
  public var bitmap: Bitmap?
  /// What its pixels were made for; nil where there are none.
  package var request: DecodeRequest?
  /// The file in the disk cache; nil where it could not, or must not, be kept.
  public var path: String?
  /// Whether it may be out of date; nil where nothing is known of the answer that brought it.
  public var freshness: ImageFreshness?
  /// What its server is being asked under, where showing it has started that.
  package var revalidation: String?
  /// What the user should know although the load succeeded, such as that the image could not be kept.
  public var notes: [String]
  /// Why the original could not be had, where this is the thumbnail in its place.
  public var failure: LoadError?

  /// Whether there are further frames to play, as in an animated GIF, WebP or AVIF.
  ///
  /// Told by the bytes each time, which takes some microseconds; nothing is decoded for it.
  public var isAnimated: Bool { ImageStructure.isAnimated(bytes, mediaType: mediaType) }

  package init(
    variant: ImageVariant,
    source: Source,
    resolution: Resolution,
    bytes: [UInt8],
    mediaType: String,
    path: String?,
    freshness: ImageFreshness? = nil,
    notes: [String] = []
  ) {
    self.variant = variant
    self.source = source
    self.resolution = resolution
    self.bytes = bytes
    self.mediaType = mediaType
    self.path = path
    self.freshness = freshness
    self.notes = notes
  }
}

/// A loaded image with its bytes and their source.
public struct LoadedImage: Sendable, Hashable {
  /// The source of the bytes for this load.
  public enum Source: String, Sendable, Hashable, CaseIterable {
    /// The memory of this process, or a concurrent load of the same image.
    case memory
    case disk
    case network
  }

  /// The loaded variant.
  public var variant: ImageVariant {
    get { boxedVariant.value }
    set { boxedVariant.value = newValue }
  }
  /// The source of its bytes.
  public var source: Source
  /// The decision of the load.
  public var resolution: Resolution {
    get { boxedResolution.value }
    set { boxedResolution.value = newValue }
  }
  /// The complete encoded image.
  public var bytes: [UInt8]
  /// Detected from the bytes, not taken from the server.
  public var mediaType: String
  /// The decoded pixels; nil if none were requested or no decoder is installed.
  public var bitmap: Bitmap?
  /// The request of ``bitmap``; nil if there is none.
  package var request: DecodeRequest?
  /// The file in the disk cache; nil if the image could not or must not be stored.
  ///
  /// An image that a slot has just received has no path yet, because a slot shows images before they are stored.
  public var path: String?
  /// Whether the image may be out of date; nil if its response is not known.
  public var freshness: ImageFreshness?
  /// The identifier of the revalidation that showing the image started, if any.
  package var revalidation: String?
  /// Messages for the user although the load succeeded, such as that the image could not be stored.
  public var notes: [String]
  /// The failure of the original, if this is the thumbnail in its place.
  public var failure: LoadError? {
    get { boxedFailure?.value }
    set { boxedFailure = newValue.map(Boxed.init) }
  }

  private var boxedVariant: Boxed<ImageVariant>
  private var boxedResolution: Boxed<Resolution>
  private var boxedFailure: Boxed<LoadError>?

  /// Whether the image has more frames, as in an animated GIF, WebP or AVIF.
  ///
  /// Scans the bytes on each call, in a few microseconds, without decoding.
  public var isAnimated: Bool { ImageFormat(mediaType: mediaType)?.isAnimated(bytes) ?? false }

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
    boxedVariant = Boxed(variant)
    self.source = source
    boxedResolution = Boxed(resolution)
    self.bytes = bytes
    self.mediaType = mediaType
    self.path = path
    self.freshness = freshness
    self.notes = notes
  }
}

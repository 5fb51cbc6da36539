/// How one load uses the images in memory and on disk.
///
/// An image counts as cached for the decision where the policy reads it.
public enum CachePolicy: String, Sendable, Hashable, CaseIterable {
  /// A cached image returns at once, and its server revalidates it meanwhile.
  case `default`
  /// The server revalidates a cached image first, if the policy permits the request.
  case reload
  /// Only cached images return. The loader sends no request, not even to revalidate.
  case cacheOnly
  /// The load neither reads nor fills memory. It does not revalidate an image from disk.
  case bypassMemory
  /// The load neither reads nor writes files. It does not revalidate an image from memory.
  ///
  /// ``LoadedImage/path`` is nil for an image from the network. An older file of that image stays, and loads
  /// show it once memory has dropped the image.
  case bypassDisk

  var usesMemory: Bool { self != .bypassMemory }
  var usesDisk: Bool { self != .bypassDisk }
  var revalidates: Bool { self == .default || self == .reload }

  /// Distinguishes loads that keep their images elsewhere, so that they share no download.
  var loadKeySuffix: String { usesMemory && usesDisk ? "" : " \(rawValue)" }
}

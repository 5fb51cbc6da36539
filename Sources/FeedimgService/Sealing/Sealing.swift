import Feedimg
import Synchronization

/// Keeps sealed copies of the large images that clients ask for again and again.
///
/// They live in the memory of the loader, within its budget, and go with their images and before them.
final class Sealing: Sendable {
  /// More takes so long to copy that other clients would notice; in bytes.
  private static let greatestLength = 8 << 20
  /// Where a process may have fewer descriptors, they are for connections and transfers.
  private static let fewestDescriptors = 1024

  private let isAllowed: Bool
  /// Guards what was asked for; nothing is copied inside.
  private let demand = Mutex(SealingDemand())

  /// - Parameter descriptors: How many the process may have.
  init(descriptors: Int) { isAllowed = descriptors >= Self.fewestDescriptors }

  /// The copy of an image that is sent now.
  ///
  /// - Parameters:
  ///   - image: What memory has.
  ///   - loader: Whose memory that is.
  /// - Returns: Nil where there is none, and none is due or can be made.
  func copy(of image: ImageAtHand, in loader: ImageLoader) -> SealedBody? {
    if let copy = image.copy { return copy as? SealedBody }
    guard isAllowed, image.bytes.count <= Self.greatestLength,
      demand.withLock({ $0.ask(image.variant.url.key) }), let body = SealedBody(image.bytes),
      loader.keep(body, cost: body.cost, of: image)
    else { return nil }
    return body
  }
}

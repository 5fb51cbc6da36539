import Feedimg
import Synchronization

/// Keeps sealed copies of the large images that clients ask for again and again.
///
/// They live in the memory of the loader, within its budget, and go with their images and before them.
final class Sealing: Sendable {
  /// Guards what was asked for; nothing is copied inside.
  private let demand = Mutex(SealingDemand())

  /// The copy of an image that is sent now.
  ///
  /// - Parameters:
  ///   - image: What memory has.
  ///   - loader: Whose memory that is.
  /// - Returns: Nil where there is none, and none is due or can be made.
  func copy(of image: ImageAtHand, in loader: ImageLoader) -> SealedBody? {
    if let copy = image.copy { return copy as? SealedBody }
    guard demand.withLock({ $0.ask(image.variant.url.key) }), let body = SealedBody(image.bytes),
      loader.keep(body, cost: body.cost, of: image)
    else { return nil }
    return body
  }
}

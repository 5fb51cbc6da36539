public import FeedimgModel
import Synchronization

/// A preview of an image that is still arriving.
public struct ImageScan: Sendable, Hashable {
  /// The variant that is arriving.
  public var variant: ImageVariant
  /// The complete picture at the requested size, blurred where data is still missing.
  public var bitmap: Bitmap
  /// The resolution of the details that the bitmap shows; see ``DecodedImage/detail``.
  public var detail: PixelSize
  /// The number of bytes that it was decoded from.
  var length: Int

  /// Whether this preview shows more detail than another one, or comes from more bytes.
  package func isSharper(than other: ImageScan) -> Bool {
    (detail.area, length) > (other.detail.area, other.length)
  }
}

extension PixelSize {
  /// The number of pixels; the sizes of decoded images cannot overflow it.
  package var area: Int { width * height }
}

/// Decodes the scans of an arriving image for a caller that shows them.
///
/// It decodes one scan at a time. When one is done, it continues with the latest scan and skips older ones.
package final class ScanPresenter: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    /// The URL key and the length of the scan that was decoded last.
    var last: (key: String, length: Int)?
    var isStopped = false
  }

  private let queue: DecodingQueue
  /// Returns the size of the pixels that the caller wants now.
  private let request: @Sendable () -> DecodeRequest?
  private let item: FeedItem
  private let handle: LoadHandle
  private let present: @Sendable (ImageScan) -> Void
  /// Guards the decoding task; tasks are cancelled outside the lock.
  private let state = Mutex(State())

  package init(
    _ queue: DecodingQueue,
    _ item: FeedItem,
    _ handle: LoadHandle,
    request: @escaping @Sendable () -> DecodeRequest?,
    present: @escaping @Sendable (ImageScan) -> Void
  ) {
    (self.queue, self.item, self.handle) = (queue, item, handle)
    (self.request, self.present) = (request, present)
  }

  /// Decodes the latest scan when new bytes have arrived.
  ///
  /// The transfer calls it on its thread.
  package func look(at run: InFlightLoad) {
    guard state.withLock({ $0.task == nil && !$0.isStopped }) else { return }
    guard let (variant, scan) = arrived(run) else { return }
    state.withLock { state in
      guard state.task == nil, !state.isStopped else { return }
      // Compares lengths, not numbers: a resumed download numbers its scans from 1 again.
      let (key, length) = (variant.url.key, scan.bytes.count)
      if let last = state.last, last.key == key, last.length >= length { return }
      state.last = (key, length)
      state.task = Task { await self.decode(scan, variant, run) }
    }
  }

  package func stop() {
    let task = state.withLock { state in
      state.isStopped = true
      return state.task.take()
    }
    task?.cancel()
  }

  private func arrived(_ run: InFlightLoad) -> (ImageVariant, ScanSelector.Scan)? {
    guard let (url, scan) = run.scan(),
      let variant = [item.original, item.thumbnail].compactMap({ $0 }).first(where: { $0.url.key == url.key })
    else { return nil }
    return (variant, scan)
  }

  private func decode(_ scan: ScanSelector.Scan, _ variant: ImageVariant, _ run: InFlightLoad) async {
    // If a scan cannot be decoded, the next one may be.
    if var request = request() {
      request.damage = .show
      if let image = try? await queue.decoded(scan.bytes, of: variant.url, request, handle),
        image.detail.area > 0
      {
        present(
          ImageScan(
            variant: variant,
            bitmap: image.bitmap,
            detail: image.detail,
            length: scan.bytes.count
          )
        )
      }
    }
    state.withLock { $0.task = nil }
    look(at: run)
  }
}

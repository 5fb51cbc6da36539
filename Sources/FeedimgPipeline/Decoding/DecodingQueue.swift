import FeedimgHTTPCache
import FeedimgModel
import FeedimgSystem

/// Decodes images, the most urgent first, and keeps the pixels in memory.
///
/// Callers that want the same pixels of an image share one decoding.
package final class DecodingQueue: Sendable {
  typealias Outcome = Result<DecodedImage, DecodeError>

  private let decoder: any ImageDecoding
  private let memory: MemoryCache
  let coalescer = Coalescer<Outcome>()
  /// Limits how many images decode at once to the decoder's width.
  ///
  /// Visible images pass the others.
  let places: PriorityWaiters<LoadPriority>

  /// Returns the key under which memory keeps the image of a URL.
  private let key: @Sendable (ImageURL) -> String

  init(
    _ decoder: any ImageDecoding,
    _ memory: MemoryCache,
    key: @escaping @Sendable (ImageURL) -> String = { $0.key }
  ) {
    self.decoder = decoder
    self.key = key
    self.memory = memory
    places = PriorityWaiters(places: decoder.width)
  }

  /// Returns the pixels from memory; nil if memory does not have them.
  ///
  /// Memory keeps pixels only of the version of the image that it also keeps.
  package func kept(of url: ImageURL, _ request: DecodeRequest) -> Bitmap? {
    DecodedKey(self.key(url), request).flatMap { memory[$0] }
  }

  /// Returns the pixels of a complete image, from memory or decoded now.
  package func bitmap(
    _ bytes: [UInt8],
    of url: ImageURL,
    _ request: DecodeRequest,
    handle: LoadHandle = LoadHandle(.visible)
  ) async throws(DecodeError) -> Bitmap {
    let key = DecodedKey(self.key(url), request)
    if let key, let bitmap = memory[key, of: bytes] { return bitmap }
    let memory = memory
    return try await decoded(bytes, of: url, request, handle) { image in
      if let key, !image.isPartial { memory.insert(image.bitmap, for: key, of: bytes) }
    }.bitmap
  }

  /// Decodes all frames of a complete image.
  ///
  /// Memory does not keep them.
  func animation(
    _ bytes: [UInt8],
    _ request: DecodeRequest
  ) async throws(DecodeError) -> ImageAnimation {
    try await inTurn { [decoder] () async throws(DecodeError) -> ImageAnimation in
      var animation = try await decoder.animation(bytes, request)
      for index in animation.frames.indices {
        animation.frames[index].bitmap = try request.processed(animation.frames[index].bitmap)
      }
      return animation
    }
  }

  /// Begins a pass over the frames of a complete image.
  func frames(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> any FrameReading {
    try await inTurn { [decoder] () async throws(DecodeError) in try await decoder.frames(bytes, request) }
  }

  /// Returns the next frame of a pass, after the processors of the request.
  func frame(
    of reader: any FrameReading,
    _ request: DecodeRequest
  ) async throws(DecodeError) -> ImageAnimation.Frame? {
    try await inTurn { () async throws(DecodeError) in
      guard var frame = try await reader.next() else { return nil }
      frame.bitmap = try request.processed(frame.bitmap)
      return frame
    }
  }

  /// Runs the body with the priority of a visible image when a decoder is free.
  private func inTurn<Value: Sendable>(
    _ body: @Sendable () async throws(DecodeError) -> Value
  ) async throws(DecodeError) -> Value {
    let outcome = await places.turn(of: InFlightLoad(.visible)) { await Result.of(body) }
    guard let outcome else { throw Self.cancelled }
    return try outcome.get()
  }

  /// Joins the decoding of the same pixels, or starts it.
  ///
  /// The decoding calls `keep` before any caller receives the pixels, unless all callers have left.
  func decoded(
    _ bytes: [UInt8],
    of url: ImageURL,
    _ request: DecodeRequest,
    _ handle: LoadHandle,
    keep: @escaping @Sendable (DecodedImage) -> Void = { _ in }
  ) async throws(DecodeError) -> DecodedImage {
    let (decoder, places) = (decoder, places)
    let key = Self.key(bytes, url, request)
    let outcome: Outcome
    do throws(LoadError) {
      outcome = try await coalescer.value(for: key, handle: handle) { load in
        let outcome = await places.turn(of: load) {
          await withTaskExecutorPreference(globalConcurrentExecutor) {
            await Self.decode(bytes, request, by: decoder, keep)
          }
        }
        return .success(outcome ?? .failure(Self.cancelled))
      }
    } catch {
      throw Self.cancelled
    }
    return try outcome.get()
  }

  /// Runs outside the pipeline's thread, because decoding may take long.
  @concurrent private static func decode(
    _ bytes: [UInt8],
    _ request: DecodeRequest,
    by decoder: any ImageDecoding,
    _ keep: @Sendable (DecodedImage) -> Void
  ) async -> Outcome {
    do throws(DecodeError) {
      var image = try await decoder.decode(bytes, request)
      image.bitmap = try request.processed(image.bitmap)
      // Memory keeps no pixels that all callers have cancelled.
      if !Task.isCancelled { keep(image) }
      return .success(image)
    } catch {
      return .failure(error)
    }
  }

  private static var cancelled: DecodeError { DecodeError(.cancelled, "decoding was cancelled") }

  /// Identifies the pixels that callers can share.
  ///
  /// The address of the bytes distinguishes versions of an image. It is stable while callers hold the bytes.
  private static func key(_ bytes: [UInt8], _ url: ImageURL, _ request: DecodeRequest) -> String {
    let place = bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    let size = request.size.map { "\($0.pixels) \($0.fitting)" } ?? ""
    let processors = request.processorIdentifiers
    return "\(place) \(bytes.count) \(size) \(request.format) \(request.damage) \(processors) \(url.key)"
  }
}

extension DecodedKey {
  /// Identifies decoded pixels by their size in pixels.
  ///
  /// Nil for a request without a size: full-size pixels take much memory and are rarely shown again.
  init?(_ key: String, _ request: DecodeRequest) {
    guard let size = request.size else { return nil }
    let (width, height) = (Double(size.pixels.width), Double(size.pixels.height))
    let pixels = DisplaySize(width: width, height: height, fitting: size.fitting)
    self.init(url: key, size: pixels, format: request.format, processors: request.processorIdentifiers)
  }
}

extension PriorityWaiters<LoadPriority> {
  /// Runs the body when a place is free.
  ///
  /// The priority of the load may change during the wait.
  fileprivate func turn<Value: Sendable>(of load: InFlightLoad, _ body: () async -> Value) async -> Value? {
    let ticket = enter(load.priority)
    // The load and its listener refer to each other until the `defer` below removes the listener.
    load.onPriority { self.setPriority(ticket, load.priority) }
    // The priority may have changed before the listener was set.
    setPriority(ticket, load.priority)
    defer {
      load.onPriority(nil)
      leave(ticket)
    }
    guard await place(ticket) else { return nil }
    return await body()
  }
}

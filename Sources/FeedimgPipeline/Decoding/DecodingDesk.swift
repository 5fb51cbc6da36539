import FeedimgCache
import FeedimgModel
import FeedimgSystem

/// Has images decoded, the most urgent first and each once however many want the same pixels of it, and keeps those.
package final class DecodingDesk: Sendable {
  private typealias Outcome = Result<DecodedImage, DecodeError>

  private let decoder: any ImageDecoding
  private let memory: MemoryCache
  private let desk = Coalescer<Outcome>()
  /// As many decode at once as the decoder can; images in view pass those out of view.
  private let places: PriorityWaiters<LoadPriority>

  init(_ decoder: any ImageDecoding, _ memory: MemoryCache, _ time: MonotonicTime) {
    self.decoder = decoder
    self.memory = memory
    places = PriorityWaiters(places: decoder.width, time)
  }

  /// How many images wait for a decoder.
  var waiting: Int { places.count }

  /// How many want pixels that are being made, or wait for a decoder.
  var wanted: Int { desk.count }

  /// The pixels of an image if they are in memory, which they are only of the version that is in memory itself.
  package func kept(of url: ImageURL, _ request: DecodeRequest) -> Bitmap? {
    DecodedKey(url, request).flatMap { memory[$0] }
  }

  /// The pixels of a whole image, from memory or made now.
  package func bitmap(
    _ bytes: [UInt8],
    of url: ImageURL,
    _ request: DecodeRequest,
    handle: LoadHandle = LoadHandle(.visible)
  ) async throws(DecodeError) -> Bitmap {
    let key = DecodedKey(url, request)
    if let key, let bitmap = memory[key, of: bytes] { return bitmap }
    let memory = memory
    return try await decoded(bytes, of: url, request, handle) { image in
      if let key, !image.isPartial { memory.insert(image.bitmap, for: key, of: bytes) }
    }.bitmap
  }

  /// The pixels of the beginning of an image, which are not kept.
  func scan(
    _ bytes: [UInt8],
    of url: ImageURL,
    _ request: DecodeRequest,
    handle: LoadHandle
  ) async throws(DecodeError) -> DecodedImage {
    try await decoded(bytes, of: url, request, handle) { _ in }
  }

  /// All frames of a whole image, which are not kept: who plays them has them.
  func animation(
    _ bytes: [UInt8],
    _ request: DecodeRequest
  ) async throws(DecodeError) -> ImageAnimation {
    try await inTurn { [decoder] () async throws(DecodeError) in try await decoder.animation(bytes, request) }
  }

  /// Opens a pass over the frames of a whole image.
  func frames(_ bytes: [UInt8], _ request: DecodeRequest) async throws(DecodeError) -> any FrameReading {
    try await inTurn { [decoder] () async throws(DecodeError) in try await decoder.frames(bytes, request) }
  }

  /// Decodes the next frame of a pass.
  func frame(of reader: any FrameReading) async throws(DecodeError) -> ImageAnimation.Frame? {
    try await inTurn { () async throws(DecodeError) in try await reader.next() }
  }

  /// Does what somebody looks at waits for, when a decoder has time for it.
  private func inTurn<Answer: Sendable>(
    _ body: @Sendable () async throws(DecodeError) -> Answer
  ) async throws(DecodeError) -> Answer {
    let outcome = await places.turn(of: InFlightLoad(.visible)) { () async -> Result<Answer, DecodeError> in
      do throws(DecodeError) {
        return .success(try await body())
      } catch {
        return .failure(error)
      }
    }
    guard let outcome else { throw Self.cancelled }
    return try outcome.get()
  }

  /// Joins those who wait for the same pixels, or is the first; `keep` is called before anybody is answered, unless
  /// nobody waits any more.
  private func decoded(
    _ bytes: [UInt8],
    of url: ImageURL,
    _ request: DecodeRequest,
    _ handle: LoadHandle,
    keep: @escaping @Sendable (DecodedImage) -> Void
  ) async throws(DecodeError) -> DecodedImage {
    let (decoder, places) = (decoder, places)
    let key = Self.key(bytes, url, request)
    let outcome: Outcome
    do throws(LoadError) {
      outcome = try await desk.answer(for: key, handle: handle) { load in
        let outcome = await places.turn(of: load) { await Self.decode(bytes, request, by: decoder, keep) }
        return .success(outcome ?? .failure(Self.cancelled))
      }.answer
    } catch {
      throw Self.cancelled
    }
    return try outcome.get()
  }

  /// Decodes away from the pipeline's thread, as a decoder may compute for long.
  @concurrent private static func decode(
    _ bytes: [UInt8],
    _ request: DecodeRequest,
    by decoder: any ImageDecoding,
    _ keep: @Sendable (DecodedImage) -> Void
  ) async -> Outcome {
    do throws(DecodeError) {
      let image = try await decoder.decode(bytes, request)
      // An image that no caller wants any more takes no place in memory.
      if !Task.isCancelled { keep(image) }
      return .success(image)
    } catch {
      return .failure(error)
    }
  }

  private static var cancelled: DecodeError { DecodeError(.cancelled, "decoding was cancelled") }

  /// What is the same for all who share: the place of the bytes tells versions apart, as they stay there meanwhile.
  private static func key(_ bytes: [UInt8], _ url: ImageURL, _ request: DecodeRequest) -> String {
    let place = bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    let size = request.size.map { "\($0.pixels) \($0.fitting)" } ?? ""
    return "\(place) \(bytes.count) \(size) \(request.format) \(request.damage) \(url.key)"
  }
}

extension DecodedKey {
  /// By pixels, whatever they are in points; nil for the size that the image has, as that is for looking at once, and
  /// takes much.
  init?(_ url: ImageURL, _ request: DecodeRequest) {
    guard let size = request.size else { return nil }
    let (width, height) = (Double(size.pixels.width), Double(size.pixels.height))
    let pixels = DisplaySize(width: width, height: height, fitting: size.fitting)
    self.init(url: url.key, size: pixels, format: request.format)
  }
}

extension PriorityWaiters<LoadPriority> {
  /// Runs the body with a place; the priority of the load may change while it waits for one.
  ///
  /// - Returns: Nil if the task is cancelled before there is a place.
  fileprivate func turn<Answer: Sendable>(of load: InFlightLoad, _ body: () async -> Answer) async -> Answer?
  {
    let ticket = enter(load.priority)
    // The load has the closure, and the closure the load, until this returns.
    load.onPriority { self.setPriority(ticket, load.priority) }
    // The priority may have changed before the load had the observer.
    setPriority(ticket, load.priority)
    defer {
      load.onPriority(nil)
      leave(ticket)
    }
    guard await place(ticket) else { return nil }
    return await body()
  }
}

import CPixels
import CZimg
import FeedimgModel

/// Reads one encoded image, frame by frame; used by one thread.
final class FrameReader {
  /// One decoded frame.
  struct Frame {
    var bitmap: Bitmap
    var duration: Duration
    var isPartial: Bool
    /// See ``DecodedImage/detail``; nil for a complete frame.
    var detail: PixelSize?
  }

  private let reader: Codec.Reader
  let request: DecodeRequest
  private let limits: DecodingLimits
  let codec: Codec
  private let stop: CancellationFlag
  /// Keeps the encoded bytes alive.
  private let owner: AnyObject?
  /// Made with the first frame and shared by all, since it takes some milliseconds.
  private var conversion: ColorConversion?
  let placement: Placement

  /// The number of frames in the header; zero where only a full read would tell.
  var frameCount: Int { Int(head.frames) }

  /// How many times an animation plays; nil for endless.
  var loopCount: Int? { head.loops == 0 ? nil : Int(head.loops) }

  private var head: cpixels_head { reader.pointee.head }

  /// Opens an image and checks its header against the limits.
  ///
  /// The bytes must not move while the reader exists; it retains their owner.
  ///
  /// - Throws: ``DecodeError``.
  init(
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ request: DecodeRequest,
    _ limits: DecodingLimits,
    _ stop: CancellationFlag,
    owner: AnyObject? = nil
  ) throws(DecodeError) {
    codec = try Codec(of: bytes)
    var reason = [CChar](repeating: 0, count: 200)
    guard let start = bytes.baseAddress,
      let reader = codec.open(start, bytes.count, stop.pointer, reason: &reason)
    else { throw DecodeError(.damaged, Self.message(codec, reason)) }
    let head = reader.pointee.head
    let stored = PixelSize(width: Int(head.width), height: Int(head.height))
    guard stored.width > 0, stored.height > 0 else {
      cpixels_close(reader)
      throw DecodeError(.damaged, "a picture of \(stored) pixels")
    }
    placement = Placement(stored: stored, isTurned: head.orientation >= 5, display: request.size)
    self.stop = stop
    self.owner = owner
    self.reader = reader
    self.request = request
    self.limits = limits
    try checkLimits(stored)
  }

  // Runs before the owner of the bytes is released.
  deinit { cpixels_close(reader) }

  private func checkLimits(_ stored: PixelSize) throws(DecodeError) {
    // Both fit 32 bits, so the product does not overflow.
    guard stored.width * stored.height <= limits.pixels else {
      throw DecodeError(.tooLarge, "\(stored) pixels are more than the \(limits.pixels) that are allowed")
    }
    guard head.frame_pixels <= limits.pixels else {
      let excess = "a frame of \(head.frame_pixels) pixels is more than the \(limits.pixels) that are allowed"
      throw DecodeError(.tooLarge, excess)
    }
    let least = placement.minimumSize(of: stored)
    let decoding = cpixels_cost(reader, UInt32(least.width), UInt32(least.height))
    let (cost, isTooGreat) = Int(clamping: decoding).addingReportingOverflow(
      outputSize * 2 + resamplingCost(stored)
    )
    guard !isTooGreat, cost <= limits.memory.bytes else {
      let need = ByteCount(isTooGreat ? .max : cost).rounded
      throw DecodeError(.tooLarge, "decoding takes \(need), more than the \(limits.memory) that are allowed")
    }
  }

  /// The memory of resampling above 1 MiB, in bytes.
  ///
  /// An overestimate for codecs that decode at a reduced size.
  private func resamplingCost(_ stored: PixelSize) -> Int {
    guard placement.storedSize != stored else { return 0 }
    var source = czimg_source()
    (source.width, source.height) = (UInt32(stored.width), UInt32(stored.height))
    (source.shown_width, source.shown_height) = (placement.part.width, placement.part.height)
    let size = placement.storedSize
    return max(0, Int(czimg_cost(&source, UInt32(size.width), UInt32(size.height))) - (1 << 20))
  }

  var outputSize: Int { placement.storedSize.width * placement.storedSize.height * 4 }

  /// The next frame; nil after the last, and an error for a partial frame unless the request allows damage.
  func next() throws(DecodeError) -> Frame? {
    let stored = PixelSize(width: Int(head.width), height: Int(head.height))
    let least = placement.minimumSize(of: stored)
    var frame = cpixels_frame()
    let status = cpixels_next(
      reader,
      UInt32(least.width),
      UInt32(least.height),
      limits.memory.bytes,
      &frame
    )
    switch status {
    case CPIXELS_END: return nil
    case CPIXELS_STOPPED: throw DecodeError(.cancelled, "decoding was cancelled")
    case CPIXELS_WHOLE: break
    case CPIXELS_DAMAGED where request.damage == .show: break
    case CPIXELS_DAMAGED: throw DecodeError(.damaged, "the \(codec) picture is cut off or damaged")
    default: throw DecodeError(.damaged, reason)
    }
    let conversion = conversion ?? ColorConversion(head, isCMYK: frame.layout == CPIXELS_CMYK)
    self.conversion = conversion
    let rendered = RenderedFrame(
      frame: frame,
      head: head,
      placement: placement,
      format: request.format,
      conversion: conversion,
      stop: stop
    )
    let isPartial = status == CPIXELS_DAMAGED
    let known = PixelSize(width: Int(frame.known_width), height: Int(frame.known_height))
    return Frame(
      bitmap: try rendered.bitmap(),
      duration: .milliseconds(frame.duration),
      isPartial: isPartial,
      detail: isPartial ? placement.detail(of: stored, known: known) : nil
    )
  }

  private var reason: String {
    withUnsafeBytes(of: reader.pointee.reason) { bytes in
      Self.message(codec, bytes.map { CChar(bitPattern: $0) })
    }
  }

  private static func message(_ codec: Codec, _ reason: [CChar]) -> String {
    let words = String(decoding: reason.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    return words.isEmpty ? "the \(codec) picture is damaged" : "the \(codec) picture is damaged: \(words)"
  }
}

import Feedimg
import FeedimgModel

extension ImageRoute {
  /// Whether the answer depends on what tells one image from another, which nobody knows before it is whole.
  static func needsTag(_ request: ServiceRequest) -> Bool {
    ["If-Match", "If-None-Match", "If-Range"].contains { request.fields[$0] != nil }
  }

  /// The answer with an image that is still coming: without its tag, and with whatever else is known.
  func arriving(
    _ request: ServiceRequest,
    _ image: ArrivingImage,
    _ serverTiming: String,
    leave: @escaping @Sendable () -> Void
  ) throws(Problem) -> ServiceAnswer {
    // Who comes while it comes causes no transfer.
    let source = image.response.claim() ? LoadedImage.Source.network : .memory
    let label = ("source", source.rawValue)
    metrics.count("feedimg_images_total", ("image", image.variant.role.rawValue), label)
    let status = source == .network ? "feedimg; fwd=uri-miss" : "feedimg; fwd=uri-miss; collapsed"
    let passing = Self.momentary(status, serverTiming)
    var fields =
      Self.lasting(image.variant, image.resolution.policy, rule: image.resolution.decision.rule) + passing
    // A server may have had its say in it.
    if let note = image.note { fields.append(("Feedimg-Note", HTTPFields.Field.value(note))) }
    if let mediaType = image.response.mediaType { fields.append(("Content-Type", mediaType)) }
    let length = image.response.answer.head.contentLength
    var (code, part) = (200, nil as Range<Int>?)
    if let length {
      switch ByteRange(request.range, length: length) {
      case .whole: break
      case .part(let range):
        (code, part) = (206, range)
        fields.append(("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"))
      case .unsatisfiable:
        leave()
        throw Self.beyond(length, passing)
      }
    }
    let stream = AnswerStream(image.response.body, length: length, part: part, leave: leave)
    guard request.method != "HEAD" else {
      // The image comes all the same, for the request that is likely to follow.
      return ServiceAnswer(code, fields: fields, body: .absent(length: stream.length))
    }
    metrics.count("feedimg_image_bytes_total", label, by: stream.length ?? 0)
    return ServiceAnswer(code, fields: fields, body: .stream(stream))
  }
}

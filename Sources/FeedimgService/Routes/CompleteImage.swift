import Feedimg
import FeedimgModel

/// A whole image, from memory or from a load, with the facts that its response states.
struct CompleteImage: Sendable {
  let item: FeedItem
  let variant: ImageVariant
  let situation: Situation
  let source: LoadedImage.Source
  var bytes: [UInt8]
  /// The fields that depend on the image and the decision, `Cache-Status` and `Server-Timing` included.
  private(set) var fields: [(String, String)]
  private(set) var tag: EntityTag

  /// An image that a load has returned.
  init(_ image: LoadedImage, cacheStatus: String, serverTiming: String) {
    let resolution = image.resolution
    (item, variant, situation) = (resolution.item, image.variant, resolution.situation)
    (source, bytes, tag) = (image.source, image.bytes, EntityTag(of: image.bytes))
    // The notes may quote a server.
    let note = image.notes.isEmpty ? nil : HTTPFields.Field.value(image.notes.joined(separator: "; "))
    fields =
      Self.fields(
        image.variant,
        rule: "\(resolution.policy); rule=\(resolution.decision.rule)",
        cacheStatus,
        serverTiming,
        note: note
      ) + [("ETag", tag.text), ("Content-Type", image.mediaType)]
  }

  /// An image in memory.
  init(_ image: MemoryHit, serverTiming: String) {
    (item, variant, situation) = (image.item, image.variant, image.situation)
    (source, bytes) = (.memory, image.bytes)
    tag = EntityTag(length: image.bytes.count, checksum: image.checksum)
    fields =
      Self.fields(
        image.variant,
        rule: "\(image.policy); rule=\(image.decision.rule)",
        Self.hit(image.timeLeft, in: .memory),
        serverTiming
      ) + [("ETag", tag.text), ("Content-Type", image.mediaType)]
  }

  /// Makes the fields of each response with an image.
  ///
  /// - Parameters:
  ///   - variant: The image.
  ///   - rule: The policy and the rule that decided.
  ///   - cacheStatus: The value of `Cache-Status`.
  ///   - serverTiming: The value of `Server-Timing`.
  ///   - note: The value of `Feedimg-Note`; nil for none.
  /// - Returns: The fields in the order in which they are sent.
  static func fields(
    _ variant: ImageVariant,
    rule: String,
    _ cacheStatus: String,
    _ serverTiming: String,
    note: String? = nil
  ) -> [(String, String)] {
    [
      ("Accept-Ranges", "bytes"),
      // The right image depends on the network, so a client validates each time, which costs little.
      ("Cache-Control", "private, no-cache"), ("Content-Location", variant.url.description),
      ("Feedimg-Image", variant.role.rawValue), ("Feedimg-Rule", rule),
      ("X-Content-Type-Options", "nosniff"),
      // An SVG that a browser opens by itself is a page of this origin.
      ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox"),
      ("Cache-Status", cacheStatus), ("Server-Timing", serverTiming),
    ] + (note.map { [("Feedimg-Note", $0)] } ?? [])
  }

  /// Describes a cached image (RFC 9211).
  ///
  /// - Parameters:
  ///   - timeLeft: The rest of the freshness lifetime in seconds, negative for a stale image; nil if it is unknown.
  ///   - source: The place of the image.
  /// - Returns: The value of `Cache-Status`.
  static func hit(_ timeLeft: Double?, in source: LoadedImage.Source) -> String {
    guard let timeLeft, timeLeft.isFinite else { return "feedimg; hit; detail=\(source.rawValue)" }
    return
      "feedimg; hit; ttl=\(Int(min(max(timeLeft, -999_999_999), 999_999_999))); detail=\(source.rawValue)"
  }
}

extension CompleteImage {
  /// The same image with the fields of a conversion, which makes its bytes.
  func described(by conversion: Conversion) -> CompleteImage {
    var image = self
    image.tag = conversion.tag(of: tag)
    image.fields.removeAll { $0.0 == "ETag" || $0.0 == "Content-Type" }
    image.fields += [("ETag", image.tag.text), ("Content-Type", conversion.mediaType)]
    return image
  }

  /// Whether the client has the image, so that its bytes are not needed.
  func isCurrent(for request: ServiceRequest) -> Bool {
    let fields = ServiceResponse(fields: fields).fields
    return ConditionalResponse(of: fields, request, length: nil) == .notModified
  }

  /// The response to a request, which may be conditional or for a part.
  func response(to request: ServiceRequest) throws(Problem) -> ServiceResponse {
    if let list = request.fields["If-Match"], !tag.isStronglyIn(list) {
      throw Problem(412, "the current tag of the image is \(tag.text)", fields: statusFields)
    }
    var response = ServiceResponse(fields: fields, body: .bytes(bytes[...]))
    switch ConditionalResponse(of: response.fields, request, length: bytes.count) {
    case .full: break
    case .notModified:
      response.status = 304
      response.fields.fields.removeAll { $0.isNamed("content-type") }
      response.body = .absent(length: nil)
    case .partial(let range):
      response.status = 206
      let place = range.contentRange(of: bytes.count)
      response.fields.fields.append(HTTPFields.Field(name: "Content-Range", value: place))
      response.body = .bytes(bytes[range])
    case .rangeNotSatisfiable: throw .range(beyond: bytes.count, statusFields)
    }
    return response
  }

  /// The fields that a problem keeps.
  private var statusFields: [(String, String)] {
    fields.filter { ["Cache-Status", "Server-Timing", "ETag"].contains($0.0) }
  }
}

extension Problem {
  /// The problem of a range that begins after the end of an image.
  static func range(beyond length: Int, _ fields: [(String, String)]) -> Problem {
    Problem(416, "the image has \(length) bytes", fields: fields + [("Content-Range", "bytes */\(length)")])
  }
}

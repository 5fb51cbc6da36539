import Feedimg
import FeedimgModel

/// A whole image, from memory or from a load, with the facts that its response states.
struct CompleteImage: Sendable {
  let item: FeedItem
  let variant: ImageVariant
  let situation: Situation
  let source: LoadedImage.Source
  var bytes: [UInt8]
  var tag: EntityTag
  var mediaType: String
  /// Whether it replaces an original that failed.
  let isFallback: Bool
  /// The fields that depend on the image and the decision, `Cache-Status` and `Server-Timing` included.
  private let description: [(String, String)]

  /// An image that a load has returned.
  init(_ image: LoadedImage, cacheStatus: String, serverTiming: String) {
    let resolution = image.resolution
    (item, variant, situation) = (resolution.item, image.variant, resolution.situation)
    (source, bytes, mediaType) = (image.source, image.bytes, image.mediaType)
    (tag, isFallback) = (EntityTag(of: image.bytes), image.failure != nil)
    let note = image.notes.isEmpty ? nil : image.notes.joined(separator: "; ")
    description = Self.fields(variant, resolution, cacheStatus, serverTiming, note: note)
  }

  /// An image in memory.
  init(_ image: MemoryHit, serverTiming: String) {
    (item, variant, situation) = (image.item, image.variant, image.situation)
    (source, bytes, mediaType) = (.memory, image.bytes, image.mediaType)
    (tag, isFallback) = (EntityTag(length: image.bytes.count, checksum: image.checksum), false)
    let rule = "\(image.policy); rule=\(image.decision.rule)"
    description = Self.fields(variant, rule: rule, Self.hit(image.timeLeft, in: .memory), serverTiming)
  }

  /// Makes the fields of each response with an image that was loaded.
  static func fields(
    _ variant: ImageVariant,
    _ resolution: Resolution,
    _ cacheStatus: String,
    _ serverTiming: String,
    note: String?
  ) -> [(String, String)] {
    let rule = "\(resolution.policy); rule=\(resolution.decision.rule)"
    let fields = fields(variant, rule: rule, cacheStatus, serverTiming)
    // The note may quote a server.
    return fields + (note.map { [("Feedimg-Note", HTTPFields.Field.value($0))] } ?? [])
  }

  private static func fields(
    _ variant: ImageVariant,
    rule: String,
    _ cacheStatus: String,
    _ serverTiming: String
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
    ]
  }

  /// The value of `Cache-Status` (RFC 9211) for an image with this rest of its freshness lifetime, if known.
  static func hit(_ timeLeft: Double?, in source: LoadedImage.Source) -> String {
    guard let timeLeft, timeLeft.isFinite else { return "feedimg; hit; detail=\(source.rawValue)" }
    return
      "feedimg; hit; ttl=\(Int(min(max(timeLeft, -999_999_999), 999_999_999))); detail=\(source.rawValue)"
  }
}

extension CompleteImage {
  private var fields: [(String, String)] {
    description + [("ETag", tag.text), ("Content-Type", mediaType)]
  }

  /// Whether the client has the image, so that its bytes are not needed.
  func isCurrent(for request: ServiceRequest) -> Bool {
    let fields = ServiceResponse(fields: fields).fields
    return ResponseSelection(of: fields, request, length: nil) == .notModified
  }

  /// The response to a request, which may be conditional or for a part.
  func response(to request: ServiceRequest) throws(Problem) -> ServiceResponse {
    if let list = request.fields["If-Match"], !EntityTagList(list).containsStrongly(tag.text) {
      throw Problem(412, "the current tag of the image is \(tag.text)", fields: statusFields)
    }
    var response = ServiceResponse(fields: fields, body: .bytes(bytes[...]))
    switch ResponseSelection(of: response.fields, request, length: bytes.count) {
    case .full: break
    case .notModified:
      response.status = 304
      response.fields.fields.removeAll { $0.isNamed("content-type") }
      response.body = .absent(length: nil)
    case .partial(let range): response.become(range, of: bytes.count, .bytes(bytes[range]))
    case .rangeNotSatisfiable: throw .range(beyond: bytes.count, of: "image", statusFields)
    }
    return response
  }

  /// The fields that a problem keeps.
  private var statusFields: [(String, String)] {
    fields.filter { ["Cache-Status", "Server-Timing", "ETag"].contains($0.0) }
  }
}

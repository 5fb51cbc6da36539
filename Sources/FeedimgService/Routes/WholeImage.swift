import Feedimg
import FeedimgModel

/// An image that is there in whole, with what is said of it.
struct WholeImage: Sendable {
  var item: FeedItem
  var variant: ImageVariant
  var situation: Situation
  var decision: Decision
  /// The name of the policy that decided.
  var policy: String
  var source: LoadedImage.Source
  var bytes: [UInt8]
  var tag: EntityTag
  var mediaType: String
  var notes: [String]
  /// How the cache dealt with the request (RFC 9211).
  var cacheStatus: String
  /// Where what is said of it is kept for the next time, if it is.
  var known: KnownItem?

  init(_ image: LoadedImage, cacheStatus: String) {
    (item, variant, source) = (image.resolution.item, image.variant, image.source)
    (situation, decision) = (image.resolution.situation, image.resolution.decision)
    policy = image.resolution.policy
    (bytes, tag, mediaType) = (image.bytes, EntityTag(of: image.bytes), image.mediaType)
    (notes, self.cacheStatus) = (image.notes, cacheStatus)
  }

  init(_ image: ImageAtHand, known: KnownItem) {
    self.known = known
    (item, variant, source) = (image.item, image.variant, .memory)
    (situation, decision, policy) = (image.situation, image.decision, image.policy)
    tag = EntityTag(length: image.bytes.count, checksum: image.checksum)
    (bytes, mediaType, notes) = (image.bytes, image.mediaType, [])
    cacheStatus = Self.hit(image.timeLeft, in: .memory)
  }

  /// What is said of an image that was cached (RFC 9211).
  ///
  /// - Parameters:
  ///   - left: For how long it stays fresh, in seconds; below zero for what has become stale, which is shown all
  ///     the same.
  ///   - source: Where it was.
  /// - Returns: The value of the field.
  static func hit(_ left: Double?, in source: LoadedImage.Source) -> String {
    guard let left, left.isFinite else { return "feedimg; hit; detail=\(source.rawValue)" }
    return "feedimg; hit; ttl=\(Int(min(max(left, -999_999_999), 999_999_999))); detail=\(source.rawValue)"
  }
}

extension ImageRoute {
  /// The answer with an image that memory has and the policy chooses now; nil where it takes a load to tell.
  func atHand(_ request: ServiceRequest) -> ServiceAnswer? {
    let start = ContinuousClock.now
    // What asks for another situation, and what asks for news, takes more than a look.
    guard request.target.parameters.count == 1, request.fields["Cache-Control"] == nil,
      request.fields["Feedimg-Cache"].map({ $0 == folder }) ?? true,
      let item = request.target["item"].flatMap({ known.meaning(of: $0, KnownItem.init) }),
      let loader = try? loaders.loader(given: [], policy: nil), let image = loader.atHand(item.item)
    else { return nil }
    do throws(Problem) {
      let whole = WholeImage(image, known: item)
      let timing = ServerTiming.atHand(in: ContinuousClock.now - start)
      var answer = try hand(over: whole, to: request, of: loader, timing)
      if request.takesCopies, request.method == "GET", answer.length ?? 0 >= SealedBody.worth {
        answer.copy = sealing.copy(of: image, in: loader)
      }
      return answer
    } catch {
      return error.answer
    }
  }

  /// Counts an image, and answers with what the client wants of it (RFC 9110 §13.2.2).
  func hand(
    over image: WholeImage,
    to request: ServiceRequest,
    of loader: ImageLoader,
    _ serverTiming: String
  ) throws(Problem) -> ServiceAnswer {
    upgrades.note(ShownImage(image.variant.role), of: image.item, in: image.situation, by: loader)
    let source = ("source", image.source.rawValue)
    metrics.count("feedimg_images_total", ("image", image.variant.role.rawValue), source)
    let answer = try Self.answer(request, image, serverTiming)
    if request.method != "HEAD" {
      metrics.count("feedimg_image_bytes_total", source, by: answer.length ?? 0)
    }
    return answer
  }

  /// Whether a client wants all of an image, whatever it has.
  private static func isForWhole(_ request: ServiceRequest) -> Bool {
    request.method == "GET"
      && !request.fields.fields.contains { field in
        telling.contains { field.isNamed($0) }
      }
  }

  /// The fields that make another answer of an image that is there than all of it (RFC 9110 §13, §14).
  private static let telling = ["If-Match", "If-None-Match", "If-Range", "Range"]

  private static func answer(
    _ request: ServiceRequest,
    _ image: WholeImage,
    _ serverTiming: String
  ) throws(Problem) -> ServiceAnswer {
    if let known = image.known, isForWhole(request), let lines = known.lines(image.basis, { image.lines }) {
      var answer = ServiceAnswer(
        fields: momentary(image.cacheStatus, serverTiming),
        body: .bytes(image.bytes[...])
      )
      answer.lines = lines
      return answer
    }
    let passing = momentary(image.cacheStatus, serverTiming) + [("ETag", image.tag.text)]
    if let list = request.fields["If-Match"], !image.tag.isNamedStrongly(in: list) {
      throw Problem(412, "the image is \(image.tag.text) now", fields: passing)
    }
    var fields = lasting(image.variant, image.policy, rule: image.decision.rule) + passing
    if !image.notes.isEmpty {
      // A server may have had its say in them.
      let note = HTTPFields.Field.value(image.notes.joined(separator: "; "))
      fields.append(("Feedimg-Note", note))
    }
    if let list = request.fields["If-None-Match"], image.tag.isNamed(in: list) {
      return ServiceAnswer(304, fields: fields)
    }
    fields.append(("Content-Type", image.mediaType))
    let mayRange = request.fields["If-Range"].map { $0.trimmed == image.tag.text } ?? true
    switch ByteRange(mayRange ? request.range : nil, length: image.bytes.count) {
    case .whole: return ServiceAnswer(fields: fields, body: .bytes(image.bytes[...]))
    case .part(let range):
      let place = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(image.bytes.count)"
      return ServiceAnswer(
        206,
        fields: fields + [("Content-Range", place)],
        body: .bytes(image.bytes[range])
      )
    case .unsatisfiable:
      throw beyond(image.bytes.count, passing)
    }
  }
}

extension WholeImage {
  /// What ``lines`` depends on.
  fileprivate var basis: KnownItem.Basis {
    KnownItem.Basis(variant: variant, policy: policy, rule: decision.rule, tag: tag, mediaType: mediaType)
  }

  /// What is said of the image whenever all of it is handed out; nil where its type cannot stand in a field.
  fileprivate var lines: FieldLines? {
    let fields =
      ImageRoute.lasting(variant, policy, rule: decision.rule) + [
        ("ETag", tag.text), ("Content-Type", mediaType),
      ]
    return FieldLines(fields.map { HTTPFields.Field(name: $0.0, value: $0.1) })
  }
}

import FeedimgCache
import FeedimgModel

/// Where answers of any kind are kept: a cache on disk of their own beside that of images, made in the same way.
///
/// What does not depend on the request is kept under its URL. Of an answer that does, the URL leads to a note of the
/// fields that it depends on, and these to the variant (RFC 9111 §4.1).
struct AnswerShelf: Sendable {
  struct Finding: Sendable {
    var key: String
    var answer: StoredAnswer
    var bytes: [UInt8]
  }

  let store: DiskCache

  /// - Parameters:
  ///   - folder: That of the images.
  ///   - settings: What the user allows.
  ///   - clock: Seconds since 1970.
  init(beside folder: String, _ settings: UserSettings, clock: @escaping @Sendable () -> Double) {
    store = DiskCache(folder: "\(folder)/answers", limits: Self.limits(settings), clock: clock)
  }

  /// The share of the room for originals that answers may take beside them.
  private static let share = 4

  /// Keeps what the user allows from now on.
  func follow(_ settings: UserSettings) { store.limits = Self.limits(settings) }

  private static func limits(_ settings: UserSettings) -> CacheLimits {
    var limits = CacheLimits(settings)
    limits.originals = ByteCount(limits.originals.bytes / share)
    return limits
  }

  /// The answer that was stored to a request like this.
  ///
  /// - Returns: Nil where there is none; and whether there are answers to other requests for the URL.
  func find(_ request: FetchRequest) -> (found: Finding?, hasOthers: Bool) {
    let key = AnswerKey(request.url, request.fields)
    guard let first = read(key.text, request) else { return (nil, false) }
    guard first.isNote else { return first.finding.map { ($0, false) } ?? (nil, true) }
    return (read(key.text(of: Vary(first.fields), request.fields), request)?.finding, true)
  }

  private struct Reading {
    var isNote: Bool
    var fields: HTTPFields
    /// Nil where it answers other requests.
    var finding: Finding?
  }

  private func read(_ key: String, _ request: FetchRequest) -> Reading? {
    guard let (image, bytes) = store.read(key), let answer = image.answer else { return nil }
    let matches = Vary(answer.head.fields).matches(answer.varied, request.fields)
    return Reading(
      isNote: image.mediaType == Self.note,
      fields: answer.head.fields,
      finding: matches ? Finding(key: key, answer: answer, bytes: bytes) : nil
    )
  }

  /// Keeps a body that was written as that of an answer.
  ///
  /// - Throws: ``CacheError`` where it cannot.
  func keep(_ writer: any ImageWriting, _ answer: StoredAnswer, to request: FetchRequest) throws(CacheError) {
    let key = AnswerKey(request.url, request.fields)
    let vary = Vary(answer.head.fields)
    guard !vary.names.isEmpty else {
      _ = try writer.commit(metadata(key.text, Self.answer, answer))
      return
    }
    _ = try writer.commit(metadata(key.text(of: vary, request.fields), Self.answer, answer))
    if let known = store.image(of: key.text), known.mediaType == Self.note,
      known.answer.map({ Vary($0.head.fields) }) == vary
    {
      return
    }
    var note = answer
    note.head.fields = HTTPFields(answer.head.fields.fields.filter { $0.isNamed("vary") })
    _ = try store.makeWriter().commit(metadata(key.text, Self.note, note))
  }

  private func metadata(_ key: String, _ kind: String, _ answer: StoredAnswer) -> ImageMetadata {
    ImageMetadata(key: key, role: .original, mediaType: kind, answer: answer)
  }

  // In place of media types, which the head has.
  private static let answer = "answer"
  private static let note = "vary"
}

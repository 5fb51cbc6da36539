package import FeedimgCache
package import FeedimgModel

/// Where answers of any kind are kept: a cache on disk of their own beside that of images, made in the same way.
///
/// What does not depend on the request is kept under its URL. Of an answer that does, the URL leads to a note of the
/// fields that it depends on, and these to the variant (RFC 9111 §4.1).
package struct AnswerShelf: Sendable {
  struct Finding: Sendable {
    var key: String
    var answer: StoredResponse
    var bytes: [UInt8]
  }

  /// To be written to through this shelf alone, so that memory holds nothing that was replaced.
  private let store: DiskCache
  /// What was read last, among the images of the loader and within their budget.
  private let memory: MemoryCache
  /// The uses of what memory had.
  private let uses: MemoryUses

  /// A shelf beside the images of a loader, whose memory and thread for files it shares.
  ///
  /// - Parameters:
  ///   - folder: That of the images.
  ///   - loader: What fetches.
  init(beside folder: String, of loader: ImageLoader) {
    store = Self.store(beside: folder, loader.settings.currentSettings(), clock: loader.clock)
    memory = loader.memory
    uses = MemoryUses(of: store, for: HTTPFields(), on: loader.writes)
  }

  /// The cache on disk alone.
  ///
  /// - Parameters:
  ///   - folder: That of the images.
  ///   - settings: What the user allows.
  ///   - clock: Seconds since 1970.
  /// - Returns: One that opens nothing yet.
  package static func store(
    beside folder: String,
    _ settings: UserSettings,
    clock: @escaping @Sendable () -> Double
  ) -> DiskCache {
    DiskCache(folder: "\(folder)/answers", limits: limits(settings), clock: clock)
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

  /// Where something is looked for.
  enum Place: Sendable, Hashable {
    /// Does not wait for files.
    case memory
    /// Memory first, then the disk; on the thread for files alone.
    case everywhere
  }

  /// The answer that was stored to a request like this.
  ///
  /// - Returns: Nil where there is none; and whether there are answers to other requests for the URL.
  func find(_ request: FetchRequest, in place: Place = .everywhere) -> (found: Finding?, hasOthers: Bool) {
    let key = AnswerKey(request.url, request.fields)
    guard let first = read(key.text, request, in: place) else { return (nil, false) }
    guard first.isNote else { return first.finding.map { ($0, false) } ?? (nil, true) }
    return (read(key.text(of: Vary(first.fields), request.fields), request, in: place)?.finding, true)
  }

  /// Notes that an answer was handed over that memory had.
  func noteUse(of found: Finding) { uses.note(found.key) }

  private struct Reading {
    var isNote: Bool
    var fields: HTTPFields
    /// Nil where it answers other requests.
    var finding: Finding?
  }

  private func read(_ key: String, _ request: FetchRequest, in place: Place) -> Reading? {
    let kept = memory[Self.place(of: key)]
    if kept != nil, place == .everywhere { uses.note(key) }
    guard let image = kept ?? (place == .memory ? nil : stored(key)), let answer = image.answer else {
      return nil
    }
    let matches = Vary(answer.head.fields).matches(answer.varied, request.fields)
    return Reading(
      isNote: image.mediaType == Self.note,
      fields: answer.head.fields,
      finding: matches ? Finding(key: key, answer: answer, bytes: image.bytes) : nil
    )
  }

  private func stored(_ key: String) -> MemoryCache.Image? {
    memory.fill(Self.place(of: key)) { store.read(key).map(MemoryCache.Image.init) }
  }

  /// Where memory has what the disk has under a key; no image is there, as no URL has a space.
  private static func place(of key: String) -> String { "answer \(key)" }

  // MARK: Changes

  /// Begins to write a body.
  ///
  /// - Throws: ``CacheError`` where it cannot.
  func makeWriter() throws(CacheError) -> any ImageWriting { try store.makeWriter() }

  /// Takes the news of an answer into what is stored; what cannot be written down is asked again another time.
  func refresh(_ found: Finding, by news: StoredResponse) {
    _ = try? store.refresh(found.key, asked: found.answer, news: news)
    memory.remove(Self.place(of: found.key))
  }

  /// Removes an answer.
  func remove(_ found: Finding) {
    _ = try? store.remove(found.key)
    memory.remove(Self.place(of: found.key))
  }

  /// Keeps a body that was written as that of an answer.
  ///
  /// - Throws: ``CacheError`` where it cannot.
  func keep(_ writer: any ImageWriting, _ answer: StoredResponse, to request: FetchRequest) throws(CacheError)
  {
    let key = AnswerKey(request.url, request.fields)
    let vary = Vary(answer.head.fields)
    guard !vary.names.isEmpty else {
      try commit(writer, metadata(key.text, Self.answer, answer))
      return
    }
    try commit(writer, metadata(key.text(of: vary, request.fields), Self.answer, answer))
    if let known = store.image(of: key.text), known.mediaType == Self.note,
      known.answer.map({ Vary($0.head.fields) }) == vary
    {
      return
    }
    var note = answer
    note.head.fields = HTTPFields(answer.head.fields.fields.filter { $0.isNamed("vary") })
    try commit(store.makeWriter(), metadata(key.text, Self.note, note))
  }

  private func commit(_ writer: any ImageWriting, _ metadata: ImageMetadata) throws(CacheError) {
    _ = try writer.commit(metadata)
    memory.remove(Self.place(of: metadata.key))
  }

  private func metadata(_ key: String, _ kind: String, _ answer: StoredResponse) -> ImageMetadata {
    ImageMetadata(key: key, role: .original, mediaType: kind, answer: answer)
  }

  // In place of media types, which the head has.
  private static let answer = "answer"
  private static let note = "vary"
}

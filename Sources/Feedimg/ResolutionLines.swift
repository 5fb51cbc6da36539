import FeedimgJSON
import FeedimgModel
import FeedimgPolicy

/// Writes decisions as lines of JSON, the same as ``Resolution/json`` of each.
///
/// What two items have in common is put into words once; of what an item tells for itself, the bytes are copied.
struct ResolutionLines {
  private var context: DecisionContext
  private let batch: FeedItemBatch
  /// By what tells items apart, but for what they tell for themselves.
  private var forms: [LineForm?]

  init(_ context: DecisionContext, of batch: FeedItemBatch) {
    self.context = context
    self.batch = batch
    forms = Array(repeating: nil, count: Self.formCount * (context.policy.table.rules.count + 1))
  }

  /// Three presences of each variant, three answers whether it fits, and whether the size is known.
  private static let formCount = 3 * 3 * 3 * 2

  /// Adds the line about an item.
  ///
  /// - Parameters:
  ///   - item: What to decide about.
  ///   - bytes: Those of the batch.
  ///   - output: What the line is added to.
  ///   - isCached: Whether the cache has the image of a URL that stands there.
  mutating func append(
    _ item: ScannedItem,
    in bytes: UnsafeBufferPointer<UInt8>,
    to output: inout [UInt8],
    isCached: (ScannedItem.Span) -> Bool
  ) {
    func presence(_ url: ScannedItem.Span) -> Presence {
      url.isThere ? isCached(url) ? .cached : .remote : .none
    }
    let situation = context.reader.situation(
      original: presence(item.original),
      thumbnail: presence(item.thumbnail),
      size: item.size < 0 ? nil : ByteCount(item.size)
    )
    let decision = context.policy.decide(situation)
    let place = Self.place(of: decision, in: situation)
    if forms[place] == nil {
      guard let whole = batch.item(item) else { return }
      forms[place] = form(of: context.resolution(of: whole, in: situation))
    }
    forms[place]?.append(item, in: bytes, to: &output, size: situation.size) {
      context.policy.why(rule: decision.rule, in: situation)
    }
  }

  /// Adds the line about an item that was read whole.
  ///
  /// - Parameters:
  ///   - item: What to decide about.
  ///   - output: What the line is added to.
  ///   - isCached: Whether the cache has the image of a URL.
  mutating func append(_ item: FeedItem, to output: inout [UInt8], isCached: (ImageURL) -> Bool) {
    let resolution = context.resolution(of: item, isCached: isCached)
    // Of this machine there are few.
    guard !context.reader.isLocal(item) else {
      output += resolution.json.utf8
      output.append(UInt8(ascii: "\n"))
      return
    }
    let place = Self.place(of: resolution.decision, in: resolution.situation)
    let form = forms[place] ?? form(of: resolution)
    forms[place] = form
    form.append(item, to: &output, size: resolution.situation.size) { resolution.why }
  }

  private func form(of resolution: Resolution) -> LineForm {
    LineForm(resolution, tellsSize: context.tellsSize(rule: resolution.decision.rule))
  }

  private static func place(of decision: Decision, in situation: Situation) -> Int {
    var place = decision.rule
    place = place * 3 + situation.original.place
    place = place * 3 + situation.thumbnail.place
    place = place * 3 + situation.fitsOrdinal
    return place * 2 + (situation.size == nil ? 0 : 1)
  }
}

extension Presence {
  fileprivate var place: Int {
    switch self {
    case .cached: 0
    case .remote: 1
    case .none: 2
    }
  }
}

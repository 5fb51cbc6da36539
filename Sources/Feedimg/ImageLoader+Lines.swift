import FeedimgCache
import FeedimgJSON
public import FeedimgModel

extension ImageLoader {
  /// Returns the decisions of ``resolve(_:facts:)->Resolution`` as JSON lines, each as ``Resolution/json``.
  ///
  /// Reads the network, the settings and the cache once for all items, so it suits long feeds.
  ///
  /// - Parameters:
  ///   - items: The items to decide about.
  ///   - take: Gets the UTF-8 text in pieces of whole lines.
  public func resolve(_ items: [FeedItem], asLines take: ([UInt8]) -> Void) {
    var context = decisionContext()
    // An empty cache is asked once, not for each item.
    let isEmpty = !context.asksCache || (store.isEmpty && memory.encoded.count == 0)
    let isCached = isEmpty ? { _ in false } : presence(of: items, context)
    var writer = JSONWriter(.compact)
    var common: CommonMembers?
    for item in items {
      let resolution = context.resolution(of: item, isCached: isCached)
      let members =
        if let common, common.hold(for: resolution) { common } else { CommonMembers(resolution) }
      common = members
      writer.object { writer in
        if let id = item.id { writer.member("id", id) }
        writer.members(members.decision)
        writer.member("url", resolution.url?.text)
        writer.members(members.reason)
        if resolution.decision.image == .placeholder {
          writer.members(["placeholder": item.placeholder.jsonValue])
        }
        writer.members(members.facts)
      }
      writer.endLine()
      guard writer.bytes.count >= Self.pieceLength else { continue }
      take(writer.bytes)
      writer.removeText()
    }
    if !writer.bytes.isEmpty { take(writer.bytes) }
  }

  /// The length at which lines are handed over, in bytes.
  private static let pieceLength = 1 << 16
}

/// The text of members that neighbouring items mostly have in common, so that it is written once.
private final class CommonMembers {
  private let resolution: Resolution
  let decision: JSONWriter
  let reason: JSONWriter
  let facts: JSONWriter

  init(_ resolution: Resolution) {
    self.resolution = resolution
    decision = JSONWriter(members: resolution.decisionMembers)
    reason = JSONWriter(members: resolution.reasonMembers)
    facts = JSONWriter(members: resolution.factMembers)
  }

  /// Whether another resolution has the same members.
  func hold(for other: Resolution) -> Bool {
    resolution.decision == other.decision && resolution.policy == other.policy
      && resolution.place == other.place && resolution.why == other.why && resolution.facts == other.facts
  }
}

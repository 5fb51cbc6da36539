import FeedimgJSON
public import FeedimgModel
import FeedimgPipeline
import FeedimgPolicy

extension ImageLoader {
  /// Writes the decisions of ``resolve(_:facts:)->Resolution`` as JSON lines, each as in ``Resolution/json``.
  ///
  /// Reads the network, the settings and the cache once for all items, so it suits long feeds.
  ///
  /// - Parameters:
  ///   - items: The items to decide about.
  ///   - take: Receives the UTF-8 text in pieces of whole lines.
  public func resolve(_ items: [FeedItem], asLines take: ([UInt8]) -> Void) {
    let context = decisionContext()
    let isCached = presence(of: items, context)
    var writer = JSONWriter(.compact)
    var texts: [DecisionContext.ReasonsKey: LineText] = [:]
    for item in items {
      let situation = context.situation(of: item, [:], isCached: isCached)
      let decision = context.policy.decide(situation)
      let isLocal = context.reader.isLocal(item)
      let reasonsKey = context.reasonsKey(of: decision, in: situation, isLocal: isLocal)
      let text =
        texts[reasonsKey] ?? LineText(context.resolution(of: item, in: situation, isLocal: isLocal), context)
      texts[reasonsKey] = text
      text.write(item, in: situation, to: &writer, context.policy)
      writer.endLine()
      guard writer.bytes.count >= Self.pieceLength else { continue }
      take(writer.bytes)
      writer.removeText()
    }
    if !writer.bytes.isEmpty { take(writer.bytes) }
  }

  /// The length at which a piece is handed to the caller, in bytes.
  private static let pieceLength = 1 << 16
}

/// The text that all items with the same reasonsKey share, encoded once.
///
/// Only the item's own members, its size, and a reason that mentions the size are encoded for each item.
private final class LineText {
  private let resolution: Resolution
  private let mentionsSize: Bool
  private let decision: JSONWriter
  private let reason: JSONWriter
  private let factsBeforeSize: JSONWriter
  private let sourceOfSize: String
  private let factsAfterSize: JSONWriter

  init(_ resolution: Resolution, _ context: DecisionContext) {
    self.resolution = resolution
    mentionsSize = resolution.situation.size != nil && context.mentionsSize(rule: resolution.decision.rule)
    decision = JSONWriter(members: resolution.decisionMembers)
    reason = JSONWriter(members: resolution.reasonMembers)
    let facts = resolution.facts
    let index = facts.firstIndex { $0.name == Fact.size.name } ?? facts.endIndex
    factsBeforeSize = JSONWriter(members: Resolution.members(of: facts[..<index]))
    sourceOfSize = facts[index...].first?.source ?? ""
    factsAfterSize = JSONWriter(members: Resolution.members(of: facts[index...].dropFirst()))
  }

  func write(
    _ item: FeedItem,
    in situation: Situation,
    to writer: inout JSONWriter,
    _ policy: CompiledPolicy
  ) {
    writer.object { writer in
      if let id = item.id { writer.member("id", id) }
      writer.members(decision)
      writer.member("url", resolution.decision.image.role.flatMap { item[$0]?.url }?.description)
      if mentionsSize {
        var resolution = resolution
        resolution.why = policy.why(rule: resolution.decision.rule, in: situation)
        writer.members(resolution.reasonMembers)
      } else {
        writer.members(reason)
      }
      if resolution.decision.image == .placeholder {
        writer.members(["placeholder": item.placeholder.jsonValue])
      }
      writer.member("facts") { writer in
        writer.members(factsBeforeSize)
        writer.member(Fact.size.name) { writer in
          writer.member("value", Fact.size.value(in: situation))
          writer.member("source", sourceOfSize)
        }
        writer.members(factsAfterSize)
      }
    }
  }
}

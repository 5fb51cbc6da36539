import FeedimgPolicy
import FeedimgSystem

/// The places that one policy can come from, and the choice among them.
///
/// On the way to the first decision of a program: generic types of its own would cost more than the files.
struct PolicySelection: Sendable {
  let name: String
  /// The one that counts first in front.
  let sources: [PolicySource]
  let facts: FactCatalog

  /// A policy that is in order, and where it came from.
  struct Chosen: Sendable {
    let source: PolicySource
    let policy: CompiledPolicy
  }

  /// Why what one source holds is not in order.
  struct Refusal: Sendable {
    let source: PolicySource
    let fault: PolicyFault
  }

  /// What came of a reading.
  struct Choice: Sendable {
    /// Nil where no source holds a policy that is in order.
    var chosen: Chosen?
    /// Whether ``chosen`` is what its source said before, and no longer does.
    var isEarlier = false
    var refusals: [Refusal] = []
  }

  func stamps() -> [FileStamp] {
    var stamps: [FileStamp] = []
    for source in sources { stamps.append(source.stamp) }
    return stamps
  }

  /// What all sources say.
  ///
  /// - Parameter stamps: One for each source.
  /// - Returns: Likewise.
  func read(_ stamps: [FileStamp]) -> [PolicyReading] {
    var readings: [PolicyReading] = []
    for index in sources.indices { readings.append(sources[index].reading(stamps[index])) }
    return readings
  }

  /// Takes the first source that is in order.
  ///
  /// - Parameters:
  ///   - readings: What the sources say.
  ///   - old: What was chosen before: it stays where its own source now holds something that is not in
  ///     order, and where nothing else is left.
  /// - Returns: The choice, with what was refused before it was found.
  func choose(_ readings: [PolicyReading], keeping old: Chosen? = nil) -> Choice {
    var choice = Choice()
    for index in sources.indices where choice.chosen == nil && readings[index] != .nothing {
      let source = sources[index]
      do throws(PolicyFault) {
        let text = try readings[index].text()
        choice.chosen = Chosen(source: source, policy: try source.policy(in: text, facts: facts))
      } catch {
        choice.refusals.append(Refusal(source: source, fault: error))
        if let old, old.source == source {
          choice.chosen = old
          choice.isEarlier = true
        }
      }
    }
    if choice.chosen == nil, let old {
      choice.chosen = old
      choice.isEarlier = true
      let gone = PolicyFault(["\(old.source.fileName): is gone"], isUnreadable: true)
      choice.refusals.append(Refusal(source: old.source, fault: gone))
    }
    return choice
  }
}

extension PolicySelection.Choice {
  /// Why nothing was chosen.
  var fault: PolicyFault {
    PolicyFault(
      refusals.flatMap(\.fault.messages),
      isUnreadable: refusals.contains { $0.fault.isUnreadable }
    )
  }

  /// The policy that was chosen, in words that go on with "stays in force".
  var inForce: String {
    guard let source = chosen?.source, !isEarlier else { return "the earlier version" }
    return source.file.map { "`\($0.path)`" } ?? "the built-in `\(source.name)`"
  }

  /// What a user should be told of files that are refused, one line each.
  var warnings: [String] {
    refusals.compactMap { refusal in
      guard let first = refusal.fault.messages.first else { return nil }
      let rest = refusal.fault.messages.count - 1
      return "\(first)\(rest > 0 ? " (and \(rest) more)" : ""); \(inForce) stays in force"
    }
  }
}

import FeedimgPolicy

/// The places that one policy can come from, and the choice among them.
struct PolicySelection: Sendable {
  let name: String
  /// The one that counts first in front.
  let sources: [PolicySource]
  let facts: FactCatalog

  /// What all sources said at one time; nil where there was nothing.
  typealias Reading = [Result<[UInt8], PolicyFault>?]

  /// A policy that is in order, and where it came from.
  struct Chosen: Sendable {
    let source: PolicySource
    let policy: CompiledPolicy
  }

  /// What came of a reading.
  struct Choice: Sendable {
    /// Nil where no source holds a policy that is in order.
    var chosen: Chosen?
    /// Whether ``chosen`` is what its source said before, and no longer does.
    var isEarlier = false
    /// For each source what became of it.
    var candidates: [Policies.Candidate] = []

    /// Why nothing was chosen.
    var fault: PolicyFault {
      let refused = candidates.filter { $0.status == .refused }
      return PolicyFault(refused.flatMap(\.reasons), isUnreadable: refused.contains(where: \.isUnreadable))
    }

    /// What a user should be told of files that are refused, one line each.
    var warnings: [String] {
      let refused = candidates.filter { $0.status == .refused }
      guard !refused.isEmpty, let chosen else { return [] }
      let inForce = Policies.Standing(self, chosen).inForce
      return refused.compactMap { candidate in
        guard let first = candidate.reasons.first else { return nil }
        let more = candidate.reasons.count > 1 ? " (and \(candidate.reasons.count - 1) more)" : ""
        return "\(first)\(more); \(inForce) stays in force"
      }
    }
  }

  func stamps() -> [FileStamp] { sources.map(\.stamp) }

  func read(_ stamps: [FileStamp]) -> Reading { zip(sources, stamps).map { $0.reading($1) } }

  /// Takes the first source that is in order.
  ///
  /// - Parameters:
  ///   - reading: What the sources say.
  ///   - old: What was chosen before: it stays where its own source now holds something that is not in order.
  /// - Returns: The choice, with what became of each source.
  func choose(_ reading: Reading, keeping old: Chosen? = nil) -> Choice {
    var choice = Choice()
    for (source, content) in zip(sources, reading) {
      var candidate = Policies.Candidate(source)
      defer { choice.candidates.append(candidate) }
      guard let content else { continue }
      guard choice.chosen == nil else {
        candidate.status = .replaced
        continue
      }
      do throws(PolicyFault) {
        choice.chosen = Chosen(source: source, policy: try source.policy(in: content.get(), facts: facts))
        candidate.status = .inForce
      } catch {
        candidate.status = .refused
        candidate.reasons = error.messages
        candidate.isUnreadable = error.isUnreadable
        if let old, old.source == source {
          choice.chosen = old
          choice.isEarlier = true
        }
      }
    }
    return choice
  }
}

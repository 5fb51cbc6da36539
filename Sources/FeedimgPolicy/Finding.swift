/// One thing that the check of a policy found.
package struct Finding: Sendable, Hashable {
  /// What to branch on.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    case gap
    case neverMatches = "never-matches"
    case neverReached = "never-reached"
    case promiseBroken = "promise-broken"
    case loadsOffline = "loads-offline"
    case changesNothing = "changes-nothing"
    case loadsMoreWhenDearer = "loads-more-when-dearer"
    case hidesCachedOriginal = "hides-cached-original"
  }

  /// Whether a policy with it can be in force.
  package enum Severity: String, Sendable, Hashable {
    case error
    case warning
  }

  package let code: Code
  /// What to tell, and where.
  package let problem: PolicyError
  /// The number of the rule that it is about.
  package var rule: Int?
  /// The numbers of the rules that cover ``rule`` together.
  package var coveringRules: [Int] = []
  /// The number of the promise that is broken.
  package var promise: Int?
  /// The states that it is about, as few boxes in words.
  package var boxes: [String] = []
  package var stateCount = 0
  /// One of the states.
  package var witness: Witness?

  package var severity: Severity {
    switch code {
    case .gap, .neverMatches, .neverReached, .promiseBroken, .loadsOffline: .error
    case .changesNothing, .loadsMoreWhenDearer, .hidesCachedOriginal: .warning
    }
  }
}

extension Finding: CustomStringConvertible {
  /// Such as `error   shadow.md:10: rule 6 is never reached: covered by rules 1, 4, 5`.
  package var description: String {
    (severity == .error ? "error   " : "warning ") + problem.description
  }
}

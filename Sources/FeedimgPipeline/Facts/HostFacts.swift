import FeedimgModel
import Synchronization

extension HostFact {
  /// Reads a name and its values, such as `on-screen=no,yes`; nil without `=`.
  package init?(pair: String) {
    guard let fact = SituationOverride(pair: pair, source: "") else { return nil }
    self.init(name: Self.words(fact.fact), values: fact.value.split(separator: ",").map(Self.words))
  }

  /// The words with single spaces in place of hyphens and spaces.
  private static func words(_ text: some StringProtocol) -> String {
    text.split { $0 == "-" || $0 == " " }.joined(separator: " ")
  }
}

/// The facts that the application has declared.
package final class HostFacts: Sendable {
  let declared: [HostFact]

  private struct UndeclaredFacts {
    var reported: Set<String> = []
    var unreported: [String] = []
  }

  /// Guards the warnings, each of which is reported once.
  private let undeclared = Mutex(UndeclaredFacts())

  package init(_ declared: [HostFact]) { self.declared = declared }

  /// Returns the given values that are declared; the others cause a warning.
  func declared(in given: [String: String]) -> [String: String] {
    guard !given.isEmpty else { return given }
    return given.filter { name, value in
      let fact = declared.first { $0.name == name }
      if fact?.values.contains(value) ?? false { return true }
      stray(name, value, isKnown: fact != nil)
      return false
    }
  }

  func takeWarnings() -> [String] {
    undeclared.withLock { undeclared in
      defer { undeclared.unreported = [] }
      return undeclared.unreported
    }
  }

  /// Records a warning; a program may pass the same value in every frame.
  private func stray(_ name: String, _ value: String, isKnown: Bool) {
    let warning =
      isKnown
      ? "the fact `\(name)` has no value `\(value)`"
      : "the fact `\(name)` is not declared; declare it in `hostFacts`"
    undeclared.withLock { undeclared in
      guard undeclared.reported.count < 100, undeclared.reported.insert(warning).inserted else { return }
      undeclared.unreported.append(warning)
    }
  }
}

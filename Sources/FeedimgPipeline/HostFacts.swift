import FeedimgModel
import Synchronization

/// The facts that the application has declared.
package final class HostFacts: Sendable {
  let declared: [HostFact]

  private struct UndeclaredFacts {
    var told: Set<String> = []
    var untold: [String] = []
  }

  /// Guards the warnings, each of which is reported once.
  private let strays = Mutex(UndeclaredFacts())

  package init(_ declared: [HostFact]) { self.declared = declared }

  /// Returns the given values that are declared; the others cause a warning.
  func declared(in said: [String: String]) -> [String: String] {
    guard !said.isEmpty else { return said }
    return said.filter { name, value in
      let fact = declared.first { $0.name == name }
      if fact?.values.contains(value) ?? false { return true }
      stray(name, value, isKnown: fact != nil)
      return false
    }
  }

  func takeWarnings() -> [String] {
    strays.withLock { strays in
      defer { strays.untold = [] }
      return strays.untold
    }
  }

  /// Records a warning; a program may pass the same value in every frame.
  private func stray(_ name: String, _ value: String, isKnown: Bool) {
    let warning =
      isKnown
      ? "the fact `\(name)` has no value `\(value)`"
      : "the application sets the fact `\(name)`, which it has not declared"
    strays.withLock { strays in
      guard strays.told.count < 100, strays.told.insert(warning).inserted else { return }
      strays.untold.append(warning)
    }
  }
}

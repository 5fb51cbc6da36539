import FeedimgModel
import Synchronization

/// The facts that the application has declared, and what it says of them.
final class HostFacts: Sendable {
  let declared: [HostFact]
  private let values: [String: Set<String>]
  /// What was said of facts or values that are not declared; guards each from being told twice.
  private let strays = Mutex<(told: Set<String>, untold: [String])>(([], []))

  init(_ declared: [HostFact]) {
    self.declared = declared
    values = Dictionary(declared.map { ($0.name, Set($0.values)) }) { first, _ in first }
  }

  /// What is said of facts that are declared, with values that are.
  func declared(in said: [String: String]) -> [String: String] {
    guard !said.isEmpty else { return said }
    return said.filter { name, value in
      if values[name]?.contains(value) ?? false { return true }
      stray(name, value)
      return false
    }
  }

  func takeWarnings() -> [String] {
    strays.withLock { strays in
      defer { strays.untold = [] }
      return strays.untold
    }
  }

  /// A program may say the same in every frame.
  private func stray(_ name: String, _ value: String) {
    let warning =
      values[name] == nil
      ? "the application tells of a fact `\(name)`, which it has not declared"
      : "the fact `\(name)` has no value `\(value)`"
    strays.withLock { strays in
      guard strays.told.count < 100, strays.told.insert(warning).inserted else { return }
      strays.untold.append(warning)
    }
  }
}

import FeedimgModel
import FeedimgPolicy
import Synchronization

/// Loaders that decide with other facts or another policy, such as for another network.
///
/// They share everything else with one loader. They are safe on any thread.
package final class OverrideLoaders: Sendable {
  private let base: ImageLoader
  /// Guards the requested policies, by name; files are read outside the lock.
  private let policies = Mutex<[String: PolicyInForce]>([:])

  /// The most policies kept; others are read each time.
  private static let maximumCount = 64

  /// Makes the loaders.
  ///
  /// - Parameter base: The loader to share with; its policies and its facts are used.
  package init(_ base: ImageLoader) { self.base = base }

  /// Returns a loader that decides with other facts or another policy.
  ///
  /// - Parameters:
  ///   - facts: Facts that replace those of the machine or of the shared loader.
  ///   - name: The name of another policy. A path is refused, so that no caller can read files.
  /// - Returns: A new loader; the shared loader itself if nothing is replaced.
  /// - Throws: ``ConfigurationError`` for an invalid fact or policy.
  package func loader(
    given facts: [SituationOverride],
    policy name: String?
  ) throws(ConfigurationError) -> ImageLoader {
    guard !facts.isEmpty || name != nil else { return base }
    let given = try CheckedOverride.check(facts, among: base.policy.catalog.facts)
    var replaced = Set(given.map(\.fact))
    // The cost of one network does not apply to another.
    if replaced.contains(.network) { replaced.insert(.metered) }
    let others = base.overrides.filter { !replaced.contains($0.fact) }
    let policy = if let name { try self.policy(named: name) } else { base.policy }
    if policy !== base.policy, policy.current().needsCost { base.policy.requireCost() }
    return ImageLoader(base, policy: policy, overrides: others + given)
  }

  private func policy(named name: String) throws(ConfigurationError) -> PolicyInForce {
    if let known = policies.withLock({ $0[name] }) { return known }
    let catalog = base.policy.catalog
    try catalog.checkName(name)
    let policy = try PolicyInForce(.named(name), on: catalog)
    policies.withLock { policies in
      if policies.count < Self.maximumCount { policies[name] = policy }
    }
    return policy
  }
}

extension PolicyCatalog {
  /// Throws unless the name is that of a known policy; refuses paths.
  ///
  /// - Parameter name: The name to check.
  /// - Throws: ``ConfigurationError``, with a suggestion if a similar name exists.
  package func checkName(_ name: String) throws(ConfigurationError) {
    let names = names()
    guard !names.contains(name) else { return }
    let near = Spelling.nearest(to: name, among: names).map { "; did you mean `\($0)`?" }
    throw ConfigurationError(["there is no policy `\(name)`" + (near ?? "")])
  }
}

import FeedimgModel
import FeedimgPolicy
import Synchronization

/// Loaders that decide as in another situation, such as on another network.
///
/// They share everything with one loader but what they decide by. For any thread.
package final class OverrideLoaders: Sendable {
  private let base: ImageLoader
  /// Guards the policies that were asked for, by name; files are read outside.
  private let policies = Mutex<[String: PolicyInForce]>([:])

  /// So many policies are kept; a further one is read each time.
  private static let greatestCount = 64

  /// - Parameter base: The loader to share with; its policies and its facts count.
  package init(_ base: ImageLoader) { self.base = base }

  /// A loader that decides in another situation.
  ///
  /// - Parameters:
  ///   - facts: Given in place of what is seen, or of what the shared loader was given.
  ///   - name: That of another policy; no path, so that no caller has files read by it.
  /// - Returns: The shared loader itself where nothing is given.
  /// - Throws: ``ConfigurationError`` for a fact or a policy that was not understood, or is not in order.
  package func loader(
    given facts: [SituationOverride],
    policy name: String?
  ) throws(ConfigurationError) -> ImageLoader {
    guard !facts.isEmpty || name != nil else { return base }
    let given = try CheckedOverride.check(facts, among: base.policy.shelf.facts)
    var replaced = Set(given.map(\.fact))
    // The price that holds for one network says nothing of another.
    if replaced.contains(.network) { replaced.insert(.metered) }
    let others = base.overrides.filter { !replaced.contains($0.fact) }
    let policy = if let name { try self.policy(named: name) } else { base.policy }
    if policy !== base.policy, policy.current().asksAboutCost { base.policy.askAboutCost() }
    return ImageLoader(base, policy: policy, overrides: others + given)
  }

  private func policy(named name: String) throws(ConfigurationError) -> PolicyInForce {
    if let known = policies.withLock({ $0[name] }) { return known }
    let shelf = base.policy.shelf
    try shelf.checkName(name)
    let policy = try PolicyInForce(.named(name), on: shelf)
    policies.withLock { policies in
      if policies.count < Self.greatestCount { policies[name] = policy }
    }
    return policy
  }
}

extension PolicyShelf {
  /// Refuses what is not the name of a policy on the shelf, such as a path.
  ///
  /// - Throws: ``ConfigurationError`` with a suggestion where a name is near.
  package func checkName(_ name: String) throws(ConfigurationError) {
    let names = names()
    guard !names.contains(name) else { return }
    let near = Spelling.nearest(to: name, among: names).map { "; did you mean `\($0)`?" }
    throw ConfigurationError(["there is no policy `\(name)`" + (near ?? "")])
  }
}

import FeedimgModel
import FeedimgPolicy

/// Loaders that decide with other facts or another policy, such as for another network.
///
/// They share everything else with one loader. They are safe on any thread.
package final class OverrideLoaders: Sendable {
  private let base: ImageLoader

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
    let policy =
      if let name {
        try base.namedPolicies.policy(named: name, on: base.policy.catalog)
      } else {
        base.policy
      }
    if policy !== base.policy, policy.current().needsCost { base.policy.requireCost() }
    return ImageLoader(base, policy: policy, overrides: others + given)
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

import FeedimgModel
import FeedimgPolicy

extension ImageLoader {
  /// Returns a loader that decides with other facts or another policy, and shares everything else.
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
    guard !facts.isEmpty || name != nil else { return self }
    let given = try CheckedOverride.check(facts, among: self.policy.catalog.facts)
    var replaced = Set(given.map(\.fact))
    // The cost of one network does not apply to another.
    if replaced.contains(.network) { replaced.insert(.metered) }
    let others = overrides.filter { !replaced.contains($0.fact) }
    let policy =
      if let name {
        try resources.sources.namedPolicies.policy(named: name, on: self.policy.catalog)
      } else {
        self.policy
      }
    if policy !== self.policy, policy.current().needsCost { self.policy.requireCost() }
    return ImageLoader(resources, policy: policy, overrides: others + given, identity: identity)
  }
}

extension PolicyCatalog {
  /// Throws unless the name is that of a known policy; refuses paths.
  ///
  /// - Throws: ``ConfigurationError``, with a suggestion if a similar name exists.
  package func checkName(_ name: String) throws(ConfigurationError) {
    let names = names()
    guard !names.contains(name) else { return }
    let near = Spelling.nearest(to: name, among: names).map { "; did you mean `\($0)`?" }
    throw ConfigurationError(["there is no policy `\(name)`" + (near ?? "")])
  }
}

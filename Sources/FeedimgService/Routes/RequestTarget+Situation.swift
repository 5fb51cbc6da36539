import Feedimg

extension RequestTarget {
  /// The loader for the overrides in the query: `network=`, `metered=`, `set=` and `policy=`.
  ///
  /// The overrides mean the same as the options of the command and hold for this request alone.
  ///
  /// - Parameters:
  ///   - base: The loader to share everything else with.
  ///   - isOffline: Whether to decide as without a network, regardless of the query.
  /// - Returns: The shared loader where the query has no overrides.
  /// - Throws: ``Problem`` 422 for an invalid override.
  func loader(from base: ImageLoader, isOffline: Bool = false) throws(Problem) -> ImageLoader {
    var facts: [SituationOverride] = []
    for parameter in parameters {
      switch parameter.name {
      case "network", "metered":
        facts.append(
          SituationOverride(fact: parameter.name, value: parameter.value, source: "`\(parameter.name)=`")
        )
      case "set":
        let sides = parameter.value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard sides.count == 2 else {
          throw Problem(
            422,
            "`set=`: expected a fact and its value, such as `always-original=yes`, found `\(parameter.value)`"
          )
        }
        facts.append(SituationOverride(fact: String(sides[0]), value: String(sides[1]), source: "`set=`"))
      default: break
      }
    }
    // The last override of a fact counts.
    if isOffline { facts.append(SituationOverride(fact: "network", value: "offline", source: "the request")) }
    let (base, policy) = (base, self["policy"])
    return try Problem.reporting(422) { () throws(ConfigurationError) in
      try base.loader(given: facts, policy: policy)
    }
  }
}

import Feedimg

extension RequestTarget {
  /// The loader for the overrides in the query: `network=`, `metered=`, `set=` and `policy=`.
  ///
  /// They mean the same as the options of the command and hold for this request alone.
  ///
  /// - Parameters:
  ///   - base: The loader to share everything else with; the result where there are no overrides.
  ///   - isOffline: Whether to decide as without a network, regardless of the query.
  /// - Returns: The loader for this request.
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
        guard let fact = SituationOverride(pair: parameter.value, source: "`set=`") else {
          let expected = "expected a fact and its value, such as `always-original=yes`"
          throw Problem(422, "`set=`: \(expected), found `\(parameter.value)`")
        }
        facts.append(fact)
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

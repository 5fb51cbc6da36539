import Feedimg

extension RequestTarget {
  /// The loader that decides in the situation which the query gives: `network=`, `metered=`, `set=` and `policy=`.
  ///
  /// As the options of the command: what is given holds for this request alone.
  ///
  /// - Parameters:
  ///   - loaders: What to choose from.
  ///   - isOffline: Whether there is to be no network, whatever the query says.
  /// - Returns: The loader that decides by what is seen, where nothing is given.
  /// - Throws: ``Problem`` 422 for what is not understood.
  func loader(among loaders: OverrideLoaders, isOffline: Bool = false) throws(Problem) -> ImageLoader {
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
    // The last word on a fact counts.
    if isOffline { facts.append(SituationOverride(fact: "network", value: "offline", source: "the request")) }
    do throws(ConfigurationError) {
      return try loaders.loader(given: facts, policy: self["policy"])
    } catch {
      throw Problem(error.isSystemFailure ? 500 : 422, error.messages.joined(separator: "; "))
    }
  }
}

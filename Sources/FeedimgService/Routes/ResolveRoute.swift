import Feedimg

/// `POST /v1/resolve`: what to show now, and why; fetches nothing.
struct ResolveRoute: Sendable {
  let loaders: OverrideLoaders

  /// One resolution for each item, in the form in which the items came; the query may give another situation.
  func answer(_ request: ServiceRequest) throws(Problem) -> ServiceAnswer {
    let (items, form) = try request.items()
    let loader = try request.target.loader(among: loaders)
    let resolutions = loader.resolve(items).map(\.json)
    switch form {
    case .single: return ServiceAnswer(json: resolutions.joined() + "\n")
    case .array: return ServiceAnswer(json: "[\(resolutions.joined(separator: ","))]\n")
    case .lines:
      return ServiceAnswer(text: resolutions.joined(separator: "\n") + "\n", as: "application/x-ndjson")
    }
  }
}

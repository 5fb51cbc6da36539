import Feedimg

/// `POST /v1/resolve`: what to show now, and why; fetches nothing.
struct ResolveRoute: Sendable {
  let loader: ImageLoader

  /// One resolution for each item, in the form in which the items came.
  func answer(_ request: ServiceRequest) throws(Problem) -> ServiceAnswer {
    let (items, form) = try request.items()
    let resolutions = loader.resolve(items).map(\.json)
    switch form {
    case .single: return ServiceAnswer(json: resolutions.joined() + "\n")
    case .array: return ServiceAnswer(json: "[\(resolutions.joined(separator: ","))]\n")
    case .lines:
      return ServiceAnswer(text: resolutions.joined(separator: "\n") + "\n", as: "application/x-ndjson")
    }
  }
}

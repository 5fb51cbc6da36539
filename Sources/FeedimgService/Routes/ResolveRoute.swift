import Feedimg

/// `POST /v1/resolve`: the image to show now, and the reasons; fetches nothing.
struct ResolveRoute: Sendable {
  let loader: ImageLoader

  /// One resolution for each item, in the form of the request; the query may override the situation.
  func response(to request: ServiceRequest) throws(Problem) -> ServiceResponse {
    let (items, form) = try request.items()
    let loader = try request.target.loader(from: self.loader)
    let resolutions = loader.resolve(items).map(\.json)
    switch form {
    case .single: return ServiceResponse(json: resolutions.joined() + "\n")
    case .array: return ServiceResponse(json: "[\(resolutions.joined(separator: ","))]\n")
    case .lines:
      return ServiceResponse(text: resolutions.joined(separator: "\n") + "\n", as: "application/x-ndjson")
    }
  }
}

import Feedimg

/// `POST /v1/priority`: changes the priority of a load that the client waits for.
struct PriorityRoute: Sendable {
  let loads: LoadRegistry

  /// Sets the priority also where there is no such load: it may be about to begin, or have ended.
  func response(to request: ServiceRequest) throws(Problem) -> ServiceResponse {
    guard let name = try request.loadName else {
      throw Problem(400, "expected the name of the load, as `Feedimg-Load`")
    }
    loads.set(name, RequestPriority(request.fields["Priority"]).load)
    return ServiceResponse(204)
  }
}

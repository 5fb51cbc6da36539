import Feedimg

/// `POST /v1/priority`: how urgent a load has become for the client that waits for it.
struct PriorityRoute: Sendable {
  let loads: NamedLoads

  /// Takes note of it, whether or not there is such a load: it may be about to begin, or have ended.
  func answer(_ request: ServiceRequest) throws(Problem) -> ServiceAnswer {
    guard let name = try request.loadName else {
      throw Problem(400, "expected what the load was called when it was asked for, as `Feedimg-Load`")
    }
    loads.set(name, RequestPriority(request.fields["Priority"]).load)
    return ServiceAnswer(204)
  }
}

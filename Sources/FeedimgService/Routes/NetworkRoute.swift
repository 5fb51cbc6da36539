import Feedimg
import FeedimgJSON

/// `GET /v1/network`: the active network and its overrides.
struct NetworkRoute: Sendable {
  let network: NetworkStatus
  /// The facts that the service was given in place of the real ones.
  let overrides: [SituationOverride]

  /// The state as `feedimg network --json` prints it, with the overrides, if any, as `simulated`.
  func response(to request: ServiceRequest) throws(Problem) -> ServiceResponse {
    guard case .object(var object) = network.state.jsonValue else {
      throw Problem(500, "the state of the network cannot be read")
    }
    if !overrides.isEmpty {
      object["simulated"] = .object(JSONObject(overrides.map { ($0.fact, .string($0.value)) }))
    }
    return ServiceResponse(json: JSONValue.object(object).text(.compact) + "\n")
  }
}

import Feedimg
import FeedimgJSON

/// `GET /v1/network`: the active network, and what is given in place of it.
struct NetworkRoute: Sendable {
  let network: NetworkStatus
  /// What the service decides by in place of what is seen.
  let overrides: [SituationOverride]

  /// The state as `feedimg network --json` prints it, with what is simulated if anything is.
  func answer(_ request: ServiceRequest) throws(Problem) -> ServiceAnswer {
    guard case .object(var object) = network.state.jsonValue else {
      throw Problem(500, "the network cannot be told")
    }
    if !overrides.isEmpty {
      object["simulated"] = .object(JSONObject(overrides.map { ($0.fact, .string($0.value)) }))
    }
    return ServiceAnswer(json: JSONValue.object(object).text(.compact) + "\n")
  }
}

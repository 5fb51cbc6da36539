import Feedimg
import FeedimgAdmin

/// `GET /v1/policies` and `/v1/policy`: the decision tables.
struct PolicyRoute: Sendable {
  let policies: Policies
  /// The policy that the service was given; nil for the default.
  let given: String?

  /// All policies, each as `feedimg policy list --json` prints it.
  func list(_ request: ServiceRequest) -> ServiceResponse {
    ServiceResponse(json: "[\(policies.list().map(\.json).joined(separator: ","))]\n")
  }

  /// The rules of the active policy, or of `name=`, as `feedimg policy export --json` prints them.
  func rules(_ request: ServiceRequest) throws(Problem) -> ServiceResponse {
    let name = request.target["name"]
    if let name {
      try Problem.reporting(404) { () throws(ConfigurationError) in try policies.checkName(name) }
    }
    do throws(PolicyFault) {
      return ServiceResponse(json: try policies.export(name ?? given ?? "default").json + "\n")
    } catch {
      throw Problem(500, error.messages.joined(separator: "; "))
    }
  }
}

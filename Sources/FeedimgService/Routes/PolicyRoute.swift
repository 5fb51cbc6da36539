import Feedimg
import FeedimgAdmin

/// `GET /v1/policies` and `/v1/policy`: the tables that decide, or could.
struct PolicyRoute: Sendable {
  let policies: Policies
  /// What the service decides by; nil for the standard one.
  let given: String?

  /// All policies, as `feedimg policy list --json` prints each.
  func list(_ request: ServiceRequest) -> ServiceAnswer {
    ServiceAnswer(json: "[\(policies.list().map(\.json).joined(separator: ","))]\n")
  }

  /// The rules of the one that decides, or of `name=`, as `feedimg policy export --json` prints them.
  func rules(_ request: ServiceRequest) throws(Problem) -> ServiceAnswer {
    let name = request.target["name"]
    if let name {
      do throws(ConfigurationError) {
        try policies.checkName(name)
      } catch {
        throw Problem(404, error.messages.joined(separator: "; "))
      }
    }
    do throws(PolicyFault) {
      return ServiceAnswer(json: try policies.export(name ?? given ?? "default").json + "\n")
    } catch {
      throw Problem(500, error.messages.joined(separator: "; "))
    }
  }
}

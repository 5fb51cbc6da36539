import Feedimg
import FeedimgAdmin

/// `GET /v1/usage`: what the network has brought, by day and network.
struct UsageRoute: Sendable {
  let usage: Usage

  /// The report of the last `days=`, as `feedimg usage --json` prints it.
  func answer(_ request: ServiceRequest) throws(Problem) -> ServiceAnswer {
    let days = try request.target.number("days", in: 1...3660) ?? 30
    do throws(ConfigurationError) {
      return ServiceAnswer(json: try usage.report(days: days).json + "\n")
    } catch {
      throw Problem(500, error.messages.joined(separator: "; "))
    }
  }
}

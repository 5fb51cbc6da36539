import Feedimg
import FeedimgAdmin

/// `GET /v1/usage`: the bytes received by day and network.
struct UsageRoute: Sendable {
  let usage: Usage

  /// The report of the last `days=`, as `feedimg usage --json` prints it.
  func response(to request: ServiceRequest) throws(Problem) -> ServiceResponse {
    let days = try request.target.number("days", in: 1...3660) ?? 30
    return try Problem.reporting { () throws(ConfigurationError) in
      ServiceResponse(json: try usage.report(days: days).json + "\n")
    }
  }
}

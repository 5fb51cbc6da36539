import Feedimg
import FeedimgJSON

extension LoadError {
  /// The outcome of the load, for the metrics.
  var outcome: String {
    switch code {
    case .nothingToShow: "placeholder"
    case .cancelled: "cancelled"
    default: "failed"
    }
  }

  /// The failure as a problem document; a fault of another server has a status of a gateway (RFC 9110 §15.6).
  var problem: Problem {
    var members = JSONObject()
    if let url { members["url"] = .string(url.description) }
    if let origin = retry.origin { members["origin"] = .string(origin) }
    if let status { members["originStatus"] = .integer(status) }
    if retry.circuit != .closed { members["originCircuitOpen"] = true }
    if let resolution { members["resolution"] = resolution.jsonValue }
    var fields: [(String, String)] = []
    if let retryAfter { fields.append(("Retry-After", String(retryAfter))) }
    return Problem(problemStatus, description, code: code.kebab, members: members, fields: fields)
  }

  private var problemStatus: Int {
    switch code {
    case .nothingToShow: 404
    case .forbiddenAddress: 403
    case .timeout: 504
    case .cancelled, .unavailable: 503
    default: 502
    }
  }
}

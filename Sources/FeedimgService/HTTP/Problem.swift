import Feedimg
import FeedimgJSON
import FeedimgModel
import NIOHTTP1

/// The reason that a request fails, as a problem document (RFC 9457).
struct Problem: Error, Sendable {
  var status: Int
  /// A code for clients to branch on, such as `nothing-to-show`, where the status is not specific enough.
  var code: String?
  /// One sentence about this request.
  var detail: String
  /// Further members of the document.
  var members: JSONObject
  /// Fields that the status requires, such as `Allow`.
  var fields: [(String, String)]

  init(
    _ status: Int,
    _ detail: String,
    code: String? = nil,
    members: JSONObject = JSONObject(),
    fields: [(String, String)] = []
  ) {
    self.status = status
    self.code = code
    self.detail = detail
    self.members = members
    self.fields = fields
  }

  /// The response with the document.
  var response: ServiceResponse {
    var object = JSONObject([
      ("type", .string(code.map { "urn:feedimg:problem:\($0)" } ?? "about:blank")),
      ("title", .string(HTTPResponseStatus(registered: status).reasonPhrase)), ("status", .integer(status)),
      ("detail", .string(detail)),
    ])
    for member in members.members { object[member.name] = member.value }
    var response = ServiceResponse(
      status,
      text: JSONValue.object(object).text(.compact) + "\n",
      as: "application/problem+json"
    )
    response.fields.fields += fields.map { HTTPFields.Field(name: $0.0, value: $0.1) }
    return response
  }
}

extension Problem {
  /// Runs the body; its error becomes a problem, with at least status 500 for a failure of the system.
  static func reporting<Result>(
    _ status: Int = 500,
    _ body: () throws(ConfigurationError) -> Result
  ) throws(Problem) -> Result {
    do throws(ConfigurationError) {
      return try body()
    } catch {
      throw Problem(max(status, error.isSystemFailure ? 500 : 0), error.messages.joined(separator: "; "))
    }
  }
}

extension HTTPResponseStatus {
  /// The status with its phrase (IANA HTTP Status Code Registry).
  ///
  /// SwiftNIO has the phrases of an older registry for two of them.
  init(registered status: Int) {
    self =
      switch status {
      case 413: .custom(code: 413, reasonPhrase: "Content Too Large")
      case 422: .custom(code: 422, reasonPhrase: "Unprocessable Content")
      default: HTTPResponseStatus(statusCode: status)
      }
  }
}

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
    if let server = servers.first, server.origin != url?.origin { members["origin"] = .string(server.origin) }
    if let status { members["originStatus"] = .integer(status) }
    if let server = servers.first, server.circuit != .closed { members["originCircuitOpen"] = true }
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

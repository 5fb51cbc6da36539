import FeedimgJSON
import FeedimgModel

/// Why a request is refused, as a problem document (RFC 9457).
struct Problem: Error, Sendable {
  var status: Int
  /// What to branch on where the status does not tell enough, such as `nothing-to-show`.
  var code: String?
  /// What is wrong with this request, in words.
  var detail: String
  /// More that a program may use.
  var members: JSONObject
  /// Fields that the status asks for, such as `Allow`.
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

  /// The document, with its status.
  var answer: ServiceAnswer {
    var object = JSONObject([
      ("type", .string(code.map { "urn:feedimg:problem:\($0)" } ?? "about:blank")),
      ("title", .string(StatusPhrase.text(status))), ("status", .integer(status)),
      ("detail", .string(detail)),
    ])
    for member in members.members { object[member.name] = member.value }
    var answer = ServiceAnswer(
      status,
      text: JSONValue.object(object).text(.compact) + "\n",
      as: "application/problem+json"
    )
    answer.fields.fields += fields.map { HTTPFields.Field(name: $0.0, value: $0.1) }
    return answer
  }
}

import Feedimg
import FeedimgJSON

extension Settings {
  /// The media types of a change.
  static let mediaTypes = ["application/merge-patch+json", "application/json"]

  /// `GET /v1/settings`: the values in force.
  func read(_ request: ServiceRequest) -> ServiceResponse { ServiceResponse(json: json + "\n") }

  /// `PATCH /v1/settings`: applies a JSON merge patch (RFC 7396) and returns the values in force.
  ///
  /// Null returns a setting to its default. If one member is invalid, no setting changes.
  func change(_ request: ServiceRequest) throws(Problem) -> ServiceResponse {
    try request.expectBody(in: Self.mediaTypes)
    let changes = try Self.changes(in: request.body)
    try Problem.reporting(422) { () throws(ConfigurationError) in try change(changes) }
    return read(request)
  }

  private static func changes(in body: [UInt8]) throws(Problem) -> [(name: String, value: String?)] {
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONReader.value(in: body)
    } catch {
      throw Problem(400, "the body is not JSON: \(error)")
    }
    guard case .object(let object) = value else {
      throw Problem(422, "expected an object of settings, found \(value.kind)")
    }
    var changes: [(name: String, value: String?)] = []
    for member in object.members {
      switch member.value {
      case .null: changes.append((member.name, nil))
      case .bool(let isOn): changes.append((member.name, isOn ? "yes" : "no"))
      // `7.0` is a whole number too.
      case .number(let text): changes.append((member.name, member.value.integer.map(String.init) ?? text))
      case .string(let text): changes.append((member.name, text))
      case .array, .object:
        throw Problem(422, "`\(member.name)`: expected a value, found \(member.value.kind)")
      }
    }
    return changes
  }
}

/// A JSON value (RFC 8259).
///
/// Members keep their order, and numbers keep their spelling. A program can therefore change one place of a
/// file and leave the rest as it was.
package enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  /// A number as spelled, such as `1e3`; see ``integer`` and ``double``.
  case number(String)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  /// The whole number; nil for other values, and for numbers that do not fit.
  package var integer: Int? {
    guard case .number(let text) = self else { return nil }
    return Int(text) ?? Double(text).flatMap { Int(exactly: $0) }
  }

  /// The number as the nearest double; nil for other values.
  package var double: Double? {
    guard case .number(let text) = self else { return nil }
    return Double(text)
  }

  /// The string without quotes; nil for other values.
  package var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// The kind of value for messages, such as `a string`.
  package var kind: String {
    switch self {
    case .null: "null"
    case .bool: "true or false"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(integerLiteral value: Int) { self = .number(String(value)) }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}

extension JSONValue {
  /// A whole number.
  package static func integer(_ value: some BinaryInteger) -> JSONValue { .number(String(value)) }

  /// The string, or null.
  package static func optional(_ value: String?) -> JSONValue { value.map(JSONValue.string) ?? .null }
}

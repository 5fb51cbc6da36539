package import FeedimgJSON

extension PolicyError {
  /// The problem as an object; members that do not apply are left out.
  package var json: JSONValue { .object(JSONObject(members)) }

  var members: [(String, JSONValue)] {
    var members: [(String, JSONValue)] = [("file", .string(file))]
    if let line { members.append(("line", .integer(line))) }
    if let column { members.append(("column", .integer(column))) }
    if let field { members.append(("field", .string(field))) }
    members.append(("message", .string(message)))
    if let suggestion { members.append(("suggestion", .string(suggestion))) }
    return members
  }
}

extension PolicyErrors {
  /// The problems as an array.
  package var json: JSONValue { .array(errors.map(\.json)) }
}

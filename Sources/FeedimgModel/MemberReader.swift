import FeedimgJSON

/// Reads the members of an object; errors name the member. Null counts as absent.
struct MemberReader {
  let object: JSONObject
  /// The prefix of member names in messages, such as `placeholder.`.
  let path: String

  private func value(_ name: String) -> JSONValue? {
    guard let value = object[name] else { return nil }
    if case .null = value { return nil }
    return value
  }

  private func mismatch(_ name: String, _ expected: String, _ found: String) -> FeedItemError {
    FeedItemError(path: path + name, message: "expected \(expected), found \(found)")
  }

  func text(_ name: String) throws(FeedItemError) -> String? {
    guard let value = value(name) else { return nil }
    guard let text = value.text else { throw mismatch(name, "a string", value.kind) }
    return text
  }

  /// A string, or a number as written, because feeds use both as identifiers.
  func identifier(_ name: String) throws(FeedItemError) -> String? {
    if case .number(let text) = object[name] { return text }
    return try text(name)
  }

  func count(_ name: String) throws(FeedItemError) -> Int? {
    guard let value = value(name) else { return nil }
    guard let count = value.integer, count >= 0 else {
      throw mismatch(name, "a whole number, at least 0", value.integer.map(String.init) ?? value.kind)
    }
    return count
  }

  func url(_ name: String) throws(FeedItemError) -> ImageURL? {
    guard let text = try text(name) else { return nil }
    do throws(ImageURLError) {
      return try ImageURL(text)
    } catch {
      let shown = text.count > 80 ? text.prefix(77) + "..." : text[...]
      var failure = FeedItemError(
        path: path + name,
        message: "expected an absolute http or https URL, but `\(shown)` \(error)"
      )
      if case .scheme = error { failure.namesOtherScheme = true }
      throw failure
    }
  }

  func role(_ name: String) throws(FeedItemError) -> ImageVariant.Role? {
    guard let text = try text(name) else { return nil }
    guard let role = ImageVariant.Role(rawValue: text) else {
      throw mismatch(name, "`original` or `thumbnail`", "`\(text)`")
    }
    return role
  }

  func color(_ name: String) throws(FeedItemError) -> String? {
    guard let text = try text(name) else { return nil }
    guard text.first == "#", text.count == 7, text.dropFirst().allSatisfy({ $0.isASCII && $0.isHexDigit })
    else {
      throw mismatch(name, "a colour such as `#336699`", "`\(text)`")
    }
    return text
  }

  func array(_ name: String) throws(FeedItemError) -> [JSONValue]? {
    guard let value = value(name) else { return nil }
    guard case .array(let elements) = value else { throw mismatch(name, "an array", value.kind) }
    return elements
  }

  func object(_ name: String) throws(FeedItemError) -> MemberReader? {
    guard let value = value(name) else { return nil }
    guard case .object(let object) = value else { throw mismatch(name, "an object", value.kind) }
    return MemberReader(object: object, path: path + name + ".")
  }
}

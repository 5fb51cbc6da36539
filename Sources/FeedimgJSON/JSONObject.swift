/// The members of a JSON object, in the order of the text.
package struct JSONObject: Sendable, Hashable {
  /// A name and its value.
  package struct Member: Sendable, Hashable {
    package var name: String
    package var value: JSONValue
  }

  package private(set) var members: [Member] = []

  package init(_ members: [(String, JSONValue)] = []) {
    self.members = members.map { Member(name: $0.0, value: $0.1) }
  }

  /// The value of a name; if a name is repeated, the last value, as in most JSON readers.
  ///
  /// Setting a new name appends it; setting nil removes every member of that name.
  package subscript(name: String) -> JSONValue? {
    get { members.lastIndex { $0.name == name }.map { members[$0].value } }
    set {
      guard let newValue else { return members.removeAll { $0.name == name } }
      if let index = members.lastIndex(where: { $0.name == name }) {
        members[index].value = newValue
      } else {
        members.append(Member(name: name, value: newValue))
      }
    }
  }

  /// Appends a member, even if the name already exists.
  package mutating func append(_ name: String, _ value: JSONValue) {
    // Most objects have a few members. Growing from one by doubling would allocate three times.
    if members.isEmpty { members.reserveCapacity(4) }
    members.append(Member(name: name, value: value))
  }

  package mutating func append(_ other: JSONObject) { members += other.members }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}

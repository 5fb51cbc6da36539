/// The members of a JSON object in the order in which they stand.
package struct JSONObject: Sendable, Hashable {
  /// One name and its value.
  package struct Member: Sendable, Hashable {
    package var name: String
    package var value: JSONValue
  }

  package private(set) var members: [Member] = []

  package init(_ members: [(String, JSONValue)] = []) {
    self.members = members.map { Member(name: $0.0, value: $0.1) }
  }

  /// The value of a name; of several with one name the last one, as most readers have it.
  ///
  /// Setting a new name appends it; setting nil removes every member of that name.
  package subscript(name: String) -> JSONValue? {
    get { members.last { $0.name == name }?.value }
    set {
      guard let newValue else { return members.removeAll { $0.name == name } }
      if let index = members.lastIndex(where: { $0.name == name }) {
        members[index].value = newValue
      } else {
        members.append(Member(name: name, value: newValue))
      }
    }
  }

  mutating func append(_ name: String, _ value: JSONValue) {
    members.append(Member(name: name, value: value))
  }
}

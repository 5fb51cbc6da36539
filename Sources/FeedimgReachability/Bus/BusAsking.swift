/// Asks services on a message bus (a port, so that the asking can be tested without a bus).
protocol BusAsking {
  /// Calls a method with texts as arguments.
  ///
  /// It starts no service that does not run, and waits for an answer only briefly.
  ///
  /// - Returns: The first value of the answer; nil where there is none.
  func call(_ method: BusMethod, _ arguments: [String]) -> BusValue?
}

/// A method of an object of a service.
struct BusMethod: Hashable, Sendable {
  var service: String
  var object: String
  var interface: String
  var name: String
}

extension BusAsking {
  /// The value of a property; nil where there is no such service, object or property.
  func property(_ property: BusMethod) -> BusValue? {
    let get = BusMethod(
      service: property.service,
      object: property.object,
      interface: "org.freedesktop.DBus.Properties",
      name: "Get"
    )
    return call(get, [property.interface, property.name])
  }
}

/// A value of D-Bus, as far as it matters here: numbers lose their size, and variants are opened.
indirect enum BusValue: Hashable, Sendable {
  case bool(Bool)
  case number(Int64)
  case text(String)
  /// An array or a structure.
  case list([BusValue])
  case pairs([BusValue: BusValue])
  /// Of a type that is not read.
  case unread

  var bool: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  var number: Int64? {
    if case .number(let value) = self { value } else { nil }
  }

  var text: String? {
    if case .text(let value) = self { value } else { nil }
  }

  /// The elements; none where it is no list.
  var list: [BusValue] {
    if case .list(let values) = self { values } else { [] }
  }

  /// The value of a name; nil where it is not there, or this has no names.
  subscript(name: String) -> BusValue? {
    if case .pairs(let pairs) = self { pairs[.text(name)] } else { nil }
  }
}

/// Calls services on a message bus (a port).
protocol BusCalling {
  /// Calls a method with text arguments, and returns the first value of the reply; nil if there is none.
  ///
  /// Starts no service, and waits only briefly for the reply.
  func call(_ method: BusMethod, _ arguments: [String]) -> BusValue?
}

/// A method of an object of a service.
struct BusMethod: Hashable, Sendable {
  var service: String
  var object: String
  var interface: String
  var name: String
}

extension BusCalling {
  /// The value of a property; nil if the service, object or property does not exist.
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

/// A D-Bus value.
///
/// Variants are unwrapped.
indirect enum BusValue: Hashable, Sendable {
  case bool(Bool)
  case number(UInt32)
  case text(String)
  /// An array or a structure.
  case list([BusValue])
  case pairs([BusValue: BusValue])
  /// A value of another type.
  case unread

  var bool: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  var number: UInt32? {
    if case .number(let value) = self { value } else { nil }
  }

  var text: String? {
    if case .text(let value) = self { value } else { nil }
  }

  /// The elements; empty if this is not a list.
  var list: [BusValue] {
    if case .list(let values) = self { values } else { [] }
  }

  /// The value of a dictionary key; nil if there is none.
  subscript(name: String) -> BusValue? {
    if case .pairs(let pairs) = self { pairs[.text(name)] } else { nil }
  }
}

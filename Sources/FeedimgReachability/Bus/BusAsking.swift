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

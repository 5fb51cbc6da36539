/// PPP over Ethernet, as `/proc/net/pppoe` lists it.
enum PPPoESession {
  /// The interfaces that carry sessions, one for each.
  ///
  /// - Parameter text: Lines of an identifier, the other end's address and the interface, after a heading.
  /// - Returns: Names, in the order of the table.
  static func carriers(inTable text: String) -> [String] {
    text.split(separator: "\n").dropFirst().compactMap { line in
      let fields = line.split(separator: " ")
      return fields.count == 3 ? String(fields[2]) : nil
    }
  }
}

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

import FeedimgJSON
import FeedimgModel

/// The user's marks of networks, in the member `networks` of the settings file.
///
/// The member is an object such as `{"ssid:Home": "unmetered"}`. Names of another form come from other
/// versions.
/// They stay in the file and have no effect.
struct NetworkMarks {
  private static let member = "networks"
  private static let words: [(word: String, metered: Metered)] = [("metered", .yes), ("unmetered", .no)]

  private(set) var networks: [NetworkName: Metered] = [:]
  private(set) var warnings: [String] = []

  /// Reads each mark separately, so that an invalid one does not affect the others.
  ///
  /// Null counts as no mark.
  init(_ document: SettingsDocument, path: String) {
    guard let (value, line) = document.value(of: Self.member), value != .null else { return }
    guard let marks = document.document(of: Self.member) else {
      warnings.append(
        "\(path):\(line): `\(Self.member)` takes an object, not \(value.kind); all marks are ignored"
      )
      return
    }
    for name in marks.names {
      guard let network = NetworkName(name), let (value, lineBelow) = marks.value(of: name), value != .null
      else { continue }
      if let metered = Self.words.first(where: { $0.word == value.text })?.metered {
        networks[network] = metered
        continue
      }
      let found = value.text.map { "`\($0)`" } ?? value.kind
      let hint = value.text.flatMap { Spelling.nearest(to: $0, among: Self.words.map(\.word)) }
      warnings.append(
        "\(path):\(line + lineBelow - 1): the network `\(name)` takes `metered` or `unmetered`, not \(found)"
          + (hint.map { "; did you mean `\($0)`?" } ?? "; the mark is ignored")
      )
    }
  }

  /// Marks a network.
  ///
  /// Replaces a member that is not an object.
  static func set(_ network: NetworkName, _ metered: Metered, in document: inout SettingsDocument) {
    guard let word = words.first(where: { $0.metered == metered })?.word else { return }
    guard var marks = document.document(of: member), !marks.isEmpty else {
      return document.set(member, to: .object(JSONObject([(network.text, .string(word))])))
    }
    marks.set(network.text, to: .string(word))
    document.set(member, to: marks)
  }

  /// Removes the mark of a network, and the member with the last one.
  static func remove(_ network: NetworkName, from document: inout SettingsDocument) {
    guard var marks = document.document(of: member), marks.remove(network.text) else { return }
    if marks.isEmpty { document.remove(member) } else { document.set(member, to: marks) }
  }
}

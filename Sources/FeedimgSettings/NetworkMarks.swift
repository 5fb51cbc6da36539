import FeedimgJSON
import FeedimgModel

/// The user's marks of networks, in the member `networks` of the settings file.
///
/// The member is an object such as `{"ssid:Home": "unmetered"}`. Names of another form come from other
/// versions; they stay in the file and have no effect.
struct NetworkMarks {
  private static let member = "networks"
  private static let words: [(word: String, metered: Metered)] = [("metered", .yes), ("unmetered", .no)]

  private(set) var networks: [NetworkName: Metered] = [:]
  private(set) var warnings: [String] = []

  /// Reads each mark separately, so that an invalid one does not affect the others.
  ///
  /// Null counts as no mark.
  init(_ document: SettingsDocument, path: String) {
    guard let value = document.object[Self.member], value != .null else { return }
    guard case .object(let marks) = value else {
      let place = "\(path):\(document.line(of: Self.member))"
      warnings.append("\(place): `\(Self.member)` takes an object, not \(value.kind); all marks are ignored")
      return
    }
    var seen: Set<String> = []
    for name in marks.members.map(\.name) where seen.insert(name).inserted {
      guard let network = NetworkName(name), let value = marks[name], value != .null else { continue }
      if let metered = Self.words.first(where: { $0.word == value.text })?.metered {
        networks[network] = metered
        continue
      }
      let found = value.text.map { "`\($0)`" } ?? value.kind
      let hint = value.text.flatMap { Spelling.nearest(to: $0, among: Self.words.map(\.word)) }
      warnings.append(
        "\(path):\(document.line(of: Self.member, name)): the network `\(name)` takes `metered` or `unmetered`, not \(found)"
          + (hint.map { "; did you mean `\($0)`?" } ?? "; the mark is ignored")
      )
    }
  }

  /// Marks a network.
  ///
  /// Replaces a member that is not an object.
  static func set(_ network: NetworkName, _ metered: Metered, in object: inout JSONObject) {
    guard let word = words.first(where: { $0.metered == metered })?.word else { return }
    var marks = JSONObject()
    if case .object(let earlier)? = object[member] { marks = earlier }
    marks[network.text] = .string(word)
    object[member] = .object(marks)
  }

  /// Removes the mark of a network, and the member with the last one.
  static func remove(_ network: NetworkName, from object: inout JSONObject) {
    guard case .object(var marks)? = object[member] else { return }
    marks[network.text] = nil
    object[member] = marks.members.isEmpty ? nil : .object(marks)
  }
}

import FeedimgJSON
import FeedimgModel

/// The user's marks of networks, in the member `networks` of the settings file.
///
/// The member is an object such as `{"ssid:Home": "unmetered"}`. Names of another form come from other
/// versions; they stay in the file and have no effect.
struct MarkedNetworks {
  private static let member = "networks"
  private static let allowed: [Metered] = [.yes, .no]

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
      if let metered = value.text.flatMap(Metered.init(word:)), Self.allowed.contains(metered) {
        networks[network] = metered
        continue
      }
      let found = value.text.map { "`\($0)`" } ?? value.kind
      let hint = value.text.flatMap { Spelling.nearest(to: $0, among: Self.allowed.map(\.word)) }
      warnings.append(
        "\(path):\(document.line(of: Self.member, name)): the network `\(name)` takes `metered` or `unmetered`, not \(found)"
          + (hint.map { "; did you mean `\($0)`?" } ?? "; the mark is ignored")
      )
    }
  }

  /// Marks a network, or removes its mark, and the member with the last one.
  ///
  /// A mark replaces a member that is not an object.
  static func set(_ network: NetworkName, _ metered: Metered?, in object: inout JSONObject) {
    var marks = JSONObject()
    if case .object(let earlier)? = object[member] { marks = earlier } else if metered == nil { return }
    marks[network.text] = allowed.first { $0 == metered }.map { .string($0.word) }
    object[member] = marks.members.isEmpty ? nil : .object(marks)
  }
}

/// The version of the program; moves with CHANGELOG.md.
enum Version {
  static let text = "0.1.0"
}

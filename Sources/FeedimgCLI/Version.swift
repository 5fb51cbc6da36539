/// The version of the program, as in CHANGELOG.md.
enum Version {
  static let text = "0.1.0"
}

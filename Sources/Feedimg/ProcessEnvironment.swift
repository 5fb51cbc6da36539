import Glibc

/// The variables of this process.
enum ProcessEnvironment {
  /// Read once, when a front end asks.
  static func variables() -> [String: String] {
    var variables: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
      let pair = String(cString: text)
      if let equals = pair.firstIndex(of: "=") {
        variables[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
      }
      entry += 1
    }
    return variables
  }

  /// The home of the account, for processes that are told none, as some services are.
  static func accountHome() -> String? {
    guard let account = getpwuid(getuid()), let home = account.pointee.pw_dir else { return nil }
    return String(cString: home)
  }
}

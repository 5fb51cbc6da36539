/// The text of a file named `uevent`: a name and its value on each line.
struct DeviceEvent {
  private let lines: [Substring]

  init(_ text: String) {
    lines = text.split(separator: "\n")
  }

  subscript(name: String) -> String? {
    for line in lines {
      guard let sign = line.firstIndex(of: "="), line[..<sign] == name else { continue }
      return String(line[line.index(after: sign)...])
    }
    return nil
  }
}

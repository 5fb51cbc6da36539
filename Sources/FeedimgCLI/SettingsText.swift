import Feedimg

/// The settings as text.
enum SettingsText {
  static func table(_ entries: [Settings.Entry]) -> String {
    let nameWidth = entries.map(\.name.count).max() ?? 0
    let valueWidth = entries.map(\.value.count).max() ?? 0
    return entries.map { entry in
      let mark = entry.isSet ? "*" : " "
      let name = entry.name + String(repeating: " ", count: nameWidth - entry.name.count)
      let value = entry.value + String(repeating: " ", count: valueWidth - entry.value.count)
      return "\(mark) \(name)  \(Output.bold(value))  \(Output.dim(entry.explanation))"
    }.joined(separator: "\n")
  }
}

import Feedimg

/// The settings as text.
enum SettingsText {
  static func table(_ entries: [Settings.Entry]) -> String {
    let nameWidth = entries.map(\.name.count).max() ?? 0
    let valueWidth = entries.map(\.value.count).max() ?? 0
    return entries.map { entry in
      let mark = entry.isSet ? "*" : " "
      let value = Output.bold(entry.value.padded(to: valueWidth))
      return "\(mark) \(entry.name.padded(to: nameWidth))  \(value)  \(Output.dim(entry.explanation))"
    }.joined(separator: "\n")
  }
}

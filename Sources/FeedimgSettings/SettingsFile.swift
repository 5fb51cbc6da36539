import FeedimgJSON
package import FeedimgModel
import FeedimgSystem
import Glibc

/// The settings file `settings.json`.
///
/// Several processes may change it at once.
package struct SettingsFile: Sendable {
  /// The path for messages.
  ///
  /// If it is a symbolic link, it stays one.
  package let path: String

  package init(folder: String) { path = FilePath(folder: folder, name: "settings.json").text }

  private var file: AtomicFile { AtomicFile(path) }

  /// Reads the file.
  ///
  /// An invalid value counts as not set and causes a warning. In an unusable file, all values count as not set.
  package func read() -> SettingsSnapshot {
    do throws(FileError) {
      guard let bytes = try file.content() else { return SettingsSnapshot() }
      return snapshot(of: bytes)
    } catch {
      return SettingsSnapshot(fault: "\(error)", isUnreadable: true)
    }
  }

  /// A change of one setting: its new value as a user types it, or nil for its default.
  package typealias Change = (key: SettingKey, text: String?)

  /// Changes settings together.
  ///
  /// - Parameters:
  ///   - changes: The settings to change; all others stay.
  ///   - valid: The version to change if the file is not valid; nil for an empty one.
  /// - Returns: The new content, with a warning if the whole file had to be replaced.
  /// - Throws: ``SettingsError``. The file then stays unchanged.
  package func change(
    _ changes: [Change],
    or valid: SettingsSnapshot? = nil
  ) throws(SettingsError) -> SettingsSnapshot {
    var settings = UserSettings()
    var members: [(name: String, value: JSONValue?)] = []
    for (key, text) in changes {
      if let text { try key.assign(text, in: &settings) }
      members.append((key.name, text == nil ? nil : key.json(in: settings)))
    }
    if members.allSatisfy({ $0.value == nil }), file.isMissing { return SettingsSnapshot() }
    return try edit(or: valid) { for member in members { $0[member.name] = member.value } }
  }

  /// Marks a network as metered or not; nil removes its mark.
  ///
  /// - Parameters:
  ///   - network: The name of the network.
  ///   - metered: The mark.
  ///   - valid: The version to change if the file is not valid; nil for an empty one.
  /// - Returns: The new content, with a warning if the whole file had to be replaced.
  /// - Throws: ``SettingsError``. The file then stays unchanged.
  package func mark(
    _ network: NetworkName,
    _ metered: Metered?,
    or valid: SettingsSnapshot? = nil
  ) throws(SettingsError) -> SettingsSnapshot {
    if metered == nil, file.isMissing { return SettingsSnapshot() }
    return try edit(or: valid) { MarkedNetworks.set(network, metered, in: &$0) }
  }

  private func edit(
    or valid: SettingsSnapshot?,
    _ change: (inout JSONObject) -> Void
  ) throws(SettingsError) -> SettingsSnapshot {
    do throws(FileError) {
      return try file.locked { locked throws(FileError) in
        // An unreadable file must not be replaced.
        let old = try file.content()
        let (found, warning) = try document(from: old, or: valid)
        var document = found
        change(&document.object)
        guard document.object != found.object || warning != nil else { return snapshot(of: old ?? []) }
        try locked.replace(with: document.text)
        var snapshot = snapshot(of: document.text)
        if let warning { snapshot.warnings.insert(warning, at: 0) }
        return snapshot
      }
    } catch {
      throw SettingsError(fault: error)
    }
  }

  /// The document to change.
  ///
  /// Copies invalid content beside the file and starts with the valid version, or else with an empty document.
  private func document(
    from content: [UInt8]?,
    or valid: SettingsSnapshot?
  ) throws(FileError) -> (document: SettingsDocument, warning: String?) {
    guard let content else { return (SettingsDocument(), nil) }
    do throws(JSONError) {
      return (try SettingsDocument(content), nil)
    } catch {
      let kept = try keepCopy(content)
      var document = SettingsDocument()
      if let object = valid?.object { document.object = object }
      return (document, "\(place(of: error)); the old content is kept in `\(kept)`")
    }
  }

  /// Copies the content beside the file with the first free number, unless an equal copy exists.
  ///
  /// - Returns: The path of the copy.
  private func keepCopy(_ content: [UInt8]) throws(FileError) -> String {
    var number = 1
    while true {
      let copy = "\(path).corrupt-\(number)"
      do throws(FileError) {
        let file = try OpenFile(copy, to: "write", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        try file.write(content)
        try file.synchronize()
        return copy
      } catch {
        guard error.reason == EEXIST else { throw error }
        if let earlier = try? AtomicFile(copy).content(), earlier == content { return copy }
        number += 1
      }
    }
  }

  private func snapshot(of bytes: [UInt8]) -> SettingsSnapshot {
    do throws(JSONError) {
      return SettingsSnapshot(try SettingsDocument(bytes), path: path)
    } catch {
      return SettingsSnapshot(fault: place(of: error))
    }
  }

  /// The message with its place, such as `settings.json:2:5: …`.
  private func place(of error: JSONError) -> String {
    "\(path):\(error.line):\(error.column): \(error.message)"
  }
}

extension SettingsError {
  fileprivate init(fault: FileError) {
    let code: Code =
      switch (fault.operation, fault.reason) {
      case ("lock", EWOULDBLOCK): .busy
      case ("read", _), ("follow", _): .unreadable
      default: .unwritable
      }
    self.init(
      code,
      code == .busy
        ? "another process has locked `\(fault.path)`; try again later" : "\(fault); nothing was changed"
    )
  }
}

package import FeedimgModel
import FeedimgSystem
import Glibc

/// The file of the settings, `settings.json`; several processes may change it at once.
package struct SettingsFile: Sendable {
  /// As messages name it; a symbolic link stays one.
  package let path: String

  package init(folder: String) { path = FilePath(folder: folder, name: "settings.json").text }

  private var file: AtomicFile { AtomicFile(path) }

  /// Reads the file; an invalid value counts as not set and gives a warning.
  package func read() -> SettingsReadout {
    do throws(FileFault) {
      guard let bytes = try file.content() else { return SettingsReadout() }
      return readout(of: bytes)
    } catch {
      return SettingsReadout(warning: "\(error); the defaults hold")
    }
  }

  /// Sets one setting to a value as a person types it.
  ///
  /// - Returns: The new content, with a warning if the whole file had to be replaced.
  /// - Throws: ``SettingsError``; the file is then unchanged.
  package func set(_ key: SettingKey, to text: String) throws(SettingsError) -> SettingsReadout {
    var settings = UserSettings()
    try key.assign(text, in: &settings)
    let value = key.json(in: settings)
    return try edit { $0.set(key.name, to: value) }
  }

  /// Removes a setting from the file, so that its default holds.
  ///
  /// - Returns: The new content, with a warning if the whole file had to be replaced.
  /// - Throws: ``SettingsError``; the file is then unchanged.
  package func unset(_ key: SettingKey) throws(SettingsError) -> SettingsReadout {
    if file.isMissing { return SettingsReadout() }
    return try edit { $0.remove(key.name) }
  }

  /// Marks a network as metered or not, or removes its mark.
  ///
  /// - Parameters:
  ///   - network: The network.
  ///   - metered: `yes` or `no`; nil for no mark.
  /// - Returns: The new content, with a warning if the whole file had to be replaced.
  /// - Throws: ``SettingsError``; the file is then unchanged.
  package func mark(
    _ network: NetworkName,
    _ metered: Metered?
  ) throws(SettingsError) -> SettingsReadout {
    if metered == nil, file.isMissing { return SettingsReadout() }
    return try edit { document in
      if let metered {
        NetworkMarks.set(network, metered, in: &document)
      } else {
        NetworkMarks.remove(network, from: &document)
      }
    }
  }

  private func edit(_ change: (inout SettingsDocument) -> Void) throws(SettingsError) -> SettingsReadout {
    do throws(FileFault) {
      return try file.locked { locked throws(FileFault) in
        // An unreadable file must not be replaced.
        let old = try file.content()
        let (found, warning) = try document(from: old)
        var document = found
        change(&document)
        if document.bytes != old { try locked.replace(with: document.bytes) }
        var readout = SettingsReadout(document, path: path)
        if let warning { readout.warnings.insert(warning, at: 0) }
        return readout
      }
    } catch {
      throw SettingsError(fault: error)
    }
  }

  /// The document to change; invalid content is copied beside the file, and the document is empty.
  private func document(
    from content: [UInt8]?
  ) throws(FileFault) -> (document: SettingsDocument, warning: SettingsWarning?) {
    guard let content else { return (SettingsDocument(), nil) }
    do throws(SettingsDocument.Flaw) {
      return (try SettingsDocument(content), nil)
    } catch {
      let kept = try keepAside(content)
      return (
        SettingsDocument(), SettingsWarning(message: "\(path)\(error); what it said is kept in `\(kept)`")
      )
    }
  }

  /// Copies the content beside the file under the first free number, unless there is such a copy.
  ///
  /// - Returns: The path of the copy.
  private func keepAside(_ content: [UInt8]) throws(FileFault) -> String {
    var number = 1
    while true {
      let copy = "\(path).corrupt-\(number)"
      do throws(FileFault) {
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

  private func readout(of bytes: [UInt8]) -> SettingsReadout {
    do throws(SettingsDocument.Flaw) {
      return SettingsReadout(try SettingsDocument(bytes), path: path)
    } catch {
      // Copied before the user mends or replaces the file; this call never changes the file itself.
      let kept = (try? keepAside(bytes)).map { ", what it said is kept in `\($0)`" } ?? ""
      return SettingsReadout(warning: "\(path)\(error); the defaults hold\(kept)")
    }
  }
}

extension SettingsError {
  fileprivate init(fault: FileFault) {
    let code: Code =
      switch (fault.operation, fault.reason) {
      case ("lock", EWOULDBLOCK): .busy
      case ("read", _), ("follow", _): .unreadable
      default: .unwritable
      }
    self.init(
      code,
      code == .busy ? "another process holds `\(fault.path)` locked" : "\(fault); nothing was changed"
    )
  }
}

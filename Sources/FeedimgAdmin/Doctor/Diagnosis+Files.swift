import Feedimg
import FeedimgHTTPCache
import FeedimgModel
import FeedimgSQLite
import FeedimgSettings
import FeedimgTransfer

extension Diagnosis {
  /// Whether libcurl is available.
  static var transfer: Finding {
    do throws(LoadError) {
      return Finding(
        subject: "libcurl",
        verdict: .ok,
        text: "downloads use \(try CurlVersion.text())"
      )
    } catch {
      return Finding(
        subject: "libcurl",
        verdict: .no,
        text: "no image can be downloaded: \(error.message)",
        isFatal: true
      )
    }
  }

  /// The library that stores the index of the cache.
  static var index: Finding {
    Finding(
      subject: "SQLite",
      verdict: .ok,
      text: "the index of the cache uses SQLite \(SQLiteVersion.text)"
    )
  }

  /// The folders of the settings and the cache.
  static func folders(_ configuration: ImageLoader.Configuration) -> [Finding] {
    let folders = Folders(configuration)
    let (settingsFolder, cacheFolder): (String, String)
    do throws(ConfigurationError) {
      (settingsFolder, cacheFolder) = (try folders.configuration, try folders.cache)
    } catch {
      return [
        Finding(
          subject: "folders",
          verdict: .no,
          text: "no folder is known for settings and cache: \(error)",
          isFatal: true
        )
      ]
    }
    let store = SettingsStore(folder: settingsFolder)
    _ = store.currentSettings()
    let warnings = store.takeWarnings().map { Finding(subject: "settings file", verdict: .warning, text: $0) }
    return [folder("settings", FolderState(settingsFolder), without: "settings cannot be changed")]
      + warnings
      + [
        folder(
          "cache",
          FolderState(cacheFolder),
          without: "images are shown but not stored",
          isNeeded: true
        )
      ]
  }

  /// Compares the index with the files, without reading the files.
  static func images(_ configuration: ImageLoader.Configuration) -> [Finding] {
    guard let cache = try? ImageCache(configuration), FolderState(cache.folder).exists else { return [] }
    var (count, lost) = (0, 0)
    do throws(ConfigurationError) {
      try cache.forEachImage { image in
        count += 1
        if !FolderState.isFile(image.path, ofSize: image.size.bytes) { lost += 1 }
        return true
      }
    } catch {
      return [
        Finding(subject: "images", verdict: .broken, text: "\(error); run `feedimg cache clear`")
      ]
    }
    guard lost == 0 else {
      let files = "the files of \(lost) of \(count) images are missing or changed"
      return [
        Finding(subject: "images", verdict: .broken, text: "\(files); run `feedimg cache verify`")
      ]
    }
    return [Finding(subject: "images", verdict: .ok, text: "index and files match (\(count))")]
  }

  /// The state of a folder; a required folder that cannot be written is broken.
  private static func folder(
    _ subject: String,
    _ state: FolderState,
    without loss: String,
    isNeeded: Bool = false
  ) -> Finding {
    let place = "`\(state.path)`" + (state.fileSystem.map { " on \($0)" } ?? "")
    if let obstacle = state.obstacle {
      return Finding(
        subject: subject,
        verdict: isNeeded ? .broken : .warning,
        text: "\(place) cannot be written (\(obstacle)): \(loss)"
      )
    }
    if state.isShared {
      return Finding(
        subject: subject,
        verdict: .warning,
        text: "\(place) is a network file system, on which file locks may not work"
      )
    }
    let text = state.exists ? "\(place) is writable" : "\(place) will be created when needed"
    return Finding(subject: subject, verdict: .ok, text: text)
  }

  /// The policy in force.
  static func policy(_ configuration: ImageLoader.Configuration) -> Finding {
    do throws(ConfigurationError) {
      let policy = try status(configuration)
      let count = policy.ruleCount
      return Finding(
        subject: "policy",
        verdict: .ok,
        text: "`\(policy.name)` is in force; its \(count) rule\(count == 1 ? " covers" : "s cover") all cases"
      )
    } catch {
      let reason = error.messages.first ?? "it cannot be used"
      return Finding(
        subject: "policy",
        verdict: .no,
        text: "no policy is usable: \(reason)",
        isFatal: true
      )
    }
  }

  /// The policy files with errors.
  static func refusedPolicies(_ configuration: ImageLoader.Configuration) -> [Finding] {
    guard let policies = try? Policies(configuration) else { return [] }
    return policies.list().flatMap { entry in
      entry.refusals.map { reason in
        let instead = entry.status.map { "; the \($0.layer.rawValue) one is used instead" } ?? ""
        return Finding(
          subject: "policy file",
          verdict: .broken,
          text: "`\(entry.name)` is refused: \(reason)\(instead)"
        )
      }
    }
  }

  private static func status(
    _ configuration: ImageLoader.Configuration
  ) throws(ConfigurationError) -> PolicyStatus {
    let policies = try Policies(configuration)
    do throws(PolicyFault) {
      return try policies.status()
    } catch {
      throw ConfigurationError(error.messages)
    }
  }
}

import Feedimg
import FeedimgCache
import FeedimgModel
import FeedimgSQLite
import FeedimgSettings
import FeedimgTransfer

extension Diagnosis {
  /// Whether anything can be fetched.
  static var transfer: Finding {
    do throws(LoadError) {
      return Finding(
        subject: "libcurl",
        verdict: .ok,
        text: "images are fetched with \(try CurlVersion.text())"
      )
    } catch {
      return Finding(
        subject: "libcurl",
        verdict: .no,
        text: "nothing can be fetched: \(error.message)",
        isFatal: true
      )
    }
  }

  /// What keeps the index of the cache.
  static var index: Finding {
    Finding(
      subject: "SQLite",
      verdict: .ok,
      text: "the index of the cache is kept by SQLite \(SQLiteVersion.text)"
    )
  }

  /// Where the settings and the images are kept.
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
          text: "nothing can be kept anywhere: \(error)",
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
          without: "images are shown and not kept",
          isNeeded: true
        )
      ]
  }

  /// The images that the index names, as far as it can be told without reading them.
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
        Finding(subject: "images", verdict: .broken, text: "\(error); `feedimg cache clear` starts afresh")
      ]
    }
    guard lost == 0 else {
      let files = "the files of \(lost) of \(count) images are missing or were changed"
      return [
        Finding(subject: "images", verdict: .broken, text: "\(files); `feedimg cache verify` mends that")
      ]
    }
    return [Finding(subject: "images", verdict: .ok, text: "the index and the files agree (\(count))")]
  }

  /// How a folder is; one that is needed and cannot be written is broken.
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
        text: "\(place) is shared with other computers, whose locks may not hold"
      )
    }
    let text = state.exists ? "\(place) can be written" : "\(place) will be made when it is needed"
    return Finding(subject: subject, verdict: .ok, text: text)
  }

  /// The table that decides.
  static func policy(_ configuration: ImageLoader.Configuration) -> Finding {
    do throws(ConfigurationError) {
      let policy = try standing(configuration)
      let count = policy.ruleCount
      return Finding(
        subject: "policy",
        verdict: .ok,
        text: "`\(policy.name)` decides, with \(count) rule\(count == 1 ? "" : "s") that cover all cases"
      )
    } catch {
      let reason = error.messages.first ?? "it cannot be used"
      return Finding(
        subject: "policy",
        verdict: .no,
        text: "nothing can be decided: \(reason)",
        isFatal: true
      )
    }
  }

  /// The files of policies that cannot be used, those in force or not.
  static func refusedPolicies(_ configuration: ImageLoader.Configuration) -> [Finding] {
    guard let policies = try? Policies(configuration) else { return [] }
    return policies.list().flatMap { entry in
      entry.refusals.map { reason in
        let instead = entry.standing.map { "; the \($0.layer.rawValue) one counts instead" } ?? ""
        return Finding(
          subject: "policy file",
          verdict: .broken,
          text: "`\(entry.name)` is refused: \(reason)\(instead)"
        )
      }
    }
  }

  private static func standing(
    _ configuration: ImageLoader.Configuration
  ) throws(ConfigurationError) -> PolicyStanding {
    let policies = try Policies(configuration)
    do throws(PolicyFault) {
      return try policies.standing()
    } catch {
      throw ConfigurationError(error.messages)
    }
  }
}

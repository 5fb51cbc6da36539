import Feedimg
import FeedimgCache
import FeedimgModel
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
      + warnings + [folder("cache", FolderState(cacheFolder), without: "images are shown and not kept")]
  }

  private static func folder(_ subject: String, _ state: FolderState, without loss: String) -> Finding {
    let place = "`\(state.path)`" + (state.fileSystem.map { " on \($0)" } ?? "")
    if let obstacle = state.obstacle {
      return Finding(
        subject: subject,
        verdict: .warning,
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

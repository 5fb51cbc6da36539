import Feedimg
import FeedimgHTTPCache
import FeedimgModel
import FeedimgSQLite
import FeedimgTransfer

extension Diagnosis {
  /// Whether libcurl is available.
  static var transfer: Finding {
    do throws(LoadError) {
      return Finding("libcurl", .ok, "downloads use \(try CurlVersion.text())")
    } catch {
      return Finding("libcurl", .no, "no image can be downloaded: \(error.message)", isFatal: true)
    }
  }

  /// The library that stores the index of the cache.
  static var index: Finding {
    Finding("SQLite", .ok, "the index of the cache uses SQLite \(SQLiteVersion.text)")
  }

  /// The folders of the settings and the cache, and the warnings about the settings.
  static func folders(_ folders: Folders, _ warnings: [String]) -> [Finding] {
    let (settingsFolder, cacheFolder): (String, String)
    do throws(ConfigurationError) {
      (settingsFolder, cacheFolder) = (try folders.configuration, try folders.cache)
    } catch {
      return [Finding("folders", .no, "no folder is known for settings and cache: \(error)", isFatal: true)]
    }
    let warnings = warnings.map { Finding("settings file", .warning, $0) }
    let loss = "images are shown but not stored"
    return [folder("settings", FolderState(settingsFolder), without: "settings cannot be changed")]
      + warnings + [folder("cache", FolderState(cacheFolder), without: loss, isNeeded: true)]
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
      return [Finding("images", .broken, "\(error); run `feedimg cache clear`")]
    }
    guard lost == 0 else {
      let files = "the files of \(lost) of \(count) images are missing or changed"
      return [Finding("images", .broken, "\(files); run `feedimg cache verify`")]
    }
    return [Finding("images", .ok, "index and files match (\(count))")]
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
      let text = "\(place) cannot be written (\(obstacle)): \(loss)"
      return Finding(subject, isNeeded ? .broken : .warning, text)
    }
    if state.isShared {
      let text = "\(place) is a network file system, on which file locks may not work"
      return Finding(subject, .warning, text)
    }
    return Finding(subject, .ok, "\(place) \(state.exists ? "is writable" : "will be created when needed")")
  }

  /// The policy files with errors, then the policy in force.
  static func policies(_ configuration: ImageLoader.Configuration) -> [Finding] {
    func unusable(_ reasons: [String]) -> Finding {
      let reason = reasons.first ?? "it cannot be used"
      return Finding("policy", .no, "no policy is usable: \(reason)", isFatal: true)
    }
    let policies: Policies
    do throws(ConfigurationError) {
      policies = try Policies(configuration)
    } catch {
      return [unusable(error.messages)]
    }
    let refused = policies.list().flatMap { entry in
      entry.refusals.map { reason in
        let instead = entry.status.map { "; the \($0.layer.rawValue) one is used instead" } ?? ""
        return Finding("policy file", .broken, "`\(entry.name)` is refused: \(reason)\(instead)")
      }
    }
    do throws(PolicyFileError) {
      let policy = try policies.status()
      let rules = "\(policy.ruleCount) rule\(policy.ruleCount == 1 ? " covers" : "s cover")"
      return refused + [Finding("policy", .ok, "`\(policy.name)` is in force; its \(rules) all cases")]
    } catch {
      return refused + [unusable(error.messages)]
    }
  }
}

import FeedimgJSON
import FeedimgModel
import FeedimgPipeline
import FeedimgSettings

/// The settings of the user, for programs that show and change them.
public struct Settings: Sendable {
  /// One setting, as a list shows it.
  public struct Entry: Sendable, Hashable {
    /// The name in kebab case, such as `cache-expiry-days`.
    public var name: String
    /// The value in force.
    public var value: String
    /// Whether the user has set the value; otherwise it is the default.
    public var isSet: Bool
    /// The effect of the setting, in one line.
    public var explanation: String
  }

  /// The names of all settings.
  public static var names: [String] { SettingKey.allCases.map(\.name) }

  private let store: SettingsStore

  /// Opens the settings that a loader of this configuration would use.
  ///
  /// - Parameter configuration: Only the folder of the settings is used.
  /// - Throws: ``ConfigurationError`` if the folder is unknown.
  public init(
    _ configuration: ImageLoader.Configuration = ImageLoader.Configuration()
  ) throws(ConfigurationError) {
    store = SettingsStore(folder: try Folders(configuration).configuration)
  }

  init(_ store: SettingsStore) { self.store = store }

  /// The path of the settings file, which need not exist.
  public var path: String { store.file.path }

  /// Warnings about parts of the file that could not be used, each reported once.
  public var warnings: [String] { store.takeWarnings() }

  /// Returns all settings, in a fixed order.
  ///
  /// - Returns: One entry for each name in ``names``.
  public func entries() -> [Entry] {
    store.entries().map {
      Entry(name: $0.key.name, value: $0.value, isSet: $0.isSet, explanation: $0.key.explanation)
    }
  }

  /// The values in force, and the marks of networks if there are any, as one line of JSON.
  public var json: String { Self.json(store.currentSettings()) }

  /// Returns the value in force of a setting.
  ///
  /// - Parameter name: One of ``names``.
  /// - Returns: The value as text, such as `yes` or `512 MiB`.
  /// - Throws: ``ConfigurationError`` for an unknown name.
  public func value(of name: String) throws(ConfigurationError) -> String {
    try convertingErrors { () throws(SettingsError) in store.value(of: try SettingKey(name: name)) }
  }

  /// Changes a setting; running programs follow the change.
  ///
  /// The file holds the new value when this returns.
  ///
  /// - Parameters:
  ///   - name: One of ``names``.
  ///   - value: The value as a user types it, such as `yes` or `512 MiB`.
  /// - Throws: ``ConfigurationError`` for an invalid name or value, or a failed write; the settings then stay
  ///   unchanged.
  public func set(_ name: String, to value: String) throws(ConfigurationError) {
    try change([(name, value)])
  }

  /// Returns a setting to its default.
  ///
  /// - Parameter name: One of ``names``.
  /// - Throws: ``ConfigurationError`` for an unknown name or a failed write; the settings then stay
  ///   unchanged.
  public func unset(_ name: String) throws(ConfigurationError) {
    try change([(name, nil)])
  }

  /// Changes settings together; running programs never see only some of the changes.
  ///
  /// The file holds the new values when this returns.
  ///
  /// - Parameter changes: Names of ``names``, and values as a user types them; nil for the default.
  /// - Throws: ``ConfigurationError`` for an invalid name or value, or a failed write; the settings then stay
  ///   unchanged.
  public func change(_ changes: [(name: String, value: String?)]) throws(ConfigurationError) {
    try convertingErrors { () throws(SettingsError) in
      var known: [SettingsFile.Change] = []
      for (name, value) in changes { known.append((try SettingKey(name: name), value)) }
      try store.change(known)
    }
  }

  /// Returns the current settings at once, then each change by any program, as one line of JSON each.
  ///
  /// - Returns: A stream that ends when its consumer stops reading.
  public func changes() -> AsyncStream<String> {
    let changes = store.changes()
    return AsyncStream { continuation in
      let task = PipelineActor.task {
        var last: String?
        for await settings in changes {
          let json = Self.json(settings)
          if json != last { continuation.yield(json) }
          last = json
        }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  private static func json(_ settings: UserSettings) -> String {
    var object = JSONObject(SettingKey.allCases.map { ($0.name, $0.json(in: settings)) })
    if !settings.markedNetworks.isEmpty {
      let marks = settings.markedNetworks.sorted { $0.key.text < $1.key.text }
      object["networks"] = .object(JSONObject(marks.map { ($0.key.text, .string($0.value.word)) }))
    }
    return JSONValue.object(object).text(.compact)
  }

  private func convertingErrors<Value>(
    _ body: () throws(SettingsError) -> Value
  ) throws(ConfigurationError) -> Value {
    do throws(SettingsError) {
      return try body()
    } catch {
      let isInput = [.unknownSetting, .invalidValue, .noFolder].contains(error.code)
      throw ConfigurationError([error.message], isSystemFailure: !isInput)
    }
  }
}

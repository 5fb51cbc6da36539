import FeedimgJSON
public import FeedimgModel
import FeedimgPipeline
import FeedimgReachability
import FeedimgSettings
import Synchronization

/// The networks that the user marked as metered or unmetered.
///
/// A mark takes precedence over all reports of devices and services about the cost of data. Marks are kept
/// with the settings.
public struct NetworkMarks: Sendable {
  private let store: SettingsStore

  /// Opens the marks that a loader of this configuration would use.
  ///
  /// - Parameter configuration: Only the folder of the settings is used.
  /// - Throws: ``ConfigurationError`` if the folder is unknown.
  public init(
    _ configuration: ImageLoader.Configuration = ImageLoader.Configuration()
  ) throws(ConfigurationError) {
    store = SettingsStore(folder: try Folders(configuration).configuration)
  }

  /// Warnings about settings that could not be used, each reported once.
  public var warnings: [String] { store.takeWarnings() }

  /// Returns all marks, sorted by network name.
  ///
  /// - Returns: Each network once, with `yes` or `no`.
  public func all() -> [NetworkMark] {
    store.currentSettings().markedNetworks
      .sorted { $0.key.text < $1.key.text }
      .map { NetworkMark(network: $0.key, metered: $0.value) }
  }

  /// Marks a network; running programs follow the change.
  ///
  /// - Parameters:
  ///   - network: The network to mark.
  ///   - isMetered: Whether data costs money on this network.
  /// - Throws: ``ConfigurationError`` if the mark cannot be saved; the settings then stay unchanged.
  public func mark(_ network: NetworkName, asMetered isMetered: Bool) throws(ConfigurationError) {
    try keep(network, isMetered ? .yes : .no)
  }

  /// Removes the mark of a network.
  ///
  /// - Parameter network: The network.
  /// - Returns: Whether the network was marked.
  /// - Throws: ``ConfigurationError`` if the settings cannot be saved; they then stay unchanged.
  @discardableResult public func forget(_ network: NetworkName) throws(ConfigurationError) -> Bool {
    let isMarked = store.currentSettings().markedNetworks[network] != nil
    try keep(network, nil)
    return isMarked
  }

  /// Returns the active network, by the name under which its mark would be kept.
  ///
  /// - Returns: Nil if no network is active, or if the system does not report one.
  public static func activeNetwork() -> NetworkName? {
    // If two networks are active, the reader describes the deciding one first.
    let found = Mutex<NetworkName?>(nil)
    let reader = NetlinkReader(mark: { names in
      found.withLock { $0 = $0 ?? names.first }
      return nil
    })
    _ = reader.currentState()
    return found.withLock { $0 }
  }

  private func keep(_ network: NetworkName, _ metered: Metered?) throws(ConfigurationError) {
    do throws(SettingsError) {
      try store.mark(network, metered)
    } catch {
      throw ConfigurationError([error.message], isSystemFailure: error.code != .noFolder)
    }
  }
}

/// A network and the user's mark of it.
public struct NetworkMark: Sendable, Hashable {
  /// The name under which the mark is kept.
  public var network: NetworkName
  /// The mark: `yes` for metered, `no` for unmetered.
  public var metered: Metered
}

extension UserSettings {
  /// Returns the user's mark of a network: that of the first of its names with a mark.
  func mark(of names: [NetworkName]) -> Metered? {
    names.lazy.compactMap { markedNetworks[$0] }.first
  }
}

extension NetworkMark {
  /// The mark as one line of JSON.
  public var json: String {
    let value: JSONValue = ["network": .string(network.text), "metered": .string(metered.rawValue)]
    return value.text(.compact)
  }
}

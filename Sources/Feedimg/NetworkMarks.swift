public import FeedimgModel
import FeedimgPipeline
import FeedimgReachability
import FeedimgSettings
import Synchronization

/// The networks that the user marked as metered or not, as programs and people see and change them.
///
/// A mark goes before all that devices and services say of what data costs. It is kept with the settings.
public struct NetworkMarks: Sendable {
  private let store: SettingsStore

  /// The marks in the settings that a loader of this configuration would use.
  ///
  /// - Parameter configuration: Only the folder of the settings counts.
  /// - Throws: ``ConfigurationError`` where no folder is known.
  public init(
    _ configuration: ImageLoader.Configuration = ImageLoader.Configuration()
  ) throws(ConfigurationError) {
    store = SettingsStore(folder: try Folders(configuration).configuration)
  }

  /// What of the settings could not be used, each thing once.
  public var warnings: [String] { store.takeWarnings() }

  /// All marks, in the order of their names.
  ///
  /// - Returns: Each network once, with `yes` or `no`.
  public func all() -> [NetworkMark] {
    store.currentSettings().markedNetworks
      .sorted { $0.key.text < $1.key.text }
      .map { NetworkMark(network: $0.key, metered: $0.value) }
  }

  /// Marks a network; programs that run see it.
  ///
  /// - Parameters:
  ///   - network: The network.
  ///   - isMetered: Whether its data costs.
  /// - Throws: ``ConfigurationError``; nothing is then changed.
  public func mark(_ network: NetworkName, asMetered isMetered: Bool) throws(ConfigurationError) {
    try keep(network, isMetered ? .yes : .no)
  }

  /// Takes the mark of a network away.
  ///
  /// - Parameter network: The network.
  /// - Returns: Whether there was one.
  /// - Throws: ``ConfigurationError``; nothing is then changed.
  @discardableResult public func forget(_ network: NetworkName) throws(ConfigurationError) -> Bool {
    let isMarked = store.currentSettings().markedNetworks[network] != nil
    try keep(network, nil)
    return isMarked
  }

  /// The network that is active now, by the name under which a mark of it would be kept.
  ///
  /// - Returns: Nil while there is none, or where the system does not tell.
  public static func activeNetwork() -> NetworkName? {
    // Of two networks, the one that decides is described first.
    let found = Mutex<NetworkName?>(nil)
    let reader = NetlinkReader(mark: { identity in
      found.withLock { $0 = $0 ?? identity.name }
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

/// A network, and what the user said of its data.
public struct NetworkMark: Sendable, Hashable {
  /// What the network is remembered by.
  public var network: NetworkName
  /// `yes` or `no`.
  public var metered: Metered
}

extension UserSettings {
  /// How the user marked a network: by its name, or else by the device that carries it.
  func mark(of identity: NetworkIdentity) -> Metered? {
    markedNetworks[identity.name] ?? markedNetworks[.device(identity.device)]
  }
}

extension NetworkIdentity {
  /// What the network is remembered by.
  fileprivate var name: NetworkName {
    if let wirelessName, !wirelessName.isEmpty { .ssid(wirelessName) } else { .device(device) }
  }
}

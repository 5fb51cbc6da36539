public import FeedimgModel
import FeedimgSettings
import Glibc

extension ImageLoader {
  /// The configuration of a loader.
  ///
  /// By default, a loader uses the user's folders, the live network and the policy `default`.
  public struct Configuration: Sendable {
    /// The choice of a policy.
    public typealias Policy = PolicyChoice

    /// The folder of the disk cache; nil for `feedimg` in `$XDG_CACHE_HOME` or `~/.cache`.
    public var cacheFolder: String?
    /// The folder of `settings.json` and of the user's `policies`.
    ///
    /// Nil for `feedimg` in `$XDG_CONFIG_HOME` or `~/.config`.
    public var configurationFolder: String?
    /// The folder of the `usage` ledger; nil for `feedimg` in `$XDG_STATE_HOME` or `~/.local/state`.
    public var stateFolder: String?
    /// The folder of the administrator's `policies`.
    public var systemFolder = "/etc/feedimg"
    /// The policy that decides.
    ///
    /// The loader follows changes of its file. If the file becomes invalid, the last valid version stays in
    /// force.
    public var policy = Policy.standard
    /// Facts of the application that policies may depend on.
    public var hostFacts: [HostFact] = []
    /// Facts with a fixed value, which are not read from the machine.
    public var overrides: [SituationOverride] = []
    /// The name of the program (`User-Agent`), sent with every request, such as `Tuba/0.9`.
    public var userAgent = "feedimg"
    /// The media types that the program can decode (`Accept`), sent with every request.
    ///
    /// Servers may choose an image by it. If nil, the loader sends the types of ``decoder``, or without a
    /// decoder, ``ImageLoader/usualAccept``.
    public var accept: String?
    /// The header fields, certificates, proxy and time limits of requests.
    ///
    /// The service loads no image for which the program sets header fields, certificates or a proxy.
    public var requests = RequestOptions()
    /// Whether images may come from this machine and from private networks.
    ///
    /// Set it to false if the program loads URLs that its user did not choose.
    public var reachesPrivateHosts = true
    /// The Unix socket of a service that loads uncached images; nil to load in this process.
    ///
    /// Programs that load through `feedimg serve` share their downloads. If the service is absent, uses
    /// another cache or cannot help, the loader loads the image itself.
    public var service: String?
    /// The observers of every step of every load.
    public var observers: [any LoadObserving] = []
    /// Decodes the pixels for slots and loads; nil if the program decodes images itself.
    public var decoder: (any ImageDecoding)?
    /// Whether memory keeps images for the next view; a program that only fetches sets it to false.
    public var keepsInMemory = true
    /// The most memory for images of this loader; nil for the user's limit, which may also be lower.
    public var memoryLimit: ByteCount?
    /// The variables that the folders are derived from; by default, those of the process.
    public var environment: [String: String]

    /// Makes a configuration with the user's folders, the live network and the policy `default`.
    ///
    /// - Parameter environment: The variables to derive folders from; nil for those of the process.
    public init(environment: [String: String]? = nil) {
      self.environment = environment ?? ProcessEnvironment.variables()
    }

    /// The default socket of the user's service; nil if the session has no folder for it.
    public var usualService: String? {
      guard let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") else { return nil }
      return "\(folder)/feedimg.sock"
    }
  }
}

// The parts of a loader that a configuration describes.

extension PolicyCatalog {
  /// Finds the folders of the policies.
  ///
  /// - Throws: ``ConfigurationError`` for facts of the application that a table cannot express.
  package init(_ configuration: ImageLoader.Configuration) throws(ConfigurationError) {
    try self.init(
      hostFacts: configuration.hostFacts,
      userFolder: try? Folders(configuration).configuration,
      systemFolder: configuration.systemFolder
    )
  }
}

extension RequestIdentity {
  /// Makes the identity that a configuration describes.
  ///
  /// - Throws: ``ConfigurationError`` for an invalid field value.
  package init(_ configuration: ImageLoader.Configuration) throws(ConfigurationError) {
    var faults: [String] = []
    let accept = configuration.accept ?? ImageLoader.accept(of: configuration.decoder)
    for (name, value) in [("userAgent", configuration.userAgent), ("accept", accept)]
    where !value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) {
      faults.append("\(name): expected one line of text, found control characters")
    }
    faults += configuration.requests.faults
    guard faults.isEmpty else { throw ConfigurationError(faults) }
    self.init(userAgent: configuration.userAgent, accept: accept, requests: configuration.requests)
  }
}

extension ImageLoader {
  /// The usual formats of the web, smaller ones first (RFC 9110 §12.5.1).
  ///
  /// Any other image gets a lower weight, because feedimg recognises more formats.
  public static let usualAccept =
    "image/avif,image/webp,image/png,image/jpeg,image/gif,image/*;q=0.8,*/*;q=0.5"

  /// Returns the value of `Accept` for a decoder.
  ///
  /// Any other format gets a low weight, because a server may have only that one.
  fileprivate static func accept(of decoder: (any ImageDecoding)?) -> String {
    guard let types = decoder?.mediaTypes, !types.isEmpty else { return usualAccept }
    return (types + ["*/*;q=0.1"]).joined(separator: ",")
  }
}

/// The folders in which a loader keeps its files.
///
/// Each folder is derived on demand, so an unknown folder does not affect the others. Each throws
/// ``ConfigurationError`` if neither the configuration nor the environment names it.
package struct Folders {
  private let configured: ImageLoader.Configuration
  private let paths: SettingsPaths

  package init(_ configuration: ImageLoader.Configuration) {
    configured = configuration
    let isHomeKnown = configuration.environment["HOME"]?.hasPrefix("/") ?? false
    let home = isHomeKnown ? nil : ProcessEnvironment.accountHome()
    paths = SettingsPaths(environment: configuration.environment, home: home)
  }

  /// The folder of the cached images.
  package var cache: String {
    get throws(ConfigurationError) {
      try folder(configured.cacheFolder) { () throws(SettingsError) in try paths.cacheFolder }
    }
  }

  /// The folder of the settings and the user's policies.
  package var configuration: String {
    get throws(ConfigurationError) {
      try folder(configured.configurationFolder) { () throws(SettingsError) in try paths.configFolder }
    }
  }

  /// The folder of the usage ledger.
  package var usage: String { get throws(ConfigurationError) { "\(try state)/usage" } }

  /// The folder of the ledger and the last bandwidth.
  package var state: String {
    get throws(ConfigurationError) {
      try folder(configured.stateFolder) { () throws(SettingsError) in try paths.stateFolder }
    }
  }

  private func folder(
    _ given: String?,
    else usual: () throws(SettingsError) -> String
  ) throws(ConfigurationError) -> String {
    guard let given else {
      do throws(SettingsError) {
        return try usual()
      } catch {
        throw ConfigurationError([error.message])
      }
    }
    guard !given.isEmpty else { throw ConfigurationError(["expected a folder, found an empty path"]) }
    // Make the path absolute, because programs with another working folder may read it.
    guard !given.hasPrefix("/"), let current = getcwd(nil, 0) else { return given }
    defer { free(current) }
    let start = given.hasPrefix("./") ? given.dropFirst(2) : given[...]
    return "\(String(cString: current))/\(start)"
  }
}

/// An unusable configuration, or a user's file that cannot be read or written.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// One line for each fault, with the place and the expected value.
  public var messages: [String]
  /// Whether the system refused, so that the same input may succeed later.
  public var isSystemFailure: Bool

  package init(_ messages: [String], isSystemFailure: Bool = false) {
    self.messages = messages
    self.isSystemFailure = isSystemFailure
  }

  /// The messages, one line each.
  public var description: String { messages.joined(separator: "\n") }
}

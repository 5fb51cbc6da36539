public import FeedimgModel

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

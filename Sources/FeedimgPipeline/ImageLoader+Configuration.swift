public import FeedimgModel

extension ImageLoader {
  /// What a loader works with; the default is what a user's desktop says.
  public struct Configuration: Sendable {
    /// Which table decides.
    public enum Policy: Sendable, Hashable {
      /// The one that is called `default`.
      case standard
      /// The name of another one, or the path of a file: Markdown, or JSON if it ends in `.json`.
      case named(String)
    }

    /// The folder of the disk cache; nil for `feedimg` in `$XDG_CACHE_HOME` or `~/.cache`.
    public var cacheFolder: String?
    /// The folder of `settings.json` and of the user's `policies`; nil for `feedimg` in `$XDG_CONFIG_HOME` or
    /// `~/.config`.
    public var configurationFolder: String?
    /// The folder in which `usage` is counted; nil for `feedimg` in `$XDG_STATE_HOME` or `~/.local/state`.
    public var stateFolder: String?
    /// The folder of the administrator's `policies`.
    public var systemFolder = "/etc/feedimg"
    /// The table that decides: always as its file is now, or as it last was in order.
    public var policy = Policy.standard
    /// Facts that policies may ask about and that only the application knows.
    public var hostFacts: [HostFact] = []
    /// Facts that are given instead of read.
    public var overrides: [SituationOverride] = []
    /// Who asks (`User-Agent`), sent with every request, such as `Tuba/0.9`.
    public var userAgent = "feedimg"
    /// What the program can decode (`Accept`), sent with every request; servers may choose an image by it.
    ///
    /// Nil for what ``decoder`` decodes, or without one for ``ImageLoader/usualAccept``.
    public var accept: String?
    /// Whether images may come from this machine and from private networks; a program that loads what others than its
    /// user ask for says no.
    public var reachesPrivateHosts = true
    /// The Unix socket of a service that loads what is not cached; nil to load by oneself.
    ///
    /// Programs that load by `feedimg serve` share their downloads. Where it is not there, keeps images elsewhere or
    /// cannot help, the program loads by itself.
    public var service: String?
    /// Who hears of every step of every load.
    public var observers: [any LoadObserving] = []
    /// Makes the pixels that slots and loads are asked for; nil where the program decodes itself.
    public var decoder: (any ImageDecoding)?
    /// Whether images are kept in memory for the next who shows them; a program that only fetches says no.
    public var keepsInMemory = true
    /// What the folders are derived from; the variables of the process unless others are given.
    public var environment: [String: String]

    /// The user's own folders, the live network and the policy that comes with feedimg.
    ///
    /// - Parameter environment: The variables to derive folders from; nil for those of the process.
    public init(environment: [String: String]? = nil) {
      self.environment = environment ?? ProcessEnvironment.variables()
    }

    /// Where the user's service listens unless it was told otherwise; nil where the session has no folder for it.
    public var usualService: String? {
      guard let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") else { return nil }
      return "\(folder)/feedimg.sock"
    }
  }
}

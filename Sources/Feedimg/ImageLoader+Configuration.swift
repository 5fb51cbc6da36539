extension ImageLoader {
  /// What a loader works with; the default is what a user's desktop says.
  public struct Configuration: Sendable {
    /// Which table decides.
    public enum Policy: Sendable, Hashable {
      /// `default`, as it comes with feedimg.
      case standard
      /// The name of one that comes with feedimg, or the path of a Markdown file, which is read when the loader is made.
      case named(String)
    }

    /// The folder of the disk cache; nil for `feedimg` in `$XDG_CACHE_HOME` or `~/.cache`.
    public var cacheFolder: String?
    /// The folder of `settings.json`; nil for `feedimg` in `$XDG_CONFIG_HOME` or `~/.config`.
    public var configurationFolder: String?
    /// The table that decides.
    public var policy = Policy.standard
    /// Facts that are given instead of read.
    public var overrides: [SituationOverride] = []
    /// Sent with every request, such as `Tuba/0.9`.
    public var userAgent = "feedimg"
    /// What the folders are derived from; the variables of the process unless others are given.
    public var environment: [String: String]

    /// The user's own folders, the live network and the policy that comes with feedimg.
    ///
    /// - Parameter environment: The variables to derive folders from; nil for those of the process.
    public init(environment: [String: String]? = nil) {
      self.environment = environment ?? ProcessEnvironment.variables()
    }
  }
}

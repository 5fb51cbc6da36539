import ArgumentParser
import Feedimg
import FeedimgSystem
import Glibc

/// `feedimg serve`: one cache and one set of downloads for all clients of the user.
struct ServeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Share one cache and one set of downloads with all programs of the user, over HTTP.",
    discussion: """
      Listens on the Unix socket $XDG_RUNTIME_DIR/feedimg.sock, which only the user can open. With --port, it listens \
      on 127.0.0.1 instead; with --socket and --port, on both. Over TCP, a client must send the token in the file \
      `service-token` beside the settings. The service also accepts sockets from systemd.

      EXAMPLES
        feedimg serve
        curl --unix-socket $XDG_RUNTIME_DIR/feedimg.sock http://localhost/v1/network
        curl --unix-socket $XDG_RUNTIME_DIR/feedimg.sock http://localhost/v1/resolve --json @item.json
        curl --unix-socket $XDG_RUNTIME_DIR/feedimg.sock -G http://localhost/v1/image \\
          --data-urlencode item@item.json -o photo.jpg
        curl --unix-socket $XDG_RUNTIME_DIR/feedimg.sock -N http://localhost/v1/events
        feedimg serve --port 8080 --items feed.json
        systemctl --user enable --now feedimg.socket

      With --port, the service prints the address of a web page. The page shows the network, a feed, each decision \
      and its reason, transfers, and the cache. Its switches simulate other networks, settings and policies for the \
      page only.

      /openapi.json describes all routes. On SIGTERM, the service finishes running requests and ends. On SIGHUP, it \
      reads policies and settings again; it also notices their changes without a signal.
      """
  )

  @Option("path", "The Unix socket to listen on.", completion: .file()) var socket: String?

  @Option("number", "The port of 127.0.0.1 to listen on; 0 for any free port.") var port: Int?

  @Flag(help: "Accept clients over TCP without the token.") var noToken = false

  @Flag(
    help: "Also load from this machine and from private networks, even for clients without access to them."
  )
  var allowPrivate = false

  @Option("file", "The feed for the web page: items or a feed, as for `feedimg load`.", completion: .file())
  var items: String?

  @Option("name", "Pass this header field of clients on to the servers of images; may be repeated.")
  var forwardHeader: [String] = []

  @Option(
    "kind",
    "Serve clients that do not know feedimg: `mastodon=URL` for a Mastodon server, or `pictures`."
  )
  var gateway: String?

  @Option("new", "`new` replaces the token of the gateway, prints it and exits.") var gatewayToken: String?

  @OptionGroup var feed: FeedOptions
  @OptionGroup var situation: SituationOptions
  @Option(.state) var stateFolder: String?

  func validate() throws {
    if let port, UInt16(exactly: port) == nil {
      throw ValidationError("--port: expected a number from 0 to 65535, found \(port)")
    }
  }

  func run() throws {
    // Report invalid options here, with this program's messages.
    _ = try (situation.configuration(), feed.reader())
    try CommandError.refuseTasks()
    try becomeService()
  }

  /// The options for `feedimg-serve`.
  private var arguments: [String] {
    func option(_ name: String, _ value: String?) -> [String] { value.map { ["--\(name)=\($0)"] } ?? [] }
    return option("socket", socket) + option("port", port.map(String.init))
      + (noToken ? ["--no-token"] : []) + (allowPrivate ? ["--allow-private"] : [])
      + option("gateway", gateway) + option("gateway-token", gatewayToken)
      + option("items", items) + option("from", feed.from) + option("base", feed.base)
      + (feed.strict ? ["--strict"] : []) + forwardHeader.flatMap { option("forward-header", $0) }
      + option("network", situation.network)
      + option("metered", situation.metered) + situation.set.flatMap { option("set", $0) }
      + situation.declare.flatMap { option("declare", $0) }
      + option("policy", situation.policy) + option("cache-dir", situation.cacheFolder)
      + option("config-dir", situation.configurationFolder)
      + option("state-dir", stateFolder)
  }

  /// Replaces this program with `feedimg-serve`; the process ID stays, which service managers need.
  ///
  /// It is a separate program, so that other commands do not load the libraries of the service.
  private func becomeService() throws(CommandError) -> Never {
    let path = ProcessEnvironment.programFolder() + "feedimg-serve"
    var pointers = ([path] + arguments).map { strdup($0) } + [nil]
    execv(path, &pointers)
    let code = errno
    throw CommandError(.failure, "`\(path)`: cannot run: \(FileError.words(for: code))")
  }
}

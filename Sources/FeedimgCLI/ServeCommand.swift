import ArgumentParser
import Feedimg
import Glibc

/// `feedimg serve`: one cache and one set of downloads for all clients of the user.
struct ServeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve all clients of the user over HTTP: one cache, one set of downloads.",
    discussion: """
      Listens on the Unix socket $XDG_RUNTIME_DIR/feedimg.sock, which the user alone can open. With --port it \
      listens on 127.0.0.1 instead, and with both options on both; a client over TCP brings the token that is \
      kept in the file `service-token` beside the settings. Sockets that systemd passes are taken as they are.

      EXAMPLES
        feedimg serve
        curl --unix-socket $XDG_RUNTIME_DIR/feedimg.sock http://localhost/v1/network
        curl --unix-socket $XDG_RUNTIME_DIR/feedimg.sock http://localhost/v1/resolve --json @item.json
        curl --unix-socket $XDG_RUNTIME_DIR/feedimg.sock -G http://localhost/v1/image \\
          --data-urlencode item@item.json -o photo.jpg
        curl --unix-socket $XDG_RUNTIME_DIR/feedimg.sock -N http://localhost/v1/events
        feedimg serve --port 8080 --items feed.json
        systemctl --user enable --now feedimg.socket

      With --port there is a page to look at: open the address that is printed. It shows the network, a feed, \
      what is decided about each picture and why, transfers, and the cache; its switches try other networks, \
      settings and policies for the page alone.

      /openapi.json describes all routes. SIGTERM finishes what clients wait for and ends; SIGHUP reads policies \
      and settings again, which happens by itself as well whenever they are used.
      """
  )

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The Unix socket to listen on.", valueName: "path"),
    completion: .file()
  )
  var socket: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The port of 127.0.0.1 to listen on; 0 for any.", valueName: "number")
  )
  var port: Int?

  @Flag(help: "Let clients over TCP do without the token.") var noToken = false

  @Flag(
    help: "Also load from this machine and from private networks, which clients could not reach themselves."
  )
  var allowPrivate = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The feed that the page shows: items as `feedimg load --item` takes them.",
      valueName: "file"
    ),
    completion: .file()
  )
  var items: String?

  @OptionGroup var situation: SituationOptions
  @OptionGroup var state: StateFolderOption

  func validate() throws {
    if let port, UInt16(exactly: port) == nil {
      throw ValidationError("--port: expected a number from 0 to 65535, found \(port)")
    }
  }

  func run() throws {
    // What the other program would say of them in other words.
    _ = try situation.configuration()
    try CommandFailure.refuseTasksWithoutProc()
    try ServiceProgram.become(with: arguments)
  }

  /// The options as the other program takes them.
  private var arguments: [String] {
    func option(_ name: String, _ value: String?) -> [String] { value.map { ["--\(name)=\($0)"] } ?? [] }
    return option("socket", socket) + option("port", port.map(String.init))
      + (noToken ? ["--no-token"] : []) + (allowPrivate ? ["--allow-private"] : [])
      + option("items", items) + option("network", situation.network)
      + option("metered", situation.metered) + situation.set.flatMap { option("set", $0) }
      + option("policy", situation.policy) + option("cache-dir", situation.cache.cacheFolder)
      + option("config-dir", situation.settings.configurationFolder)
      + option("state-dir", state.stateFolder)
  }
}

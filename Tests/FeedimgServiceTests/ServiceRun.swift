import FoundationEssentials
import Glibc

/// The real service as a process of its own, in folders of its own.
///
/// It runs until the test releases it.
final class ServiceRun: Sendable {
  let root: String
  private let process: pid_t
  private let notices: Int32
  /// Removed with the last run in it.
  private let folder: Folder

  /// Starts the service and returns when it is ready.
  ///
  /// - Parameters:
  ///   - arguments: The arguments of `feedimg-serve`.
  ///   - allowsPrivate: Whether it may contact servers of this machine, such as those of tests.
  ///   - other: A run whose folders to share.
  ///   - wrapper: A program with its arguments that becomes the service.
  ///   - environment: Variables besides those of the folders.
  /// - Throws: ``RunFailure`` with its message if it does not become ready.
  init(
    _ arguments: [String] = [],
    allowsPrivate: Bool = true,
    besides other: ServiceRun? = nil,
    wrapper: [String] = [],
    environment: [String: String] = [:]
  ) throws {
    folder = try other?.folder ?? Folder()
    root = folder.path
    notices = try Self.listen(at: "\(root)/notices")
    process = try Self.spawn(
      wrapper + [Self.program] + (allowsPrivate ? ["--allow-private"] : []) + arguments,
      Self.variables(root).merging(["NOTIFY_SOCKET": "\(root)/notices"]) { $1 }
        .merging(environment) { $1 },
      errors: "\(root)/errors"
    )
    let first = notice()
    guard first.hasPrefix("READY=1") else { throw RunFailure("not ready: \(first) \(errors)") }
  }

  deinit {
    kill(process, SIGKILL)
    while waitpid(process, nil, 0) < 0, errno == EINTR {}
    close(notices)
  }

  /// The same on Wi-Fi, on the Unix socket and on a port, without a token.
  static func onBothSockets() throws -> ServiceRun {
    try ServiceRun(
      ["--network=wifi", "--port=0", "--no-token"],
      wrapper: ["/bin/sh", "-c", #"exec "$@" --socket="$XDG_RUNTIME_DIR/feedimg.sock""#, "sh"]
    )
  }

  /// The port that it listens on, if any.
  var port: UInt16? {
    errors.split(separator: "\n").first { $0.contains("http://") }?.split(separator: ":").last
      .flatMap { UInt16($0) }
  }

  /// The value of a gauge of the service.
  ///
  /// - Throws: ``RunFailure`` if there is none with this name.
  func number(_ name: String) throws -> Int {
    let line = try curl("/metrics").text.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
    guard let number = line.flatMap({ Int($0.dropFirst(name.count + 1)) }) else {
      throw RunFailure("no \(name)")
    }
    return number
  }

  /// The standard error output of the service.
  var errors: String {
    (try? Data(contentsOf: URL(filePath: "\(root)/errors"))).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// The most memory that the service has taken so far, in bytes (`proc_pid_status(5)`, `VmHWM`).
  var peakMemory: Int {
    get throws {
      let status = String(
        decoding: try Data(contentsOf: URL(filePath: "/proc/\(process)/status")),
        as: UTF8.self
      )
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      guard let number = line?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
        throw RunFailure("no peak memory")
      }
      return number << 10
    }
  }

  /// Where the service listens by default.
  var socket: String { "\(root)/feedimg.sock" }

  /// The next message to the service manager.
  ///
  /// Waits for it, or for the end of the service.
  func notice() -> String {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while true {
      var ready = pollfd(fd: notices, events: Int16(POLLIN), revents: 0)
      // Checks every half second whether the service still runs.
      if poll(&ready, 1, 500) == 0 {
        // The last message before its end has arrived by then.
        if kill(process, 0) != 0 || hasEnded, poll(&ready, 1, 0) == 0 { return "ended" }
        continue
      }
      let count = recv(notices, &bytes, bytes.count, 0)
      if count > 0 { return String(decoding: bytes.prefix(count), as: UTF8.self) }
    }
  }

  private var hasEnded: Bool {
    var information = siginfo_t()
    // Leaves the process to be waited for.
    return waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT) == 0
      && information.si_signo == SIGCHLD
  }

  func signal(_ number: Int32) { kill(process, number) }

  /// Returns the exit status when the service has ended, or the signal as a shell shows it.
  func end() -> Int32 {
    var information = siginfo_t()
    while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    return information.si_code == CLD_EXITED ? information._sifields._sigchld.si_status : 128
  }

  /// Sends a request by curl over the Unix socket.
  ///
  /// - Parameter arguments: The arguments of curl. An argument that begins with a slash is a target of the
  ///   service.
  /// - Returns: The response of the service.
  /// - Throws: ``RunFailure`` if there is no response.
  func curl(_ arguments: String...) throws -> CurlResponse { try CurlResponse(of: try request(arguments)) }

  /// Starts a request by curl.
  func request(_ arguments: [String]) throws -> CurlRun {
    let targets = arguments.map {
      $0 == "/" || $0.hasPrefix("/v1") || $0.hasPrefix("/o") || $0.hasPrefix("/h") || $0.hasPrefix("/m")
        || $0.hasPrefix("/p") ? "http://localhost\($0)" : $0
    }
    return try CurlRun(["--unix-socket", socket] + targets)
  }

  static func variables(_ root: String) -> [String: String] {
    [
      "HOME": root, "XDG_RUNTIME_DIR": root, "XDG_CACHE_HOME": "\(root)/cache",
      "XDG_CONFIG_HOME": "\(root)/config", "PATH": "/usr/bin:/bin",
    ]
  }

  /// The binary that was built with the tests.
  static let program: String = {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.map { readlink("/proc/self/exe", $0, bytes.count) } ?? 0
    }
    let tests = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    return (tests.lastIndex(of: "/").map { String(tests[...$0]) } ?? "") + "feedimg-serve"
  }()

  /// Starts a program with only these variables.
  static func spawn(
    _ command: [String],
    _ variables: [String: String],
    output: Int32? = nil,
    errors: String = "/dev/null"
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    if let output {
      posix_spawn_file_actions_adddup2(&actions, output, 1)
    } else {
      posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    }
    posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    var words = command.map { strdup($0) } + [nil]
    var names = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for word in words + names { free(word) } }
    var process = pid_t()
    let code = posix_spawn(&process, command[0], &actions, nil, &words, &names)
    guard code == 0 else { throw RunFailure("cannot run \(command[0]): \(code)") }
    return process
  }

  private static func listen(at path: String) throws -> Int32 {
    unlink(path)
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    guard isBound else { throw RunFailure("cannot bind \(path)") }
    return descriptor
  }

  /// Removes the folder with the last reference.
  private final class Folder: Sendable {
    let path = "/tmp/feedimg-\(UUID().uuidString)"

    init() throws {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
  }
}

/// Why a program could not be run.
struct RunFailure: Error {
  let message: String

  init(_ message: String) { self.message = message }
}

import Feedimg
import FeedimgSystem
import Glibc

extension Diagnosis {
  /// The service's socket and token.
  static func service(_ configuration: ImageLoader.Configuration) -> [Finding] {
    [configuration.usualService.map(listener), token(configuration), gateway(configuration)].compactMap(
      \.self
    )
  }

  /// Whether the gateway responds; nil if no service has one.
  private static func gateway(_ configuration: ImageLoader.Configuration) -> Finding? {
    func finding(_ verdict: Verdict, _ text: String) -> Finding { Finding("gateway", verdict, text) }
    guard let gateway = GatewayStatus(configuration) else { return nil }
    guard let address = gateway.address else {
      let fault = "the service listens on no port, so no client can use its gateway"
      return finding(.warning, "\(fault); add `--port 8080`")
    }
    guard gateway.isReached else {
      return finding(
        .warning,
        "the gateway at `\(address)` does not respond; start `feedimg serve` again"
      )
    }
    let server = gateway.server.map { " and serves the API of `\($0)`" } ?? ""
    let advice = "`feedimg gateway` prints the settings of clients"
    return finding(.ok, "the gateway at `\(address)` responds\(server); \(advice)")
  }

  private static func listener(_ path: String) -> Finding {
    func finding(_ verdict: Verdict, _ text: String) -> Finding { Finding("service", verdict, text) }
    var status = stat()
    guard lstat(path, &status) == 0 else {
      return finding(.ok, "`feedimg serve` is not running; each program downloads its own images")
    }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      return finding(.broken, "`\(path)` is not a socket; remove it so that `feedimg serve` can listen there")
    }
    return switch connect(to: path) {
    case 0: finding(.ok, "a service listens at `\(path)`")
    case ECONNREFUSED:
      finding(.broken, "no service listens at `\(path)`; remove that socket or start `feedimg serve`")
    case let code: finding(.warning, "`\(path)` cannot be reached (\(FileError.words(for: code)))")
    }
  }

  /// The file mode of the service's token, which other users must not read; nil if there is no token.
  private static func token(_ configuration: ImageLoader.Configuration) -> Finding? {
    guard let folder = try? Folders(configuration).configuration else { return nil }
    let path = "\(folder)/service-token"
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    let isPrivate = status.st_mode & 0o077 == 0
    let fault = "other users can read `\(path)` and use the service"
    let advice = "remove the file, and the service creates a new one"
    return isPrivate
      ? Finding("token", .ok, "only you can read `\(path)`")
      : Finding("token", .broken, "\(fault); \(advice)")
  }

  /// Connects to a Unix socket and closes the connection; returns zero, or `errno` on failure.
  private static func connect(to path: String) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let isShort = withUnsafeMutableBytes(of: &address.sun_path) { room in
      guard path.utf8.count < room.count else { return false }
      room.copyBytes(from: path.utf8)
      return true
    }
    guard isShort else { return ENAMETOOLONG }
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    let result = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    return result == 0 ? 0 : errno
  }
}

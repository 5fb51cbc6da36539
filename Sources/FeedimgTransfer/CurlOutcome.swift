import CCurl
import FeedimgModel
import Glibc

/// How libcurl ended a transfer, and what to tell people about it.
///
/// Codes and wording are those of libcurl 7.88.
struct CurlOutcome {
  /// How far a transfer has come.
  struct Progress {
    var origin: Origin
    var requestWasSent = false
    var head: ResponseHead?
    var received = 0

    /// Such as `100 of 250 bytes`.
    var words: String {
      let unit = (head?.contentLength ?? received) == 1 ? "byte" : "bytes"
      return head?.contentLength.map { "\(received) of \($0) \(unit)" } ?? "\(received) \(unit)"
    }
  }

  var code: CURLcode
  /// libcurl's own words on this transfer.
  var text: String
  /// The `errno` of the call that failed, or 0.
  var systemError: Int32 = 0
  /// The lack of descriptors that it may have failed for.
  var shortage: DescriptorShortage?
  /// The time limit that libcurl was given to connect.
  var connectTimeout: Duration = .zero

  /// The response ended within its head, which libcurl takes for success.
  static let headBroken = LoadError(
    .connection,
    message: "the connection ended within the head of the answer"
  )

  /// The error; nil for success.
  func error(_ progress: Progress) -> LoadError? {
    var error = described(progress)
    error?.wasRefused = isRefusal && progress.head == nil
    error?.wasUnreachable = isUnreachable
    return error
  }

  /// Whether packets came back that refused or ended the connection.
  private var isRefusal: Bool {
    switch code {
    case CURLE_COULDNT_CONNECT: systemError == ECONNREFUSED || systemError == ECONNRESET
    case CURLE_RECV_ERROR, CURLE_SEND_ERROR: systemError == ECONNRESET || systemError == EPIPE
    case CURLE_GOT_NOTHING: systemError == 0
    default: false
    }
  }

  private var isUnreachable: Bool {
    code == CURLE_COULDNT_CONNECT && [EHOSTUNREACH, ENETUNREACH].contains(systemError)
  }

  private func described(_ progress: Progress) -> LoadError? {
    guard code != CURLE_OK else { return nil }
    if let shortage = shortage ?? DescriptorShortage(systemError) { return shortage.error }
    let host = progress.origin.host
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST:
      return LoadError(.unknownHost, message: "the host `\(host)` could not be found")
    case CURLE_COULDNT_RESOLVE_PROXY:
      return LoadError(.unknownHost, message: "the proxy could not be found: \(detail)")
    case CURLE_COULDNT_CONNECT:
      return LoadError(.connection, message: "no connection to \(endpoint(progress.origin)): \(reason)")
    case CURLE_PROXY, CURLE_INTERFACE_FAILED:
      return LoadError(.connection, message: "no connection to \(endpoint(progress.origin)): \(detail)")
    case CURLE_OPERATION_TIMEDOUT:
      return timeout(host)
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING,
      CURLE_URL_MALFORMAT, CURLE_OUT_OF_MEMORY:
      return refusal(progress)
    case CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP2,
      CURLE_HTTP2_STREAM:
      return breakdown(progress)
    default:
      return security(host) ?? LoadError(.connection, message: detail)
    }
  }

  /// The exceeded limit in words.
  static func error(_ limit: Timeouts.Limit, _ progress: Progress) -> LoadError {
    switch limit {
    case .answer(let time): LoadError(.timeout, message: "no answer came within \(time.words)")
    case .stall(let time) where progress.head == nil:
      LoadError(.timeout, message: "nothing came for \(time.words) within the head of the answer")
    case .stall(let time):
      LoadError(.timeout, message: "nothing came for \(time.words) after \(progress.words)")
    case .head(let time):
      LoadError(.timeout, message: "the head of the answer did not end within \(time.words)")
    case .rate(let time):
      LoadError(
        .timeout,
        message:
          "less than \(Timeouts.leastRate) bytes a second came for \(time.words), after \(progress.words)"
      )
    case .total(let time):
      LoadError(.timeout, message: "the transfer took longer than \(time.words), after \(progress.words)")
    }
  }

  // MARK: Groups of codes

  /// libcurl keeps only the limit to connect.
  private func timeout(_ host: String) -> LoadError {
    let step =
      if text.hasPrefix("Resolving") {
        "the name of the host `\(host)` was not resolved"
      } else if text.contains("SSL") {
        "the TLS handshake with the host `\(host)` did not end"
      } else {
        "no connection to the host `\(host)`"
      }
    return LoadError(.timeout, message: "\(step) within \(connectTimeout.words)")
  }

  private func refusal(_ progress: Progress) -> LoadError {
    switch code {
    case CURLE_BAD_CONTENT_ENCODING:
      LoadError(.malformed, message: "the content coding of the body is broken: \(detail)")
    case CURLE_URL_MALFORMAT:
      LoadError(.unknownHost, message: "the host `\(progress.origin.host)` cannot be looked up: \(detail)")
    case CURLE_OUT_OF_MEMORY where progress.requestWasSent && progress.head == nil:
      // 7.88 says so of a line in a head over its limit of 100 KiB; later versions say CURLE_TOO_LARGE.
      LoadError(.malformed, message: "a line in the head of the answer is too long")
    case CURLE_OUT_OF_MEMORY:
      LoadError(.unavailable, message: "libcurl ran out of memory")
    case CURLE_UNSUPPORTED_PROTOCOL where text.hasPrefix("Protocol "):
      LoadError(.unavailable, message: "libcurl was built without support: \(detail)")
    case CURLE_UNSUPPORTED_PROTOCOL where text.contains("HTTP/0.9"):
      LoadError(.malformed, message: "the answer is not HTTP")
    default:
      LoadError(.malformed, message: "the answer breaks HTTP: \(detail)")
    }
  }

  private func breakdown(_ progress: Progress) -> LoadError {
    if text.contains("chunked-encoding") {
      return LoadError(.malformed, message: "the chunks of the body are broken after \(progress.words)")
    }
    guard progress.head != nil else {
      if text.contains("CONNECT") {
        return LoadError(.connection, message: "the proxy failed: \(detail)")
      }
      let fact = systemError == 0 ? "" : ": \(reason)"
      let isQuiet = code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR
      return LoadError(
        .connection,
        message: isQuiet ? "the server closed the connection without an answer\(fact)" : detail
      )
    }
    guard code != CURLE_PARTIAL_FILE && !endsQuietly else {
      return LoadError(.truncated, message: "the body ended after \(progress.words)")
    }
    return LoadError(.connection, message: "the connection broke after \(progress.words): \(reason)")
  }

  /// Whether TLS ended without saying so, and no reset came.
  private var endsQuietly: Bool { code == CURLE_RECV_ERROR && systemError == 0 && text.contains("eof") }

  private func security(_ host: String) -> LoadError? {
    switch code {
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS,
      CURLE_SSL_PINNEDPUBKEYNOTMATCH:
      Self.refusal(
        code,
        LoadError(.security, message: "the certificate of the host `\(host)` was refused: \(detail)")
      )
    case CURLE_SSL_CACERT_BADFILE:
      LoadError(
        .security,
        message: "the system's certificates cannot be read, install the Debian package ca-certificates"
      )
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED,
      CURLE_SSL_CERTPROBLEM, CURLE_USE_SSL_FAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_SHUTDOWN_FAILED,
      CURLE_SSL_CRL_BADFILE, CURLE_SSL_CLIENTCERT:
      LoadError(.security, message: "the TLS handshake with the host `\(host)` failed: \(detail)")
    default: nil
    }
  }

  /// A certificate for another host may be that of a network that asks for a login first.
  private static func refusal(_ code: CURLcode, _ error: LoadError) -> LoadError {
    var error = error
    error.suspectsCaptivePortal = code == CURLE_PEER_FAILED_VERIFICATION
    return error
  }

  // MARK: Words

  /// The host and port that libcurl tried, which is a proxy's where one is used.
  private func endpoint(_ origin: Origin) -> String {
    let words = text.split(separator: " ")
    if text.hasPrefix("Failed to connect to"), words.count > 6, words[5] == "port" {
      return "\(words[4]) port \(words[6])"
    }
    return "\(origin.host) port \(origin.port)"
  }

  private var reason: String {
    guard systemError != 0, let text = strerror(systemError) else { return detail }
    return Self.lowered(String(cString: text))
  }

  private var detail: String {
    let known = [
      "SSL certificate problem: ", "SSL: ", "OpenSSL ", "Error while processing content unencoding: ",
    ]
    let prefix = known.first { text.hasPrefix($0) } ?? ""
    return Self.lowered(text.dropFirst(prefix.count))
  }

  /// One line without a full stop, and without a capital at its start unless it is a name's.
  private static func lowered(_ text: some StringProtocol) -> String {
    let line = text.prefix { !$0.isNewline }
    let trimmed = line.hasSuffix(".") ? line.dropLast() : line[...]
    // Such as `HTTP/2` and `OpenSSL/3.0.19:`.
    let isName = trimmed.prefix { $0 != " " }.dropFirst().contains(where: \.isUppercase)
    return isName ? String(trimmed) : trimmed.prefix(1).lowercased() + trimmed.dropFirst()
  }
}

/// The lack of a descriptor for a socket or file, which is no fault of the server or network.
enum DescriptorShortage: Sendable {
  /// This process has as many as it may.
  case process
  /// All processes together have as many as the system has.
  case system

  /// - Parameter error: An `errno` of socket(2) or open(2); nil for other errors.
  init?(_ error: Int32) {
    switch error {
    case EMFILE: self = .process
    case ENFILE: self = .system
    default: return nil
    }
  }

  /// The probable shortage behind a failure without an `errno`: name look-ups and certificates need descriptors too.
  ///
  /// - Returns: Nil for other failures, and once there are descriptors again.
  static func behind(_ code: CURLcode) -> DescriptorShortage? {
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_SSL_CACERT_BADFILE,
      CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT:
      break
    default: return nil
    }
    let probe = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard probe >= 0 else { return DescriptorShortage(errno) }
    close(probe)
    return nil
  }

  var error: LoadError {
    let message =
      switch self {
      case .process: "too many open files: raise the limit of the program (`ulimit -n`)"
      case .system: "too many open files on this machine: raise its limit (`fs.file-max`)"
      }
    var error = LoadError(.unavailable, message: message)
    error.isShortage = true
    return error
  }
}

import CCurl
import FeedimgModel
import Glibc

/// The result of a transfer in libcurl, and the error message for it.
///
/// The codes and texts are those of libcurl 7.88.
struct CurlOutcome {
  /// The state that a transfer has reached.
  struct Progress {
    var url: ImageURL
    var requestWasSent = false
    var head: ResponseHead?
    var received = 0

    /// The received part of the body, such as `100 of 250 bytes`.
    var words: String {
      let unit = (head?.contentLength ?? received) == 1 ? "byte" : "bytes"
      return head?.contentLength.map { "\(received) of \($0) \(unit)" } ?? "\(received) \(unit)"
    }
  }

  var code: CURLcode
  /// libcurl's error text for this transfer.
  var text: String
  /// The `errno` of the system call that failed, or 0.
  var systemError: Int32 = 0
  /// The shortage of descriptors that may have caused the failure.
  var shortage: LoadError?
  /// The time limit for the connection.
  var connectTimeout: Duration = .zero

  /// The error for a response that ended within its head; libcurl reports success for it.
  static let headTruncated = LoadError(
    .connection,
    message: "the connection closed before the response header ended"
  )

  /// The error; nil for success.
  func error(_ progress: Progress) -> LoadError? {
    var error = described(progress)
    if isRefusal, progress.head == nil, error?.cause == nil { error?.cause = .connectionRefused }
    return error
  }

  /// Whether the other side refused, reset or closed the connection.
  private var isRefusal: Bool {
    switch code {
    case CURLE_COULDNT_CONNECT: systemError == ECONNREFUSED || systemError == ECONNRESET
    case CURLE_RECV_ERROR, CURLE_SEND_ERROR: systemError == ECONNRESET || systemError == EPIPE
    case CURLE_GOT_NOTHING: systemError == 0
    default: false
    }
  }

  private func described(_ progress: Progress) -> LoadError? {
    guard code != CURLE_OK else { return nil }
    if let shortage = shortage ?? LoadError.descriptorShortage(systemError) { return shortage }
    let host = progress.url.host
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST:
      return LoadError(.unknownHost, message: "the host `\(host)` could not be found")
    case CURLE_COULDNT_RESOLVE_PROXY:
      return LoadError(.unknownHost, message: "the proxy could not be found: \(detail)")
    case CURLE_COULDNT_CONNECT:
      return LoadError(.connection, message: "no connection to \(endpoint(progress.url)): \(reason)")
    case CURLE_PROXY, CURLE_INTERFACE_FAILED:
      return LoadError(.connection, message: "no connection to \(endpoint(progress.url)): \(detail)")
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

  /// The error for an exceeded time limit.
  static func error(_ limit: Timeouts.Limit, _ progress: Progress) -> LoadError {
    switch limit {
    case .response(let time): LoadError(.timeout, message: "no response within \(time.words)")
    case .stall(let time) where progress.head == nil:
      LoadError(.timeout, message: "no data for \(time.words) before the response header ended")
    case .stall(let time):
      LoadError(.timeout, message: "no data for \(time.words) after \(progress.words)")
    case .total(let time):
      LoadError(.timeout, message: "the transfer took longer than \(time.words), after \(progress.words)")
    }
  }

  // MARK: Groups of codes

  /// The error for a connect timeout; ``Timeouts`` handles all other time limits.
  private func timeout(_ host: String) -> LoadError {
    let step =
      if text.hasPrefix("Resolving") {
        "the host name `\(host)` was not resolved"
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
      LoadError(.malformed, message: "cannot decode the content coding of the body: \(detail)")
    case CURLE_URL_MALFORMAT:
      LoadError(.unknownHost, message: "the host name `\(progress.url.host)` is invalid: \(detail)")
    case CURLE_OUT_OF_MEMORY where progress.requestWasSent && progress.head == nil:
      // libcurl 7.88 returns this for a header line over 100 KiB; later versions return CURLE_TOO_LARGE.
      LoadError(.malformed, message: "a line of the response header is too long")
    case CURLE_OUT_OF_MEMORY:
      LoadError(.unavailable, message: "libcurl ran out of memory")
    case CURLE_UNSUPPORTED_PROTOCOL where text.hasPrefix("Protocol "):
      LoadError(.unavailable, message: "libcurl was built without support: \(detail)")
    case CURLE_UNSUPPORTED_PROTOCOL where text.contains("HTTP/0.9"):
      LoadError(.malformed, message: "the response is not HTTP")
    default:
      LoadError(.malformed, message: "the response violates HTTP: \(detail)")
    }
  }

  private func breakdown(_ progress: Progress) -> LoadError {
    if text.contains("chunked-encoding") {
      return LoadError(.malformed, message: "the chunked body is invalid after \(progress.words)")
    }
    guard progress.head != nil else {
      if text.contains("CONNECT") {
        return LoadError(.connection, message: "the proxy failed: \(detail)")
      }
      let fact = systemError == 0 ? "" : ": \(reason)"
      let isQuiet = code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR
      return LoadError(
        .connection,
        message: isQuiet ? "the server closed the connection without a response\(fact)" : detail
      )
    }
    guard code != CURLE_PARTIAL_FILE && !endsQuietly else {
      return LoadError(.truncated, message: "the body ended after \(progress.words)")
    }
    return LoadError(.connection, message: "the connection failed after \(progress.words): \(reason)")
  }

  /// Whether the connection closed without a TLS `close_notify` and without a reset.
  private var endsQuietly: Bool { code == CURLE_RECV_ERROR && systemError == 0 && text.contains("eof") }

  private func security(_ host: String) -> LoadError? {
    switch code {
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS,
      CURLE_SSL_PINNEDPUBKEYNOTMATCH:
      var error = LoadError(
        .security,
        message: "the certificate of the host `\(host)` was rejected: \(detail)"
      )
      // A captive portal may have sent its own certificate.
      if code == CURLE_PEER_FAILED_VERIFICATION { error.cause = .captivePortal }
      return error
    case CURLE_SSL_CACERT_BADFILE:
      return LoadError(
        .security,
        message: "cannot read the system's certificates; install the Debian package ca-certificates"
      )
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED,
      CURLE_SSL_CERTPROBLEM, CURLE_USE_SSL_FAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_SHUTDOWN_FAILED,
      CURLE_SSL_CRL_BADFILE, CURLE_SSL_CLIENTCERT:
      return LoadError(.security, message: "the TLS handshake with the host `\(host)` failed: \(detail)")
    default: return nil
    }
  }

  // MARK: Words

  /// The host and port that libcurl tried; those of the proxy if there is one.
  private func endpoint(_ url: ImageURL) -> String {
    let words = text.split(separator: " ")
    if text.hasPrefix("Failed to connect to"), words.count > 6, words[5] == "port" {
      return "\(words[4]) port \(words[6])"
    }
    // Without a port, the text after the last colon is no number.
    let port = url.origin.split(separator: ":").last.flatMap { Int($0) } ?? (url.isSecure ? 443 : 80)
    return "\(url.host) port \(port)"
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

  /// Returns the first line without a full stop, and in lower case at its start unless it starts with a name.
  private static func lowered(_ text: some StringProtocol) -> String {
    let line = text.prefix { !$0.isNewline }
    let trimmed = line.hasSuffix(".") ? line.dropLast() : line[...]
    // Such as `HTTP/2` and `OpenSSL/3.0.19:`.
    let isName = trimmed.prefix { $0 != " " }.dropFirst().contains(where: \.isUppercase)
    return isName ? String(trimmed) : trimmed.prefix(1).lowercased() + trimmed.dropFirst()
  }
}

extension LoadError {
  /// The error for a shortage of file descriptors, for which neither the server nor the network is to blame.
  ///
  /// - Parameter error: The `errno` of socket(2) or open(2).
  /// - Returns: Nil for other errors.
  static func descriptorShortage(_ error: Int32) -> LoadError? {
    let message: String
    switch error {
    case EMFILE: message = "too many open files: raise the limit of the program (`ulimit -n`)"
    case ENFILE: message = "too many open files on this machine: raise its limit (`fs.file-max`)"
    default: return nil
    }
    var shortage = LoadError(.unavailable, message: message)
    shortage.cause = .shortage
    return shortage
  }

  /// The probable shortage behind a failure for which libcurl reports no `errno`.
  ///
  /// Name look-ups and certificate files need descriptors too.
  ///
  /// - Returns: Nil for other failures, and if a descriptor is available now.
  static func descriptorShortage(behind code: CURLcode) -> LoadError? {
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_SSL_CACERT_BADFILE,
      CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT:
      break
    default: return nil
    }
    let probe = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard probe >= 0 else { return descriptorShortage(errno) }
    close(probe)
    return nil
  }
}

import CCurl
import FeedimgModel
import Glibc
import Testing

@testable import FeedimgTransfer

struct CurlOutcomeTests {
  /// The message of libcurl, and that of feedimg.
  struct Row: Sendable, CustomTestStringConvertible {
    var code: CURLcode
    var text: String
    var systemError: Int32
    var expected: LoadError.Code
    var message: String
    var testDescription: String { "\(code.rawValue) \(text)" }

    init(
      _ code: CURLcode,
      _ text: String,
      errno systemError: Int32 = 0,
      _ expected: LoadError.Code,
      _ message: String
    ) {
      (self.code, self.text, self.systemError) = (code, text, systemError)
      (self.expected, self.message) = (expected, message)
    }
  }

  static let beforeTheResponse = [
    Row(
      CURLE_COULDNT_RESOLVE_HOST,
      "Could not resolve host: img.test",
      .unknownHost,
      "the host `img.test` could not be found"
    ),
    Row(
      CURLE_COULDNT_RESOLVE_PROXY,
      "Could not resolve proxy: px.test",
      .unknownHost,
      "the proxy could not be found: could not resolve proxy: px.test"
    ),
    Row(
      CURLE_COULDNT_CONNECT,
      "Failed to connect to 10.0.0.7 port 3128 after 0 ms: Couldn't connect to server",
      errno: ECONNREFUSED,
      .connection,
      "no connection to 10.0.0.7 port 3128: connection refused"
    ),
    Row(
      CURLE_COULDNT_CONNECT,
      "",
      errno: ENETUNREACH,
      .connection,
      "no connection to img.test port 8443: network is unreachable"
    ),
    Row(
      CURLE_COULDNT_CONNECT,
      "Failed to connect to img.test port 8443 after 0 ms: Couldn't connect to server",
      errno: EMFILE,
      .unavailable,
      "too many open files: raise the limit of the program (`ulimit -n`)"
    ),
    Row(
      CURLE_COULDNT_RESOLVE_HOST,
      "Could not resolve host: img.test",
      errno: ENFILE,
      .unavailable,
      "too many open files on this machine: raise its limit (`fs.file-max`)"
    ),
    Row(
      CURLE_SSL_CONNECT_ERROR,
      "OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong version number",
      .security,
      "the TLS handshake with the host `img.test` failed: "
        + "OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong version number"
    ),
    Row(
      CURLE_OPERATION_TIMEDOUT,
      "Resolving timed out after 1501 milliseconds",
      .timeout,
      "the host name `img.test` was not resolved within 1500 ms"
    ),
    Row(
      CURLE_OPERATION_TIMEDOUT,
      "Connection timed out after 1501 milliseconds",
      .timeout,
      "no connection to the host `img.test` within 1500 ms"
    ),
    Row(
      CURLE_OPERATION_TIMEDOUT,
      "SSL connection timeout",
      .timeout,
      "the TLS handshake with the host `img.test` did not end within 1500 ms"
    ),
    Row(
      CURLE_PEER_FAILED_VERIFICATION,
      "SSL certificate problem: self-signed certificate",
      .security,
      "the certificate of the host `img.test` was rejected: self-signed certificate"
    ),
    Row(
      CURLE_PEER_FAILED_VERIFICATION,
      "SSL: no alternative certificate subject name matches target host name 'img.test'",
      .security,
      "the certificate of the host `img.test` was rejected: "
        + "no alternative certificate subject name matches target host name 'img.test'"
    ),
    Row(
      CURLE_SSL_CACERT_BADFILE,
      "error setting certificate file: /etc/ssl/certs/ca-certificates.crt",
      .security,
      "cannot read the system's certificates; install the Debian package ca-certificates"
    ),
    Row(
      CURLE_GOT_NOTHING,
      "Empty reply from server",
      .connection,
      "the server closed the connection without a response"
    ),
    Row(
      CURLE_RECV_ERROR,
      "CONNECT tunnel failed, response 403",
      .connection,
      "the proxy failed: CONNECT tunnel failed, response 403"
    ),
    Row(
      CURLE_UNSUPPORTED_PROTOCOL,
      "Protocol \"https\" not supported or disabled in libcurl",
      .unavailable,
      "libcurl was built without support: protocol \"https\" not supported or disabled in libcurl"
    ),
    Row(CURLE_OUT_OF_MEMORY, "Out of memory", .unavailable, "libcurl ran out of memory"),
    Row(CURLE_FAILED_INIT, "Failed\ninitialization.", .connection, "failed"),
  ]

  @Test(arguments: beforeTheResponse)
  func `a failure before the response is described`(row: Row) throws {
    let url = try ImageURL("https://img.test:8443/a.png")
    let outcome = CurlOutcome(
      code: row.code,
      text: row.text,
      systemError: row.systemError,
      connectTimeout: .milliseconds(1500)
    )
    let error = try #require(outcome.error(CurlOutcome.Progress(url: url)))
    #expect(error.code == row.expected)
    #expect(error.message == row.message)
  }

  static let withinTheBody = [
    Row(CURLE_PARTIAL_FILE, "", .truncated, "the body ended after 100 of 250 bytes"),
    Row(
      CURLE_RECV_ERROR,
      "Recv failure: Connection reset by peer",
      errno: ECONNRESET,
      .connection,
      "the connection failed after 100 of 250 bytes: connection reset by peer"
    ),
    Row(
      CURLE_RECV_ERROR,
      "OpenSSL SSL_read: error:0A000126:SSL routines::unexpected eof while reading, errno 0",
      .truncated,
      "the body ended after 100 of 250 bytes"
    ),
    Row(
      CURLE_HTTP2_STREAM,
      "HTTP/2 stream 1 was not closed cleanly: INTERNAL_ERROR (err 2)",
      .connection,
      "the connection failed after 100 of 250 bytes: "
        + "HTTP/2 stream 1 was not closed cleanly: INTERNAL_ERROR (err 2)"
    ),
    Row(
      CURLE_RECV_ERROR,
      "Illegal or missing hexadecimal sequence in chunked-encoding",
      .malformed,
      "the chunked body is invalid after 100 of 250 bytes"
    ),
  ]

  @Test(arguments: withinTheBody)
  func `a failure within the body is described with the received bytes`(row: Row) throws {
    let url = try ImageURL("https://img.test/a.png")
    let head = ResponseHead(status: 200, fields: HTTPFields(), url: url, contentLength: 250)
    let progress = CurlOutcome.Progress(url: url, requestWasSent: true, head: head, received: 100)
    let outcome = CurlOutcome(code: row.code, text: row.text, systemError: row.systemError)
    let error = try #require(outcome.error(progress))
    #expect(error.code == row.expected)
    #expect(error.message == row.message)
  }

  static let refusals: [(CURLcode, Int32, Bool)] = [
    (CURLE_COULDNT_CONNECT, ECONNREFUSED, true), (CURLE_COULDNT_CONNECT, EHOSTUNREACH, false),
    (CURLE_COULDNT_CONNECT, 0, false), (CURLE_RECV_ERROR, ECONNRESET, true),
    (CURLE_RECV_ERROR, ETIMEDOUT, false), (CURLE_SEND_ERROR, EPIPE, true), (CURLE_GOT_NOTHING, 0, true),
    (CURLE_OPERATION_TIMEDOUT, 0, false), (CURLE_COULDNT_RESOLVE_HOST, 0, false),
  ]

  @Test(arguments: refusals)
  func `a connection that is closed without a response differs from silence`(
    _ code: CURLcode,
    _ systemError: Int32,
    _ wasRefused: Bool
  ) throws {
    let progress = CurlOutcome.Progress(url: try ImageURL("https://img.test/a.png"))
    let outcome = CurlOutcome(code: code, text: "", systemError: systemError)
    let error = try #require(outcome.error(progress))
    #expect((error.cause == .connectionRefused) == wasRefused)
  }

  @Test func `success is not an error`() throws {
    let url = try ImageURL("http://a/")
    #expect(CurlOutcome(code: CURLE_OK, text: "").error(CurlOutcome.Progress(url: url)) == nil)
  }

  @Test func `exceeded limits are named, with the received bytes`() throws {
    let url = try ImageURL("http://a/")
    var progress = CurlOutcome.Progress(url: url, requestWasSent: true)
    func message(_ limit: Timeouts.Limit) -> String { CurlOutcome.error(limit, progress).message }
    #expect(message(.response(.seconds(20))) == "no response within 20 s")
    #expect(message(.stall(.seconds(5))) == "no data for 5 s before the response header ended")
    progress.head = ResponseHead(status: 200, fields: HTTPFields(), url: url)
    progress.received = 1
    #expect(message(.stall(.seconds(5))) == "no data for 5 s after 1 byte")
    #expect(message(.total(.seconds(60))) == "the transfer took longer than 60 s, after 1 byte")
  }
}

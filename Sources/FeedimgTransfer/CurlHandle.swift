import CCurl
import FeedimgModel
import Glibc

/// An easy handle of libcurl, for one transfer at a time or for one connection.
///
/// One thread uses it: the executor's for transfers, and `feedimg-socket` for a ``CurlConnection``.
final class CurlHandle {
  /// The settings that all transfers of a downloader share.
  struct Identity: Sendable {
    var userAgent: String
    /// A PEM file of the authorities to trust instead of the system's.
    var certificateFile: String?
    var clientCertificate: ClientKey?
    /// The proxy of every request; empty for none, nil for that of the environment.
    var proxy: String?
    var addresses = AddressPolicy.everything
  }

  let pointer: UnsafeMutableRawPointer
  let library: CurlLibrary
  private let identity: Identity
  private let errorText: UnsafeMutablePointer<CChar>
  private var fieldList: UnsafeMutablePointer<curl_slist>?

  /// The size of libcurl's read buffer.
  ///
  /// With libcurl's default of 16 KiB, a transfer takes a tenth longer on fast links.
  static let bufferSize = 64 << 10

  /// - Returns: Nil if memory runs out.
  init?(_ library: CurlLibrary, identity: Identity) {
    guard let pointer = library.functions.easy_init() else { return nil }
    self.library = library
    self.identity = identity
    self.pointer = pointer
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.pointee = 0
  }

  deinit {
    library.functions.easy_cleanup(pointer)
    library.functions.slist_free_all(fieldList)
    errorText.deallocate()
  }

  /// Sets up a transfer for its current URL.
  ///
  /// - Throws: ``LoadError`` if libcurl rejects an option, or a request field has an invalid name or value.
  func prepare(_ transfer: Transfer) throws(LoadError) {
    errorText.pointee = 0
    library.functions.easy_reset(pointer)
    library.functions.slist_free_all(fieldList)
    fieldList = nil
    try set(CURLOPT_PROTOCOLS_STR, to: "http,https")
    // ``Transfer`` follows redirects itself. The scheme limit below holds even if libcurl followed one.
    try set(CURLOPT_FOLLOWLOCATION, to: 0)
    try set(CURLOPT_REDIR_PROTOCOLS_STR, to: "http,https")
    try set(connectionTo: transfer.url, within: transfer.request.connectTimeout)
    // May fail: after a transfer on a shared connection (HTTP/2), the handle keeps its old buffer.
    _ = ccurl_set_long(library.table, pointer, CURLOPT_BUFFERSIZE, Self.bufferSize)
    // Without this option, a transfer that ends waits for its name look-up and delays all other transfers.
    try set(CURLOPT_QUICK_EXIT, to: 1)
    try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, to: 1)
    try set(CURLOPT_HTTP_VERSION, to: Int(CURL_HTTP_VERSION_2TLS))
    // Wait for a connection that is being opened: over HTTP/2, several transfers share it. Only TLS
    // negotiates HTTP/2.
    try set(CURLOPT_PIPEWAIT, to: transfer.url.isSecure ? 1 : 0)
    // Images are already compressed. Without this field, a server may choose any coding (RFC 9110 §12.5.3).
    // If a server ignores it, libcurl decodes the body. An empty text stands for all codings that libcurl knows.
    if transfer.decodesContent {
      try set(CURLOPT_ACCEPT_ENCODING, to: transfer.request.acceptsCodings ? "" : "identity")
    }
    let (method, fields) = (transfer.request.method, transfer.fields)
    var omitted: [String] = []
    if method.isHead {
      try set(CURLOPT_NOBODY, to: 1)
    } else if method != .get {
      try set(CURLOPT_CUSTOMREQUEST, to: method.name)
    }
    if let body = method.body {
      try set(body: body)
      // libcurl would add these fields to a request with a body.
      omitted = ["Expect", "Content-Type"].filter { fields[$0] == nil }
    }
    try set(fields: fields, omitting: omitted)
    try check(ccurl_set_pointer(library.table, pointer, CURLOPT_ERRORBUFFER, errorText))
    if let socket = transfer.request.socket {
      try set(CURLOPT_UNIX_SOCKET_PATH, to: socket)
      // A Unix socket cannot be reached through a proxy.
      try set(CURLOPT_PROXY, to: "")
    }
    try setCallbacks(transfer)
    try set(CURLOPT_URL, to: CurlURL.encodingUnsafe(transfer.url.text))
  }

  /// Sets up a connection without a request, for another protocol than HTTP.
  ///
  /// - Throws: ``LoadError`` if libcurl rejects an option.
  func prepare(_ connection: CurlConnection) throws(LoadError) {
    try set(connectionTo: connection.url, within: connection.timeout)
    try set(CURLOPT_CONNECT_ONLY, to: 1)
    // TLS would negotiate HTTP/2 otherwise, which has no such connections.
    try set(CURLOPT_HTTP_VERSION, to: Int(CURL_HTTP_VERSION_1_1))
    // A connection may be quiet for hours after the server has gone.
    try set(CURLOPT_TCP_KEEPALIVE, to: 1)
    try check(ccurl_set_pointer(library.table, pointer, CURLOPT_ERRORBUFFER, errorText))
    let callback = CurlConnection.socketCallback
    try check(ccurl_set_socket_function(library.table, pointer, CURLOPT_OPENSOCKETFUNCTION, callback))
    // The connection lives as long as its handle.
    try set(CURLOPT_OPENSOCKETDATA, to: Unmanaged.passUnretained(connection).toOpaque())
    try set(CURLOPT_URL, to: CurlURL.encodingUnsafe(connection.url.text))
  }

  /// Sets the options of this program's connections.
  private func set(connectionTo url: ImageURL, within limit: Duration) throws(LoadError) {
    try set(CURLOPT_USERAGENT, to: identity.userAgent)
    if let file = identity.certificateFile { try set(CURLOPT_CAINFO, to: file) }
    if let certificate = identity.clientCertificate, certificate.origins.contains(url.origin) {
      try set(CURLOPT_SSLCERT, to: certificate.file)
      try set(CURLOPT_SSLKEY, to: certificate.keyFile)
    }
    if let proxy = identity.proxy { try set(CURLOPT_PROXY, to: proxy) }
    // For zero, libcurl would use its default of five minutes.
    let connectTimeout = max(1, Int32(clamping: limit.milliseconds))
    try set(CURLOPT_CONNECTTIMEOUT_MS, to: Int(connectTimeout))
    // libcurl's alarm signals would disturb other threads. Curl's thread already blocks SIGPIPE.
    try set(CURLOPT_NOSIGNAL, to: 1)
  }

  /// The socket of a connection that ``prepare(_:)`` set up; -1 without one.
  var socket: Int32 {
    var socket = CURL_SOCKET_BAD
    _ = ccurl_get_socket(library.table, pointer, CURLINFO_ACTIVESOCKET, &socket)
    return socket
  }

  /// The status of the latest head, which may be an interim response's.
  var status: Int { long(CURLINFO_RESPONSE_CODE) }

  /// Whether the response came over HTTP/1.
  var isHTTP1: Bool {
    (CURL_HTTP_VERSION_1_0...CURL_HTTP_VERSION_1_1).contains(long(CURLINFO_HTTP_VERSION))
  }

  /// The fields of the latest head that is not an interim response's.
  var fields: HTTPFields {
    var fields = HTTPFields()
    // Most servers send about this many.
    fields.fields.reserveCapacity(12)
    let next = library.functions.easy_nextheader
    var header = next?(pointer, UInt32(CURLH_HEADER), -1, nil)
    while let current = header {
      var value = Self.text(current.pointee.value)
      // libcurl 7.88 leaves the line break in the value of an empty field.
      if value.utf8.contains(UInt8(ascii: "\r")) { value.removeAll { $0.isNewline } }
      fields.fields.append(HTTPFields.Field(name: Self.text(current.pointee.name), value: value))
      header = next?(pointer, UInt32(CURLH_HEADER), -1, current)
    }
    return fields
  }

  /// Reads a field as UTF-8 or, if that is invalid, as Latin-1, its historical encoding (RFC 9110 §5.5).
  private static func text(_ bytes: UnsafePointer<CChar>) -> String {
    if let text = String(validatingCString: bytes) { return text }
    let bytes = UnsafeRawBufferPointer(start: bytes, count: strlen(bytes))
    return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }

  /// The bytes received so far: heads, and the body before content decoding.
  var receivedLength: Int { max(0, long(CURLINFO_HEADER_SIZE)) + receivedBodyLength }

  /// The bytes of the body received so far, without chunk framing and before content decoding.
  var receivedBodyLength: Int {
    var body: curl_off_t = 0
    _ = ccurl_get_offset(library.table, pointer, CURLINFO_SIZE_DOWNLOAD_T, &body)
    return max(0, Int(body))
  }

  /// Whether the connection may stay open for other transfers after this one is stopped.
  ///
  /// It does over HTTP/2; libcurl closes an HTTP/1 connection. Before the first response, the version is
  /// unknown and the result is true.
  var mayShareConnection: Bool {
    let version = long(CURLINFO_HTTP_VERSION)
    return version == 0 || version >= CURL_HTTP_VERSION_2_0
  }

  private func long(_ info: CURLINFO) -> Int {
    var value = 0
    _ = ccurl_get_long(library.table, pointer, info, &value)
    return value
  }

  /// How the transfer ended.
  func outcome(_ code: CURLcode, connectTimeout: Duration) -> CurlOutcome {
    CurlOutcome(
      code: code,
      text: errorText.pointee == 0 ? library.text(of: code) : String(cString: errorText),
      systemError: Int32(truncatingIfNeeded: long(CURLINFO_OS_ERRNO)),
      connectTimeout: connectTimeout
    )
  }

  private func setCallbacks(_ transfer: Transfer) throws(LoadError) {
    let table = library.table
    try check(ccurl_set_write_function(table, pointer, CURLOPT_HEADERFUNCTION, Transfer.headerCallback))
    try check(ccurl_set_write_function(table, pointer, CURLOPT_WRITEFUNCTION, Transfer.bodyCallback))
    try check(ccurl_set_request_function(table, pointer, CURLOPT_PREREQFUNCTION, Transfer.requestCallback))
    try check(ccurl_set_socket_function(table, pointer, CURLOPT_OPENSOCKETFUNCTION, Transfer.socketCallback))
    // ``CurlLoop`` retains the transfer while it runs.
    let context = Unmanaged.passUnretained(transfer).toOpaque()
    for option in [CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_PREREQDATA, CURLOPT_OPENSOCKETDATA] {
      try set(option, to: context)
    }
  }

  /// Sets the body, which libcurl copies.
  private func set(body: [UInt8]) throws(LoadError) {
    try set(CURLOPT_POSTFIELDSIZE, to: body.count)
    // A null pointer would make libcurl read the body from a callback.
    var bytes = body.isEmpty ? [0] : body
    let code = bytes.withUnsafeMutableBytes {
      ccurl_set_pointer(library.table, pointer, CURLOPT_COPYPOSTFIELDS, $0.baseAddress)
    }
    try check(code)
  }

  private func set(fields: HTTPFields, omitting omitted: [String]) throws(LoadError) {
    var lines = omitted.map { "\($0):" }
    for field in fields.fields {
      guard field.isWellFormed else {
        throw LoadError(.malformed, message: "the request field `\(field.name)` has an invalid name or value")
      }
      lines.append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
    }
    for line in lines {
      guard let longer = library.functions.slist_append(fieldList, line) else {
        throw LoadError(.unavailable, message: "libcurl ran out of memory")
      }
      fieldList = longer
    }
    try check(ccurl_set_list(library.table, pointer, CURLOPT_HTTPHEADER, fieldList))
  }

  private func set(_ option: CURLoption, to value: Int) throws(LoadError) {
    try check(ccurl_set_long(library.table, pointer, option, value))
  }

  private func set(_ option: CURLoption, to value: UnsafeMutableRawPointer) throws(LoadError) {
    try check(ccurl_set_pointer(library.table, pointer, option, value))
  }

  private func set(_ option: CURLoption, to value: String) throws(LoadError) {
    try check(ccurl_set_text(library.table, pointer, option, value))
  }

  private func check(_ code: CURLcode) throws(LoadError) {
    guard code == CURLE_OK else {
      throw LoadError(.unavailable, message: "libcurl rejected an option: \(library.text(of: code))")
    }
  }
}

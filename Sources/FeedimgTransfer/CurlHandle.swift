import CCurl
import FeedimgModel
import Glibc

/// One of libcurl's easy handles, for one transfer at a time; curl's thread alone uses it.
final class CurlHandle {
  /// What is the same in all transfers of a downloader.
  struct Identity: Sendable {
    var userAgent: String
    /// The authorities to trust in place of the system's, in PEM.
    var certificateFile: String?
    var addresses = AddressPolicy.everything
  }

  let pointer: UnsafeMutableRawPointer
  let library: CurlLibrary
  private let identity: Identity
  private let errorText: UnsafeMutablePointer<CChar>
  private var fieldList: UnsafeMutablePointer<curl_slist>?

  /// Larger reads than the default of 16 KiB, which costs a tenth more time on fast links.
  static let bufferSize = 64 << 10

  /// - Returns: Nil for want of memory.
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

  /// Sets up a transfer at its present URL.
  ///
  /// - Throws: ``LoadError`` when libcurl refuses an option, or a field could not be sent as it is.
  func prepare(_ transfer: Transfer) throws(LoadError) {
    errorText.pointee = 0
    library.functions.easy_reset(pointer)
    library.functions.slist_free_all(fieldList)
    fieldList = nil
    try set(CURLOPT_PROTOCOLS_STR, to: "http,https")
    // ``Transfer`` follows redirects. Should libcurl follow one, then only to these schemes.
    try set(CURLOPT_FOLLOWLOCATION, to: 0)
    try set(CURLOPT_REDIR_PROTOCOLS_STR, to: "http,https")
    try set(CURLOPT_USERAGENT, to: identity.userAgent)
    if let file = identity.certificateFile { try set(CURLOPT_CAINFO, to: file) }
    // Zero would mean the default of five minutes.
    let connectTimeout = max(1, Int32(clamping: transfer.request.connectTimeout.milliseconds))
    try set(CURLOPT_CONNECTTIMEOUT_MS, to: Int(connectTimeout))
    // libcurl refuses while the handle keeps the buffer of its last transfer, as after a shared connection (HTTP/2).
    _ = ccurl_set_long(library.table, pointer, CURLOPT_BUFFERSIZE, Self.bufferSize)
    // No alarms, as there are other threads. The thread blocks SIGPIPE.
    try set(CURLOPT_NOSIGNAL, to: 1)
    // Otherwise the end of a transfer waits for its name look-up, and every other transfer with it. Not required, as
    // the oldest accepted libcurl lacks it.
    _ = ccurl_set_long(library.table, pointer, CURLOPT_QUICK_EXIT, 1)
    try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, to: 1)
    try set(CURLOPT_HTTP_VERSION, to: Int(CURL_HTTP_VERSION_2TLS))
    // A first connection that turns out to speak HTTP/2 serves those that wait for it. Without TLS it never does.
    try set(CURLOPT_PIPEWAIT, to: transfer.url.isSecure ? 1 : 0)
    // Images are compressed already. Without this field a server may choose any coding (RFC 9110 §12.5.3); libcurl
    // decodes one that comes anyway.
    if transfer.decodesContent { try set(CURLOPT_ACCEPT_ENCODING, to: "identity") }
    var fields = transfer.fields
    switch transfer.request.method {
    case .get: break
    case .head: try set(CURLOPT_NOBODY, to: 1)
    case .post:
      // libcurl's own `POST` would send a type for a body that is not there.
      try set(CURLOPT_CUSTOMREQUEST, to: "POST")
      fields.fields.append(HTTPFields.Field(name: "Content-Length", value: "0"))
    }
    try set(fields: fields)
    try check(ccurl_set_pointer(library.table, pointer, CURLOPT_ERRORBUFFER, errorText))
    if let socket = transfer.request.socket {
      try set(CURLOPT_UNIX_SOCKET_PATH, to: socket)
      // No proxy leads there.
      try set(CURLOPT_PROXY, to: "")
    }
    try setCallbacks(transfer)
    try set(CURLOPT_URL, to: CurlURL.encodingUnsafe(transfer.url.text))
  }

  /// The status of the latest head, of an interim response as well.
  var status: Int { long(CURLINFO_RESPONSE_CODE) }

  /// Whether the response came over HTTP/1.
  var isHTTP1: Bool {
    (CURL_HTTP_VERSION_1_0...CURL_HTTP_VERSION_1_1).contains(long(CURLINFO_HTTP_VERSION))
  }

  /// The fields of the latest head that is not an interim response's.
  var fields: HTTPFields {
    var fields = HTTPFields()
    // As many as servers commonly send.
    fields.fields.reserveCapacity(12)
    let next = library.functions.easy_nextheader
    var header = next?(pointer, UInt32(CURLH_HEADER), -1, nil)
    while let current = header {
      var value = Self.text(current.pointee.value)
      // libcurl (7.88) leaves the line break of an empty field. It joins folded lines itself (RFC 9112 §5.2).
      value.removeAll { $0.isNewline }
      fields.fields.append(HTTPFields.Field(name: Self.text(current.pointee.name), value: value))
      header = next?(pointer, UInt32(CURLH_HEADER), -1, current)
    }
    return fields
  }

  /// UTF-8 where it is valid, else Latin-1, as fields were once defined (RFC 9110 §5.5).
  private static func text(_ bytes: UnsafePointer<CChar>) -> String {
    if let text = String(validatingCString: bytes) { return text }
    let bytes = UnsafeRawBufferPointer(start: bytes, count: strlen(bytes))
    return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }

  /// Bytes of the present responses so far: heads, and bodies before a content coding is undone.
  var receivedLength: Int { max(0, long(CURLINFO_HEADER_SIZE)) + receivedBodyLength }

  /// Bytes of the present body so far, without chunk framing, before a content coding is undone.
  var receivedBodyLength: Int {
    var body: curl_off_t = 0
    _ = ccurl_get_offset(library.table, pointer, CURLINFO_SIZE_DOWNLOAD_T, &body)
    return max(0, Int(body))
  }

  /// Whether later transfers may use its connection after it was stopped (HTTP/2); libcurl closes others then.
  ///
  /// Before the first response, the version is unknown.
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
    // The loop keeps the transfer as long as it runs.
    let context = Unmanaged.passUnretained(transfer).toOpaque()
    for option in [CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_PREREQDATA, CURLOPT_OPENSOCKETDATA] {
      try set(option, to: context)
    }
  }

  private func set(fields: HTTPFields) throws(LoadError) {
    for field in fields.fields {
      guard field.canBeSent else {
        throw LoadError(.malformed, message: "the field `\(field.name)` of the request cannot be sent")
      }
      let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
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
      throw LoadError(.unavailable, message: "libcurl refuses an option: \(library.text(of: code))")
    }
  }
}

extension ImageURL {
  /// By the fifth letter of `https:`; the key begins with that or `http:`.
  var isSecure: Bool {
    key.utf8.withContiguousStorageIfAvailable { $0[4] == UInt8(ascii: "s") } ?? key.hasPrefix("https:")
  }
}

extension HTTPFields.Field {
  /// Whether the field is one line with a valid name (RFC 9110 §5.1 and §5.5).
  var canBeSent: Bool {
    let isToken = name.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) || "!#$%&'*+-.^_`|~".utf8.contains($0)
    }
    return isToken && !name.isEmpty && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }
}

import CCurl
import FeedimgModel

/// libcurl's handle of one transfer at a time; used by one thread.
final class CurlHandle {
  /// What is the same in all transfers of a downloader.
  struct Identity: Sendable {
    var userAgent: String
    /// Whom to trust in place of the system's authorities, in PEM.
    var certificateFile: String?
    /// Whom to connect to.
    var reach = Reach.everything
  }

  /// What is set for a transfer beside its URL; where it is that of the last one, it stays as it is.
  private struct Setup {
    var method: DownloadRequest.Method
    var socket: String?
    var connectTimeout: Duration
    var isSecure: Bool
    var fields: HTTPFields

    /// Nil where the last transfer must leave no trace.
    init?(_ transfer: borrowing Transfer) {
      guard !Self.hasCredentials(transfer.url.text) else { return nil }
      method = transfer.request.method
      socket = transfer.request.socket
      connectTimeout = transfer.request.connectTimeout
      isSecure = transfer.url.isSecure
      fields = transfer.fields
    }

    func suits(_ transfer: borrowing Transfer) -> Bool {
      method == transfer.request.method && socket == transfer.request.socket
        && connectTimeout == transfer.request.connectTimeout && isSecure == transfer.url.isSecure
        && fields == transfer.fields && !Self.hasCredentials(transfer.url.text)
    }

    private static func hasCredentials(_ text: String) -> Bool {
      text.utf8.withContiguousStorageIfAvailable { $0.contains(UInt8(ascii: "@")) } ?? true
    }
  }

  let pointer: UnsafeMutableRawPointer
  /// Where the transfer lives while it runs, which libcurl hands to what it calls.
  let place = UnsafeMutablePointer<RunningTransfer>.allocate(capacity: 1)
  /// Where this is among the handles that run; nil for one that does not.
  var index: Int?
  /// The pool that it runs in; nil for one that does not.
  var pool: UnsafeMutableRawPointer?
  private let library: CurlLibrary
  private let identity: Identity
  private let errorText: UnsafeMutablePointer<CChar>
  private var fieldList: UnsafeMutablePointer<curl_slist>?
  /// What the options stand for; nil where they are to be set anew.
  private var setup: Setup?

  /// Fewer, larger reads; the default of 16 KiB costs a tenth more time on fast links.
  ///
  /// As long as the longest packet that the kernel hands on in one piece (tcp(7), segmentation offload). Of the 100 KiB
  /// that the `curl` command takes, more has to be faulted in again for each transfer, which costs as much once more.
  private static let bufferSize = 64 << 10

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
    place.deallocate()
  }

  /// The handle of libcurl's own, of those made here.
  static func of(_ easy: UnsafeMutableRawPointer, _ library: CurlLibrary) -> CurlHandle? {
    var owner: UnsafeMutableRawPointer?
    _ = ccurl_get_pointer(library.table, easy, CURLINFO_PRIVATE, &owner)
    return owner.map { Unmanaged<CurlHandle>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Sets up the next transfer.
  ///
  /// - Parameter transfer: Tells the URL, the fields and the limits.
  /// - Throws: ``LoadError`` when libcurl refuses an option, or a field could not be sent as it is.
  func prepare(_ transfer: borrowing Transfer) throws(LoadError) {
    errorText.pointee = 0
    if setup?.suits(transfer) != true {
      setup = nil
      try setAll(transfer)
      setup = Setup(transfer)
    }
    try set(CURLOPT_URL, to: PercentCoding.encodingUnsafe(transfer.url.text))
  }

  private func setAll(_ transfer: borrowing Transfer) throws(LoadError) {
    library.functions.easy_reset(pointer)
    library.functions.slist_free_all(fieldList)
    fieldList = nil
    try set(CURLOPT_PROTOCOLS_STR, to: "http,https")
    // Redirects are followed by ``Transfer``. Were libcurl to follow one, it would be to these schemes alone.
    try set(CURLOPT_FOLLOWLOCATION, to: 0)
    try set(CURLOPT_REDIR_PROTOCOLS_STR, to: "http,https")
    try set(CURLOPT_USERAGENT, to: identity.userAgent)
    if let file = identity.certificateFile { try set(CURLOPT_CAINFO, to: file) }
    // Zero would mean the default of five minutes.
    let connectTimeout = max(1, Int32(clamping: transfer.request.connectTimeout.milliseconds))
    try set(CURLOPT_CONNECTTIMEOUT_MS, to: Int(connectTimeout))
    // Refused where the handle has kept the buffer of its last transfer, as it does after sharing a connection
    // (HTTP/2); reads are then of the default size.
    _ = ccurl_set_long(library.table, pointer, CURLOPT_BUFFERSIZE, Self.bufferSize)
    // No alarms, as there are other threads. SIGPIPE is blocked by the thread.
    try set(CURLOPT_NOSIGNAL, to: 1)
    // Otherwise the end of a transfer waits for its name look-up, and every other transfer with it. Newer than the
    // oldest libcurl that is accepted, hence not required.
    _ = ccurl_set_long(library.table, pointer, CURLOPT_QUICK_EXIT, 1)
    try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, to: 1)
    try set(CURLOPT_HTTP_VERSION, to: Int(CURL_HTTP_VERSION_2TLS))
    // A first connection that turns out to speak HTTP/2 serves those that wait for it. Without TLS it never does.
    try set(CURLOPT_PIPEWAIT, to: transfer.url.isSecure ? 1 : 0)
    if transfer.url.isSecure { ccurl_prefer_quick_ciphers(library.table, pointer) }
    // Images are compressed already. Without a word about codings a server may choose any (RFC 9110 §12.5.3); what
    // comes coded all the same is decoded.
    if transfer.decodesContent { try set(CURLOPT_ACCEPT_ENCODING, to: "identity") }
    var fields = transfer.fields
    switch transfer.request.method {
    case .get: break
    case .head: try set(CURLOPT_NOBODY, to: 1)
    case .post:
      // As a `GET` by another name: libcurl's own would name a type of the body that is not there.
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
    try setCallbacks()
  }

  /// How much has come of the present answers: heads, and bodies before a content coding is undone.
  var receivedLength: Int {
    var head = 0
    var body: curl_off_t = 0
    _ = ccurl_get_long(library.table, pointer, CURLINFO_HEADER_SIZE, &head)
    _ = ccurl_get_offset(library.table, pointer, CURLINFO_SIZE_DOWNLOAD_T, &body)
    return max(0, head) + max(0, Int(body))
  }

  /// Whether others may use its connection after it was stopped; one of its own is closed then (HTTP/1.1).
  var mayShareConnection: Bool {
    var version = 0
    _ = ccurl_get_long(library.table, pointer, CURLINFO_HTTP_VERSION, &version)
    // Unknown before there is an answer. Without TLS it is never HTTP/2.
    return place.pointee.transfer.url.isSecure && (version == 0 || version >= CURL_HTTP_VERSION_2_0)
  }

  /// How the transfer ended.
  func outcome(_ code: CURLcode, connectTimeout: Duration) -> CurlOutcome {
    var systemError = 0
    _ = ccurl_get_long(library.table, pointer, CURLINFO_OS_ERRNO, &systemError)
    return CurlOutcome(
      code: code,
      text: errorText.pointee == 0 ? library.text(of: code) : String(cString: errorText),
      systemError: Int32(truncatingIfNeeded: systemError),
      connectTimeout: connectTimeout
    )
  }

  private func setCallbacks() throws(LoadError) {
    let table = library.table
    try check(
      ccurl_set_write_function(table, pointer, CURLOPT_HEADERFUNCTION, RunningTransfer.headerCallback)
    )
    try check(ccurl_set_write_function(table, pointer, CURLOPT_WRITEFUNCTION, RunningTransfer.bodyCallback))
    try check(
      ccurl_set_request_function(table, pointer, CURLOPT_PREREQFUNCTION, RunningTransfer.requestCallback)
    )
    try set(CURLOPT_PRIVATE, to: Unmanaged.passUnretained(self).toOpaque())
    for option in [CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_PREREQDATA, CURLOPT_OPENSOCKETDATA] {
      try set(option, to: UnsafeMutableRawPointer(place))
    }
    let callback = RunningTransfer.socketCallback
    try check(ccurl_set_socket_function(table, pointer, CURLOPT_OPENSOCKETFUNCTION, callback))
  }

  private func set(fields: HTTPFields) throws(LoadError) {
    var lines: [String] = []
    for field in fields.fields {
      guard field.canBeSent else {
        throw LoadError(.malformed, message: "the field `\(field.name)` of the request cannot be sent")
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

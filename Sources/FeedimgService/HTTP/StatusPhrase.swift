import NIOHTTP1

/// The reason phrases of the statuses (IANA HTTP Status Code Registry).
enum StatusPhrase {
  private static let phrases: [Int: String] = [
    200: "OK", 204: "No Content", 206: "Partial Content", 304: "Not Modified", 400: "Bad Request",
    401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    408: "Request Timeout",
    412: "Precondition Failed", 413: "Content Too Large", 415: "Unsupported Media Type",
    416: "Range Not Satisfiable", 421: "Misdirected Request", 422: "Unprocessable Content",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
    504: "Gateway Timeout",
    505: "HTTP Version Not Supported",
  ]

  /// Such as `Not Found`; also for statuses that only other servers send.
  static func text(_ status: Int) -> String {
    phrases[status] ?? HTTPResponseStatus(statusCode: status).reasonPhrase
  }

  /// The status with its phrase.
  static func status(_ code: Int) -> HTTPResponseStatus {
    let known = HTTPResponseStatus(statusCode: code)
    let phrase = text(code)
    return known.reasonPhrase == phrase ? known : .custom(code: UInt(clamping: code), reasonPhrase: phrase)
  }
}

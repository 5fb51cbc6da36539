/// The names of status codes (IANA HTTP Status Code Registry).
enum HTTPStatus {
  private static let phrases: [Int: String] = [
    204: "No Content", 206: "Partial Content", 304: "Not Modified", 400: "Bad Request", 401: "Unauthorized",
    403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable",
    408: "Request Timeout",
    410: "Gone", 416: "Range Not Satisfiable", 421: "Misdirected Request",
    422: "Unprocessable Content", 425: "Too Early", 429: "Too Many Requests",
    451: "Unavailable For Legal Reasons", 500: "Internal Server Error", 501: "Not Implemented",
    502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout", 507: "Insufficient Storage",
    511: "Network Authentication Required",
  ]

  /// Returns a text such as `404 Not Found`; the number alone if the registry has no phrase.
  static func text(_ status: Int) -> String {
    phrases[status].map { "\(status) \($0)" } ?? "\(status)"
  }
}

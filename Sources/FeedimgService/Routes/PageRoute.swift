import FeedimgModel

/// The page at `/`, which shows the work of the service, with its scripts and styles.
///
/// All files are part of the program. They contain no data of the user, so they need no token; the page requests its data
/// with the token, as other clients do.
struct PageRoute: Sendable {
  /// One file of the page.
  struct Asset: Sendable {
    var path: String
    var mediaType: String
    var bytes: [UInt8]
  }

  /// All files of the page.
  static let assets = [
    Asset(path: "/", mediaType: "text/html; charset=utf-8", bytes: PackageResources.page_html),
    Asset(path: "/page/page.css", mediaType: "text/css; charset=utf-8", bytes: PackageResources.page_css),
    Asset(path: "/page/icon.svg", mediaType: "image/svg+xml", bytes: PackageResources.icon_svg),
    script("main", PackageResources.main_js), script("service", PackageResources.service_js),
    script("simulation", PackageResources.simulation_js), script("feed", PackageResources.feed_js),
    script("cell", PackageResources.cell_js), script("table", PackageResources.table_js),
    script("overview", PackageResources.overview_js), script("formatting", PackageResources.formatting_js),
  ]

  /// Whether a request needs no token.
  static func isPublic(_ method: String, _ path: String) -> Bool {
    (method == "GET" || method == "HEAD") && assets.contains { $0.path == path }
  }

  /// The routes, one for each file.
  static var routes: [RouteTable.Route] {
    assets.map { asset in ("GET", asset.path, { request in response(to: request, asset) }) }
  }

  private static func response(to request: ServiceRequest, _ asset: Asset) -> ServiceResponse {
    let fields = [
      ("ETag", EntityTag(of: asset.bytes).text), ("Cache-Control", "no-cache"),
      ("Content-Security-Policy", policy),
      ("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff"),
      ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
    let response = ServiceResponse(
      fields: fields + [("Content-Type", asset.mediaType)],
      body: .bytes(asset.bytes[...])
    )
    let isCurrent = ResponseSelection(of: response.fields, request, length: nil) == .notModified
    return isCurrent ? ServiceResponse(304, fields: fields) : response
  }

  /// Allows no other origin, no inline code, and no markup made of strings (CSP 3, Trusted Types).
  private static let policy = """
    default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'
    """

  private static func script(_ name: String, _ bytes: [UInt8]) -> Asset {
    Asset(path: "/page/\(name).js", mediaType: "text/javascript; charset=utf-8", bytes: bytes)
  }
}

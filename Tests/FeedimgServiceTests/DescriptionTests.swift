import FeedimgJSON
import FoundationEssentials
import LoopbackServer
import Testing

/// Successful responses, compared with `/openapi.json`.
@Suite(.timeLimit(.minutes(10))) struct DescriptionTests {
  private static let short = SampleImage.jpeg
  private static let long = PictureOrigin.picture(1, size: 300_000)

  struct Row: Sendable, CustomTestStringConvertible {
    var method = "get"
    var path: String
    var url = "/short"
    var fields: [String] = []
    var status: Int
    var testDescription: String { "\(method) \(path) \(url) \(fields)" }
  }

  /// The order matters: later rows find cached what earlier rows loaded.
  private static let rows =
    [
      Row(path: "/v1/image", url: "/long", status: 200), Row(path: "/v1/image", url: "/long", status: 200),
      Row(path: "/v1/image", url: "/longer", fields: ["Range: bytes=0-9"], status: 206),
    ]
    + ["/v1/image", "/v1/fetch"].flatMap { path in
      [
        Row(path: path, status: 200), Row(path: path, status: 200),
        Row(path: path, fields: ["Cache-Control: no-cache"], status: 200),
        Row(path: path, fields: ["Cache-Control: only-if-cached"], status: 200),
        Row(path: path, fields: ["Range: bytes=0-9"], status: 206),
        Row(path: path, fields: ["If-None-Match: *"], status: 304),
        Row(method: "head", path: path, fields: ["Range: bytes=0-9"], status: 200),
        Row(method: "head", path: path, fields: ["If-None-Match: *"], status: 304),
      ]
    } + [
      Row(method: "post", path: "/v1/image", status: 200),
      Row(method: "post", path: "/v1/image", fields: ["If-None-Match: *"], status: 304),
      Row(method: "post", path: "/v1/priority", fields: ["Feedimg-Load: a1", "Priority: u=1"], status: 204),
      Row(method: "post", path: "/v1/cache/pins", status: 204),
      Row(method: "delete", path: "/v1/cache/pins", status: 204),
      Row(method: "post", path: "/v1/cache/pins", url: "/unknown", status: 404),
      Row(method: "post", path: "/v1/prefetch", status: 200),
      Row(path: "/v1/fetch", url: "/teapot", status: 418),
      Row(method: "head", path: "/v1/fetch", url: "/teapot", status: 418),
    ]

  @Test func `successful responses match the description`() throws {
    let origin = try LoopbackServer { request in
      let fields = [("ETag", "\"a\""), ("Cache-Control", "max-age=60"), ("Content-Type", "image/jpeg")]
      return switch request.path {
      case "/teapot": .response(418)
      case "/short": .response(200, fields, body: Self.short)
      default: .response(200, fields, body: Self.long)
      }
    }
    let service = try ServiceRun(["--network=wifi"])
    let description = try service.curl("/openapi.json").object
    let headers = try #require(description.at("components", "headers"))
    for row in Self.rows {
      let response = try ask(service, row, origin.url(row.url))
      #expect(response.status == row.status, "\(row)")
      let known = try #require(
        description.at("paths", row.path, row.method, "responses", String(response.status))
          ?? description.at("paths", row.path, row.method, "responses", "default"),
        "\(row): \(response.status) is not described"
      )
      for header in known.at("headers")?.members ?? [] {
        guard case .object(var object) = header.value else { continue }
        if let name = object["$ref"]?.text?.split(separator: "/").last {
          object = try #require(headers.at(String(name)))
        }
        guard object["required"] == true else { continue }
        #expect(response[header.name] != nil, "\(row): there is no `\(header.name)`")
      }
      let types = (known.at("content")?.members ?? []).map(\.name)
      let hasBody = row.method != "head" && ![204, 304].contains(response.status)
      #expect(hasBody == !types.isEmpty, "\(row)")
      if let type = response["Content-Type"], hasBody {
        #expect(types.contains { Self.covers($0, type) }, "\(row): `\(type)`")
      }
    }
  }

  @Test func `the description allows the URLs that the service accepts`() throws {
    let service = try ServiceRun(["--network=offline"])
    let pattern = try pattern(of: "URL", service)
    let rows = [
      ("https://x.example:8080/a/b/c/d/e.png?width=1&height=2", true), ("http://192.0.2.1/a.png", true),
      ("https://[2001:db8::1]/a.png", true), ("HTTPS://user:word@X.example#a", true),
      ("ftp://x.example/a.png", false), ("x.example/a.png", false), ("http:///a.png", false),
    ]
    for (url, isValid) in rows {
      let response = try service.curl("/v1/resolve", "--json", #"{"originalImage":"\#(url)"}"#)
      #expect(response.status == (isValid ? 200 : 422), "\(url)")
      #expect(url.contains(pattern) == isValid, "\(url)")
    }
  }

  @Test func `the description allows the sizes that the service accepts`() throws {
    let service = try ServiceRun()
    let pattern = try pattern(of: "SizeText", service)
    let rows = [
      ("512 MiB", true), ("1.5GB", true), ("300kB", true), ("64 KB", true), ("2 TiB", true), ("7 B", true),
      ("4096", true), ("0", true), ("12 mib", false), ("-1", false), ("1.2.3 MB", false), ("MB", false),
    ]
    for (size, isValid) in rows {
      let patch = #"{"cache-originals-limit":"\#(size)"}"#
      let response = try service.curl("/v1/settings", "-X", "PATCH", "--json", patch)
      #expect(response.status == (isValid ? 200 : 422), "\(size)")
      #expect(size.contains(pattern) == isValid, "\(size)")
    }
  }

  /// The pattern of a schema in `/openapi.json`.
  private func pattern(of schema: String, _ service: ServiceRun) throws -> Regex<AnyRegexOutput> {
    let known = try service.curl("/openapi.json").object.at("components", "schemas", schema)
    let pattern: String = try #require(known?["pattern"]?.text)
    return try Regex(pattern)
  }

  private func ask(_ service: ServiceRun, _ row: Row, _ url: String) throws -> CurlResponse {
    let item = JSONValue.object(JSONObject([("originalImage", .string(url))])).text(.compact)
    let fields = row.fields.flatMap { ["-H", $0] }
    switch (row.method, row.path) {
    case (let method, "/v1/cache/pins"):
      return try service.curl("/v1/cache/pins?url=\(url)", "-X", method.uppercased())
    case ("post", _): return try CurlResponse(of: try service.request([row.path, "--json", item] + fields))
    case (let method, let path):
      let parameter = path == "/v1/image" ? "item=\(item)" : "url=\(url)"
      let head = method == "head" ? ["--head"] : []
      return try CurlResponse(
        of: try service.request(["-G", path, "--data-urlencode", parameter] + head + fields)
      )
    }
  }

  /// Whether a media range such as `image/*` includes a type.
  private static func covers(_ range: String, _ type: String) -> Bool {
    range == "*/*" || range == type || range.hasSuffix("/*") && type.hasPrefix(range.dropLast())
  }
}

extension JSONObject {
  /// The object at the end of a path of names.
  ///
  /// Nil if there is none.
  fileprivate func at(_ names: String...) -> JSONObject? {
    var object = self
    for name in names {
      guard case .object(let next)? = object[name] else { return nil }
      object = next
    }
    return object
  }
}

import FeedimgHTTPCache
import FeedimgModel

/// The request fields that describe the program; servers may choose an image by them (RFC 9110 §12).
package struct RequestIdentity: Sendable {
  private let userAgent: String
  private let accept: String
  /// Whether requests ask for less data, because data costs money or the user saves data.
  ///
  /// The field is Save-Data (wicg.github.io/savedata).
  private(set) var savesData = false
  /// The program's own fields of one request, which no other origin may receive.
  private(set) var own = HTTPFields()
  let requests: RequestOptions
  /// The fields of ``RequestOptions/headers``, by ``ImageURL/origin``.
  private var headers: [String: HTTPFields]
  /// Whether all of the program's fields keep images and failures apart, as if they were credentials.
  private var separatesByAllFields = false

  package init(
    userAgent: String,
    accept: String = ImageLoader.usualAccept,
    requests: RequestOptions = RequestOptions()
  ) {
    self.userAgent = userAgent
    self.requests = requests
    let pairs = requests.headers.compactMap { text, fields in
      RequestOptions.origin(text).map { origin in
        (origin, HTTPFields(fields.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value) }))
      }
    }
    headers = Dictionary(pairs) { HTTPFields($0.fields + $1.fields) }
    // Without a value, libcurl would send `*/*` itself.
    self.accept = accept.isEmpty ? "*/*" : accept
  }

  /// Returns the identity of a program that also sends fields to an origin; other values get other images.
  func adding(_ fields: HTTPFields, for origin: String) -> RequestIdentity {
    var identity = self
    identity.headers[origin, default: HTTPFields()].fields += fields.fields
    identity.separatesByAllFields = true
    return identity
  }

  /// Returns the identity for requests for an image in a situation.
  func adapted(to situation: Situation, for url: ImageURL) -> RequestIdentity {
    var identity = adapted(for: url)
    identity.savesData = situation.metered == .yes || situation.savesData
    return identity
  }

  /// Returns the identity for requests for an image.
  func adapted(for url: ImageURL) -> RequestIdentity {
    guard hasOwnFields else { return self }
    var identity = self
    identity.own = own(for: url)
    return identity
  }

  /// Whether the program may add fields to requests.
  private var hasOwnFields: Bool { requests.modify != nil || !headers.isEmpty }

  private func own(for url: ImageURL) -> HTTPFields {
    var request = ImageRequest(url: url, fields: headers[url.origin] ?? HTTPFields())
    requests.modify?(&request)
    return HTTPFields(
      request.fields.fields.compactMap { field in
        ImageRequest.reserved.contains(field.name.lowercased()) ? nil : field.wellFormed
      }
    )
  }

  /// Returns the key under which memory and disk keep the image of a URL.
  ///
  /// It is the key of the URL, unless the image is that of an account.
  package func key(of url: ImageURL) -> String {
    guard hasOwnFields else { return url.key }
    let fields = own(for: url).fields
    let account: [HTTPFields.Field]
    if let name = requests.account {
      account = fields.isEmpty ? [] : [.init(name: "account", value: name)]
    } else {
      account = separating(fields)
    }
    return AccountKey.of(url.key, HTTPFields(account))
  }

  /// The key under which the loader remembers that the image of a URL failed; that of an identity adapted to the URL.
  ///
  /// Other credentials get another key, because the server may then respond differently. So do other values of
  /// the fields of ``adding(_:for:)``.
  func failureKey(of url: ImageURL) -> String {
    let fields = separating(own.fields)
    return fields.isEmpty ? url.key : "\(url.key) \(ResponseKey.identity(HTTPFields(fields)))"
  }

  /// Returns those of the program's fields whose values keep images and failures apart.
  private func separating(_ fields: [HTTPFields.Field]) -> [HTTPFields.Field] {
    separatesByAllFields ? fields : fields.filter(\.isCredential)
  }

  /// The fields to send, in addition to ``own`` and those of the downloader.
  var fields: HTTPFields {
    let accepted = HTTPFields.Field(name: "Accept", value: accept)
    return HTTPFields(savesData ? [accepted, Self.saveData] : [accepted])
  }

  /// All fields of every request, those of the downloader included; `Vary` may name any of them.
  var sent: HTTPFields {
    let usual =
      fields.fields + [
        .init(name: "User-Agent", value: userAgent), .init(name: "Accept-Encoding", value: "identity"),
      ]
    guard !own.fields.isEmpty else { return HTTPFields(usual) }
    return HTTPFields(usual.filter { own[$0.name] == nil } + own.fields)
  }

  /// Returns a key that is equal for loads that may share one response: the URL and all request fields.
  ///
  /// - Returns: The key of the URL alone, if the request has no special fields.
  func shared(_ key: String, adding fields: HTTPFields = HTTPFields()) -> String {
    guard savesData || !own.fields.isEmpty || !fields.fields.isEmpty else { return key }
    return "\(key) \(ResponseKey.identity(HTTPFields(sent.fields + fields.fields)))"
  }

  private static let saveData = HTTPFields.Field(name: "Save-Data", value: "on")
}

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

  package init(userAgent: String, accept: String = ImageLoader.usualAccept) {
    self.userAgent = userAgent
    // Without a value, libcurl would send `*/*` itself.
    self.accept = accept.isEmpty ? "*/*" : accept
  }

  /// Returns the identity for requests in a situation.
  func adapted(to situation: Situation) -> RequestIdentity {
    var identity = self
    identity.savesData = situation.metered == .yes || situation.savesData
    return identity
  }

  /// The fields to send, in addition to those of the downloader.
  var fields: HTTPFields {
    let accepted = HTTPFields.Field(name: "Accept", value: accept)
    return HTTPFields(savesData ? [accepted, Self.saveData] : [accepted])
  }

  /// All fields of every request, those of the downloader included; `Vary` may name any of them.
  var sent: HTTPFields {
    HTTPFields(
      fields.fields + [
        .init(name: "User-Agent", value: userAgent), .init(name: "Accept-Encoding", value: "identity"),
      ]
    )
  }

  /// Returns a key that is equal for loads that may share one response: the URL and all request fields.
  ///
  /// - Parameters:
  ///   - key: The key of the URL.
  ///   - fields: The additional fields of this request.
  /// - Returns: The key of the URL alone, if the request has no special fields.
  func shared(_ key: String, adding fields: HTTPFields = HTTPFields()) -> String {
    guard savesData || !fields.fields.isEmpty else { return key }
    return "\(key) \(ResponseKey.identity(HTTPFields(sent.fields + fields.fields)))"
  }

  private static let saveData = HTTPFields.Field(name: "Save-Data", value: "on")
}

extension RequestIdentity {
  /// Makes the identity that a configuration describes.
  ///
  /// - Parameter configuration: The configuration of the loader.
  /// - Throws: ``ConfigurationError`` for an invalid field value.
  package init(_ configuration: ImageLoader.Configuration) throws(ConfigurationError) {
    var faults: [String] = []
    let accept = configuration.accept ?? ImageLoader.accept(of: configuration.decoder)
    for (name, value) in [("userAgent", configuration.userAgent), ("accept", accept)]
    where !value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) {
      faults.append("\(name): expected one line of text, found control characters")
    }
    guard faults.isEmpty else { throw ConfigurationError(faults) }
    self.init(userAgent: configuration.userAgent, accept: accept)
  }
}

extension ImageLoader {
  /// The formats that feedimg recognises, smaller ones first (RFC 9110 §12.5.1).
  public static let usualAccept =
    "image/avif,image/webp,image/png,image/jpeg,image/gif,image/*;q=0.8,*/*;q=0.5"

  /// Returns the value of `Accept` for a decoder.
  ///
  /// Any other format gets a low weight, because a server may have only that one.
  fileprivate static func accept(of decoder: (any ImageDecoding)?) -> String {
    guard let types = decoder?.mediaTypes, !types.isEmpty else { return usualAccept }
    return (types + ["*/*;q=0.1"]).joined(separator: ",")
  }
}

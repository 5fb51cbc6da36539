import FeedimgCache
import FeedimgModel

/// What every request for an image says of who asks, which servers may choose an image by (RFC 9110 §12).
package struct RequestIdentity: Sendable {
  private let userAgent: String
  private let accept: String
  /// Whether the server is asked to send less, as data costs or the user saves it (the Save-Data field of the W3C's
  /// incubator group, wicg.github.io/savedata).
  private(set) var savesData = false

  package init(userAgent: String, accept: String = ImageLoader.usualAccept) {
    self.userAgent = userAgent
    // Else libcurl would say so by itself.
    self.accept = accept.isEmpty ? "*/*" : accept
  }

  /// The same, as it is in a situation.
  func asking(in situation: Situation) -> RequestIdentity {
    var identity = self
    identity.savesData = situation.metered == .yes || situation.savesData
    return identity
  }

  /// What is to be sent beside what the downloader itself sends.
  var fields: HTTPFields {
    let accepted = HTTPFields.Field(name: "Accept", value: accept)
    return HTTPFields(savesData ? [accepted, Self.saveData] : [accepted])
  }

  /// Everything that is sent with every request, that of the downloader included; `Vary` may name any of it.
  var sent: HTTPFields {
    HTTPFields(
      fields.fields + [
        .init(name: "User-Agent", value: userAgent), .init(name: "Accept-Encoding", value: "identity"),
      ]
    )
  }

  /// What is the same for loads of an image that may share one answer: its URL, and all that is sent.
  ///
  /// - Parameters:
  ///   - key: That of the URL.
  ///   - question: What is sent beside the usual.
  /// - Returns: The key of the URL alone, where nothing is said that every load of one program does not say.
  func shared(_ key: String, asking question: HTTPFields = HTTPFields()) -> String {
    guard savesData || !question.fields.isEmpty else { return key }
    return "\(key) \(ResponseKey.identity(HTTPFields(sent.fields + question.fields)))"
  }

  private static let saveData = HTTPFields.Field(name: "Save-Data", value: "on")
}

extension RequestIdentity {
  /// The identity that a program gives itself.
  ///
  /// - Throws: ``ConfigurationError`` for what cannot be the value of a field.
  init(_ configuration: ImageLoader.Configuration) throws(ConfigurationError) {
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
  /// What feedimg can recognise, the smaller formats first (RFC 9110 §12.5.1).
  public static let usualAccept =
    "image/avif,image/webp,image/png,image/jpeg,image/gif,image/*;q=0.8,*/*;q=0.5"

  /// What a decoder decodes; anything else is better than no answer, as a server may know no other.
  fileprivate static func accept(of decoder: (any ImageDecoding)?) -> String {
    guard let types = decoder?.mediaTypes, !types.isEmpty else { return usualAccept }
    return (types + ["*/*;q=0.1"]).joined(separator: ",")
  }
}

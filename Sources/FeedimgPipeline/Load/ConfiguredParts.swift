import FeedimgModel
import FeedimgSettings

// The parts of a loader that a configuration describes.

extension PolicyCatalog {
  /// Finds the folders of the policies.
  ///
  /// - Throws: ``ConfigurationError`` for facts of the application that a table cannot express.
  package init(_ configuration: ImageLoader.Configuration) throws(ConfigurationError) {
    let own =
      configuration.configurationFolder
      ?? (try? SettingsPaths(environment: configuration.environment).configFolder)
    try self.init(
      hostFacts: configuration.hostFacts,
      userFolder: own,
      systemFolder: configuration.systemFolder
    )
  }
}

extension RequestIdentity {
  /// Makes the identity that a configuration describes.
  ///
  /// - Throws: ``ConfigurationError`` for an invalid field value.
  package init(_ configuration: ImageLoader.Configuration) throws(ConfigurationError) {
    var faults: [String] = []
    let accept = configuration.accept ?? ImageLoader.accept(of: configuration.decoder)
    for (name, value) in [("userAgent", configuration.userAgent), ("accept", accept)]
    where !value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) {
      faults.append("\(name): expected one line of text, found control characters")
    }
    faults += configuration.requests.faults
    guard faults.isEmpty else { throw ConfigurationError(faults) }
    self.init(userAgent: configuration.userAgent, accept: accept, requests: configuration.requests)
  }
}

extension ImageLoader {
  /// The usual formats of the web, smaller ones first (RFC 9110 §12.5.1).
  ///
  /// Any other image gets a lower weight, because feedimg recognises more formats.
  public static let usualAccept = RequestIdentity.usualAccept

  /// Returns the value of `Accept` for a decoder.
  ///
  /// Any other format gets a low weight, because a server may have only that one.
  fileprivate static func accept(of decoder: (any ImageDecoding)?) -> String {
    guard let types = decoder?.mediaTypes, !types.isEmpty else { return usualAccept }
    return (types + ["*/*;q=0.1"]).joined(separator: ",")
  }
}

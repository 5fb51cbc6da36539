package import FeedimgModel

/// A client certificate and the origins that receive it.
package struct ClientKey: Sendable {
  let origins: Set<String>
  let file: String
  let keyFile: String

  /// - Parameters:
  ///   - origins: URLs of the origins.
  ///   - file: A PEM file with the certificate.
  ///   - keyFile: A PEM file with the private key.
  package init(origins: [ImageURL], file: String, keyFile: String) {
    self.origins = Set(origins.map(\.origin))
    self.file = file
    self.keyFile = keyFile
  }
}

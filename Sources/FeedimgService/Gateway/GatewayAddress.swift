import CHMAC
import FeedimgModel

/// The addresses of a gateway for one client: how it reaches the service, and the token that signs its pictures.
struct GatewayAddress: Sendable {
  /// The address of the service as the client wrote it, such as `http://127.0.0.1:8080`.
  let base: String
  let token: AccessToken

  /// The signed address of a picture; nil if its URLs cannot be loaded.
  ///
  /// The address does not contain the token, so that a document reveals nothing that opens the gateway.
  func address(of picture: GatewayPicture) -> String? {
    guard picture.item != nil, let signature = signature(of: picture.path) else { return nil }
    return "\(base)/g/s/\(signature)/\(picture.path)"
  }

  /// The picture of a path without `/g/s/`; nil if the signature is wrong or the path is invalid.
  func picture(_ path: Substring) -> GatewayPicture? {
    guard let slash = path.firstIndex(of: "/") else { return nil }
    let signed = path[path.index(after: slash)...]
    guard let signature = signature(of: String(signed)),
      AccessToken(signature).isEqual(to: path[..<slash])
    else { return nil }
    return GatewayPicture(path: signed)
  }

  /// A mark for entity tags of changed documents, which differ with the address and the token.
  var mark: String { String((signature(of: "document \(base)") ?? "").prefix(8)) }

  /// The first 128 bits of the HMAC, which no one without the token can compute.
  private func signature(of text: String) -> String? {
    let (key, bytes) = (Array(token.text.utf8), Array(text.utf8))
    var code = [UInt8](repeating: 0, count: Int(feedimg_hmac_length))
    guard feedimg_hmac(key, key.count, bytes, bytes.count, &code) == 1 else { return nil }
    return Base64.encodeForURL(code.prefix(16))
  }
}

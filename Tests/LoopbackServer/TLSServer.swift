import Glibc

/// An `openssl s_server` on loopback with TLS and a self-signed certificate.
///
/// It responds to every request with a page of its own, over HTTP/1.0.
package final class TLSServer: Sendable {
  package let port: UInt16
  /// The certificate, which clients must trust explicitly.
  package var certificateFile: String { folder + "/certificate.pem" }
  /// The private key of the certificate.
  package var keyFile: String { folder + "/key.pem" }
  private let folder: String
  private let server: ChildProcess

  /// Whether `openssl` is installed.
  package static let isAvailable = access("/usr/bin/openssl", X_OK) == 0

  /// Makes a certificate and starts the server.
  ///
  /// - Parameters:
  ///   - name: The host in the certificate.
  ///   - asksForCertificate: Whether to refuse clients without a certificate.
  /// - Throws: ``LoopbackError`` if `openssl` fails.
  package init(certifiedFor name: String, asksForCertificate: Bool = false) throws(LoopbackError) {
    var template = Array("/tmp/feedimg-tls-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw LoopbackError("mkdtemp") }
    folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    let certificate = folder + "/certificate.pem"
    let key = folder + "/key.pem"
    let maker = try ChildProcess([
      "/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=\(name)",
      "-addext", "subjectAltName=DNS:\(name)",
    ])
    maker.wait()
    server = try ChildProcess(
      [
        "/usr/bin/openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key, "-www",
      ] + (asksForCertificate ? ["-Verify", "1", "-CAfile", certificate] : [])
    )
    // Such as `ACCEPT 127.0.0.1:39953`.
    let line = server.line { $0.hasPrefix("ACCEPT") }
    guard let port = line?.split(separator: ":").last.flatMap({ UInt16($0) }) else {
      throw LoopbackError("openssl s_server")
    }
    self.port = port
  }

  deinit {
    server.kill()
    for name in ["certificate.pem", "key.pem"] { unlink("\(folder)/\(name)") }
    rmdir(folder)
  }
}

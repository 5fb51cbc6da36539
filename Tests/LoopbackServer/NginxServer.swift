import Glibc

/// An `nginx` on loopback with HTTP/2 over TLS and a self-signed certificate.
///
/// It responds to every request with the same file.
package final class NginxServer: Sendable {
  /// Its log entry for one request.
  package struct Note: Sendable, Hashable {
    package let connection: String
    package let version: String
  }

  package let port: UInt16
  /// The certificate for `localhost`, which clients must trust explicitly.
  package var certificateFile: String { folder + "/certificate.pem" }
  private let folder: String
  private let server: ChildProcess

  private static let program = "/usr/sbin/nginx"

  /// Whether the needed programs are installed.
  package static let isAvailable = access(program, X_OK) == 0 && TLSServer.isAvailable

  /// Makes a certificate and starts the server.
  ///
  /// - Parameter body: The file, a JPEG.
  /// - Throws: ``LoopbackError`` if a program fails.
  package init(serving body: [UInt8]) throws(LoopbackError) {
    var template = Array("/tmp/feedimg-nginx-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw LoopbackError("mkdtemp") }
    folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    try ChildProcess([
      "/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-keyout", folder + "/key.pem", "-out", folder + "/certificate.pem", "-days", "2", "-subj",
      "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
    ]).wait()
    try Self.write(body, to: folder + "/picture.jpg")
    // nginx cannot choose a port, and a free one may be taken before it starts.
    for _ in 0..<5 {
      let port = try ClosedPort().port
      try Self.write(Array(Self.configuration(folder, port).utf8), to: folder + "/nginx.conf")
      let server = try ChildProcess([
        Self.program, "-p", folder, "-e", "/dev/stdout", "-c", folder + "/nginx.conf",
      ])
      // The first notice that it writes once it listens.
      guard server.line(where: { $0.contains(" OS: ") }) != nil else { continue }
      (self.port, self.server) = (port, server)
      return
    }
    throw LoopbackError("nginx")
  }

  deinit {
    server.kill()
    for name in ["certificate.pem", "key.pem", "picture.jpg", "nginx.conf", "nginx.pid"] {
      unlink("\(folder)/\(name)")
    }
    for name in ["body", "proxy", "fastcgi", "uwsgi", "scgi"] { rmdir("\(folder)/\(name)") }
    rmdir(folder)
  }

  /// The next log entries, as many as given.
  ///
  /// Waits until those requests have ended.
  package func notes(_ count: Int) -> [Note] {
    (0..<count).compactMap { _ in
      let line = server.line { $0.hasPrefix("request ") }
      let words = line?.split(separator: " ") ?? []
      return words.count == 3 ? Note(connection: String(words[1]), version: String(words[2])) : nil
    }
  }

  private static func configuration(_ folder: String, _ port: UInt16) -> String {
    """
    daemon off; master_process off; pid \(folder)/nginx.pid; error_log /dev/stdout notice;
    events {}
    http {
      log_format note 'request $connection $server_protocol';
      access_log /dev/stdout note;
      client_body_temp_path \(folder)/body; proxy_temp_path \(folder)/proxy; fastcgi_temp_path \(folder)/fastcgi;
      uwsgi_temp_path \(folder)/uwsgi; scgi_temp_path \(folder)/scgi;
      server {
        listen 127.0.0.1:\(port) ssl http2;
        ssl_certificate \(folder)/certificate.pem; ssl_certificate_key \(folder)/key.pem;
        root \(folder); default_type image/jpeg;
        location / { try_files /picture.jpg =404; }
      }
    }
    """
  }

  private static func write(_ bytes: [UInt8], to path: String) throws(LoopbackError) {
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw LoopbackError("open") }
    defer { close(file) }
    guard Glibc.write(file, bytes, bytes.count) == bytes.count else { throw LoopbackError("write") }
  }
}

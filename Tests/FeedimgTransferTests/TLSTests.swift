import FeedimgModel
import LoopbackServer
import Testing

@testable import FeedimgTransfer

/// Which certificates a transfer trusts.
@Suite(.timeLimit(.minutes(10)))
struct TLSTests {
  @Test(.enabled(if: TLSServer.isAvailable, "there is no /usr/bin/openssl to be the server"))
  func `a trusted certificate that names the host is accepted`() async throws {
    let server = try TLSServer(certifiedFor: "localhost")
    let downloader = CurlDownloader(userAgent: "feedimg-tests/1", certificateFile: server.certificateFile)
    let request = DownloadRequest(url: try ImageURL("https://localhost:\(server.port)/"))
    let head = try await downloader.download(request, into: Collector())
    #expect(head.status == 200)
  }

  @Test(.enabled(if: TLSServer.isAvailable, "there is no /usr/bin/openssl to be the server"))
  func `a certificate for another host is refused`() async throws {
    let server = try TLSServer(certifiedFor: "other.test")
    let downloader = CurlDownloader(userAgent: "feedimg-tests/1", certificateFile: server.certificateFile)
    let request = DownloadRequest(url: try ImageURL("https://localhost:\(server.port)/"))
    let error = await downloader.failure(request)
    #expect(error?.code == .security)
    #expect(
      error?.message.hasPrefix("the certificate of the host `localhost` was rejected: no alternative") == true
    )
  }

  @Test(.enabled(if: TLSServer.isAvailable, "there is no /usr/bin/openssl to be the server"))
  func `an untrusted certificate is refused`() async throws {
    let server = try TLSServer(certifiedFor: "localhost")
    let downloader = CurlDownloader(userAgent: "feedimg-tests/1")
    let request = DownloadRequest(url: try ImageURL("https://localhost:\(server.port)/"))
    let error = await downloader.failure(request)
    #expect(error?.code == .security)
    // Without the package ca-certificates, the message says so.
    #expect(error?.message.contains("certificate") == true)
  }

  @Test func `a server without TLS differs from one with a bad certificate`() async throws {
    let server = try LoopbackServer(greeting: Array("220 smtp.test ESMTP\r\n".utf8)) { _ in .response() }
    let downloader = CurlDownloader(userAgent: "feedimg-tests/1")
    let request = DownloadRequest(url: try ImageURL("https://127.0.0.1:\(server.port)/"))
    let error = await downloader.failure(request)
    #expect(error?.code == .security)
    #expect(error?.message.hasPrefix("the TLS handshake with the host `127.0.0.1` failed: ") == true)
  }

  @Test func `unreadable certificates are reported`() async throws {
    let downloader = CurlDownloader(userAgent: "feedimg-tests/1", certificateFile: "/nonexistent.pem")
    let server = try LoopbackServer { _ in .response() }
    let error = await downloader.failure(
      DownloadRequest(url: try ImageURL("https://127.0.0.1:\(server.port)/"))
    )
    #expect(error?.code == .security)
    #expect(error?.message.hasPrefix("cannot read the system's certificates") == true)
  }
}

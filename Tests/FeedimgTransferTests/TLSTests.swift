import CCurl
import FeedimgModel
import Glibc
import LoopbackServer
import Testing

@testable import FeedimgTransfer

/// Whom a transfer trusts.
@Suite(.timeLimit(.minutes(10)))
struct TLSTests {
  @Test(.enabled(if: TLSServer.isAvailable, "there is no /usr/bin/openssl to be the server"))
  func `a certificate that is trusted and names the host is accepted`() async throws {
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
      error?.message.hasPrefix("the certificate of the host `localhost` was refused: no alternative") == true
    )
  }

  @Test(.enabled(if: TLSServer.isAvailable, "there is no /usr/bin/openssl to be the server"))
  func `a certificate that nobody vouches for is refused`() async throws {
    let server = try TLSServer(certifiedFor: "localhost")
    let downloader = CurlDownloader(userAgent: "feedimg-tests/1")
    let request = DownloadRequest(url: try ImageURL("https://localhost:\(server.port)/"))
    let error = await downloader.failure(request)
    #expect(error?.code == .security)
    // Without the package ca-certificates, that is what is said.
    #expect(error?.message.contains("certificate") == true)
  }

  @Test(.enabled(if: TLSServer.isAvailable, "there is no /usr/bin/openssl to be the server"))
  func `the cipher is the one that this processor is quick with`() async throws {
    let server = try TLSServer(certifiedFor: "localhost")
    let downloader = CurlDownloader(userAgent: "feedimg-tests/1", certificateFile: server.certificateFile)
    let page = Collector()
    _ = try await downloader.download(
      DownloadRequest(url: try ImageURL("https://localhost:\(server.port)/")),
      into: page
    )
    let expected = try hasFastAES() ? "TLS_AES_128_GCM_SHA256" : "TLS_CHACHA20_POLY1305_SHA256"
    #expect(String(decoding: page.bytes, as: UTF8.self).contains(", TLSv1.3, Cipher is \(expected)\n"))
  }

  /// Whether the kernel says that the processor has instructions for AES.
  private func hasFastAES() throws -> Bool {
    let file = try #require(fopen("/proc/cpuinfo", "re"))
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes[..<count], as: UTF8.self).split { " \n".contains($0) }.contains("aes")
  }

  @Test(arguments: [
    (true, ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"]),
    (false, ["TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"]),
  ])
  func `every cipher of TLS 1.3 is offered, the quickest first`(hasFastAES: Bool, order: [String]) {
    let names = String(cString: ccurl_preferred_ciphers(hasFastAES ? 1 : 0))
    #expect(names.split(separator: ":").map(String.init) == order)
  }

  @Test func `a server without TLS is told from one with a bad certificate`() async throws {
    let server = try LoopbackServer(greeting: Array("220 smtp.test ESMTP\r\n".utf8)) { _ in .answer() }
    let downloader = CurlDownloader(userAgent: "feedimg-tests/1")
    let request = DownloadRequest(url: try ImageURL("https://127.0.0.1:\(server.port)/"))
    let error = await downloader.failure(request)
    #expect(error?.code == .security)
    #expect(error?.message.hasPrefix("the TLS handshake with the host `127.0.0.1` failed: ") == true)
  }

  @Test func `certificates that cannot be read are said`() async throws {
    let downloader = CurlDownloader(userAgent: "feedimg-tests/1", certificateFile: "/nonexistent.pem")
    let server = try LoopbackServer { _ in .answer() }
    let error = await downloader.failure(
      DownloadRequest(url: try ImageURL("https://127.0.0.1:\(server.port)/"))
    )
    #expect(error?.code == .security)
    #expect(error?.message.hasPrefix("the system's certificates cannot be read") == true)
  }
}

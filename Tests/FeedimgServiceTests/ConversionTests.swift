import FeedimgDecoding
import FeedimgJSON
import FeedimgModel
import FoundationEssentials
import Glibc
import LoopbackServer
import Testing

/// `format=` of `/v1/image`, with real images.
@Suite(.timeLimit(.minutes(10))) struct ConversionTests {
  private static let folder =
    URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().path + "/FeedimgDecodingTests/Fixtures"

  private let origin: LoopbackServer
  private let service: ServiceRun

  init() throws {
    origin = try LoopbackServer { request in
      let body = try? Data(contentsOf: URL(filePath: Self.folder + request.path))
      return .response(200, [("Cache-Control", "max-age=60")], body: [UInt8](body ?? Data()))
    }
    service = try ServiceRun(["--network=wifi"])
  }

  private func image(
    _ name: String,
    _ query: String,
    _ arguments: String...,
    from other: ServiceRun? = nil
  ) throws -> CurlResponse {
    let item = #"{"originalImage":"\#(origin.url("/" + name))"}"#
    let words = ["/v1/image?\(query)", "--json", item] + arguments
    return try CurlResponse(of: try (other ?? service).request(words))
  }

  /// The pixels of a PAM file with straight alpha.
  private func pixels(_ response: CurlResponse) -> (width: Int, height: Int, bytes: ArraySlice<UInt8>)? {
    let end = Array("ENDHDR\n".utf8)
    guard let start = response.body.firstRange(of: end)?.upperBound else { return nil }
    let words = String(decoding: response.body[..<start], as: UTF8.self).split { $0 == "\n" || $0 == " " }
    guard words.count == 12, words[0] == "P7", let width = Int(words[2]), let height = Int(words[4]) else {
      return nil
    }
    return (width, height, response.body[start...])
  }

  @Test(arguments: ["clouds.jpg", "turned-6.jpg", "fading.webp", "colors.avif", "animation.gif", "deep.png"])
  func `an image of any format becomes PNG and pixels of the size of the view`(_ name: String) async throws {
    let original = try Data(contentsOf: URL(filePath: "\(Self.folder)/\(name)"))
    let request = DecodeRequest(DisplaySize(width: 40, height: 30), damage: .show)
    let wanted = try await CodecDecoder().decode([UInt8](original), request).bitmap
    let pam = try image(name, "width=40&height=30&format=pam")
    #expect(pam["Content-Type"] == "image/x-portable-arbitrarymap")
    let found = try #require(pixels(pam))
    #expect(PixelSize(width: found.width, height: found.height) == wanted.size)
    #expect(found.bytes.count == 4 * found.width * found.height)
    if wanted.isOpaque { #expect(Array(found.bytes) == wanted.bytes) }

    let png = try image(name, "width=40&height=30&format=png")
    #expect(png["Content-Type"] == "image/png" && png["ETag"] != pam["ETag"])
    #expect(png["Content-Location"] == origin.url("/" + name) && png["Feedimg-Image"] == "original")
    #expect(try await CodecDecoder().decode(png.body, DecodeRequest()).bitmap == wanted)
    let tag = try #require(png["ETag"])
    let known = try image(name, "width=40&height=30&format=png", "-H", "If-None-Match: \(tag)")
    #expect(known.status == 304 && known.body.isEmpty)
    #expect(try image(name, "width=41&height=30&format=png", "-H", "If-None-Match: \(tag)").status == 200)
  }

  @Test(arguments: ["huge.avif", "huge.gif", "huge.jpg", "huge.png", "huge.webp"])
  func `an image that would take much memory is refused`(_ name: String) throws {
    let response = try image(name, "format=png")
    #expect(response.status == 502, "\(response.text)")
    #expect(response.object["type"] == "urn:feedimg:problem:undecodable")
    #expect(response.object["detail"]?.text?.contains("cannot be converted") == true)
    #expect(try image(name, "").status == 200, "the bytes themselves are passed on")
  }

  @Test func `images are converted, and refused, also if the parent of the service ignores SIGCHLD`() throws {
    let wrapper = ["/usr/bin/env", "--ignore-signal=CHLD"]
    let service = try ServiceRun(["--network=wifi"], wrapper: wrapper)
    #expect(try image("clouds.jpg", "format=png", from: service)["Content-Type"] == "image/png")
    #expect(try image("huge.jpg", "format=png", from: service).status == 502)
  }

  @Test(arguments: [
    ("<clouds.jpg >/dev/full", "the image cannot be written"),
    ("<.", "cannot read `standard input`: is a directory"),
  ])
  func `an image that cannot be read or written is an error`(redirections: String, message: String) throws {
    let program = "\(ServiceRun.program.dropLast("serve".count))pixels"
    let script = #"cd "$1" && exec "$0" pam 800 600 \#(redirections)"#
    let errors = "\(service.root)/conversion"
    let process = try ServiceRun.spawn(["/bin/sh", "-c", script, program, Self.folder], [:], errors: errors)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    #expect(status >> 8 == 1)
    #expect(try String(decoding: Data(contentsOf: URL(filePath: errors)), as: UTF8.self) == message)
  }

  @Test func `an unknown format is refused`() throws {
    let response = try image("clouds.jpg", "format=tiff")
    #expect(response.status == 422)
    #expect(response.object["detail"] == "`format=`: expected `png` or `pam`, found `tiff`")
    #expect(origin.log.requests.isEmpty)
  }
}

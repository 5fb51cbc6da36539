import FeedimgModel
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Images that depend on credentials.
@Suite struct CredentialTests {
  /// A server that sends each user another picture.
  private func server() throws -> LoopbackServer {
    try LoopbackServer { request in
      .response(
        200,
        [("Cache-Control", "max-age=600")],
        body: request["Authorization"] == nil ? SampleImage.jpeg : SampleImage.png
      )
    }
  }

  /// An item with the URL of a server, with or without credentials.
  private func item(_ server: LoopbackServer, _ user: String?) throws -> FeedItem {
    let url = server.url("/a").replacing("http://", with: user.map { "http://\($0)@" } ?? "http://")
    return FeedItem(original: ImageVariant(role: .original, url: try ImageURL(url)), thumbnail: nil)
  }

  @Test func `a response to a request with credentials is neither shared with nor shown to other users`()
    async throws
  {
    let server = try server()
    let test = try TestLoader()
    let users = [nil, "ann:secret", "bob:secret"]
    let loads = try users.map { user in
      let item = try item(server, user)
      return Task { try await test.loader.load(item).bytes }
    }
    let bodies = [SampleImage.jpeg, SampleImage.png, SampleImage.png]
    for (load, body) in zip(loads, bodies) { #expect(try await load.value == body) }
    #expect(server.log.requests.count == 3)
    #expect(Set(server.log.requests.map { $0["Authorization"] }).count == 3)
    let again = try TestLoader(folder: test.folder)
    for (user, body) in zip(users, bodies) {
      let image = try await again.loader.load(try item(server, user))
      #expect(image.bytes == body && image.source == .disk)
    }
    #expect(server.log.requests.count == 3)
  }

  @Test func `programs that request different formats keep separate responses`()
    async throws
  {
    let server = try LoopbackServer { request in
      .response(
        200,
        [("Cache-Control", "max-age=600"), ("Vary", "User-Agent")],
        body: request["User-Agent"] == "one" ? SampleImage.jpeg : SampleImage.png
      )
    }
    let one = try TestLoader(userAgent: "one")
    let two = try TestLoader(userAgent: "two", folder: one.folder)
    for _ in 0..<2 {
      #expect(try await one.loader.load(item(server, nil)).bytes == SampleImage.jpeg)
      #expect(try await two.loader.load(item(server, nil)).bytes == SampleImage.png)
    }
    let third = try TestLoader(userAgent: "two", folder: one.folder)
    let image = try await third.loader.load(item(server, nil))
    #expect(image.bytes == SampleImage.png && image.source == .disk)
    #expect(server.log.requests.count == 2)
  }
}

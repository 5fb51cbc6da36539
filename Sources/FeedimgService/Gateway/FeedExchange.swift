import FeedimgFeeds
import FeedimgModel

/// A request for a feed of any server, at `/g/TOKEN/feed/URL`.
///
/// The token and the address of the gateway are parts of the URL of the feed. Its entity tag and date can therefore stay.
struct FeedExchange: GatewayExchange {
  let request: ServiceRequest
  let url: ImageURL
  let address: GatewayAddress

  /// - Throws: ``Problem`` if there is no URL of http or https in the target.
  init(_ request: ServiceRequest, _ address: GatewayAddress) throws(Problem) {
    (self.request, self.address) = (request, address)
    let text = request.target.text.dropFirst(Self.prefix(address).count)
    do throws(ImageURLError) {
      url = try ImageURL(String(text))
    } catch {
      throw Problem(400, "expected the URL of a feed after `/feed/`, but it \(error)")
    }
  }

  /// Whether a path is that of a feed, with any token.
  static func takes(_ path: String) -> Bool {
    let parts = path.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    return parts.count == 4 && parts[1] == "g" && parts[2] != "s" && parts[3].hasPrefix("feed/")
  }

  private static func prefix(_ address: GatewayAddress) -> String { "/g/\(address.token.text)/feed/" }

  /// The fields that only the server of the feed may get.
  private var credentials: HTTPFields {
    HTTPFields(request.fields.forServer.fields.filter(\.isCredential))
  }

  func download(within responseTimeout: Duration) throws(LoadError) -> DownloadRequest {
    var request = request
    // A part of a feed cannot be changed.
    request.fields.fields.removeAll { $0.isNamed("range") || $0.isNamed("if-range") }
    var download = DownloadRequest(request, to: url, within: responseTimeout)
    download.boundFields = credentials
    // A reader learns of permanent redirects. For it, all servers have one origin here: it would send its credentials to
    // the next server too.
    download.followsRedirects = !credentials.fields.isEmpty
    return download
  }

  func mayChange(_ head: ResponseHead) -> Bool {
    head.isWhole && head.status == 200
      && !["image/", "audio/", "video/"].contains { head.mediaType.hasPrefix($0) }
  }

  func changed(_ document: [UInt8], of head: ResponseHead) -> [UInt8]? {
    let rewriter = FeedRewriter(base: head.url) { original, thumbnail in
      let picture: GatewayPicture? =
        original.map { .chosen(original: $0, thumbnail: thumbnail) } ?? thumbnail.map { .thumbnail($0) }
      return picture.flatMap(address.address(of:))
    }
    return rewriter.rewritten(document)
  }

  func fields(for head: ResponseHead, isChanged: Bool?) -> HTTPFields {
    var result = isChanged == false ? head.fields.forClient : head.fields.forClient.forChanged
    for index in result.fields.indices where result.fields[index].isNamed("location") {
      let target = FeedRewriter.absolute(result.fields[index].value, base: head.url)
      if let target { result.fields[index].value = address.base + Self.prefix(address) + target }
    }
    return result
  }
}

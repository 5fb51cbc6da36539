import Feedimg
import FeedimgModel

/// Forwards requests of a gateway, and changes documents on their way to the client.
struct GatewayForwarding: Sendable {
  let loader: ImageLoader
  /// The time limit for the first byte of a response other than a stream of events.
  var responseTimeout = Duration.seconds(60)

  /// The time limit for the connection of a WebSocket.
  private static let connectTimeout = Duration.seconds(10)
  /// The longest document to change, in bytes; longer ones pass unchanged.
  private static let longestDocument = 8 << 20

  /// The response of the server, with a changed document or with the body as it arrives.
  func response(
    to request: ServiceRequest,
    _ exchange: some GatewayExchange
  ) async throws(Problem) -> ServiceResponse {
    let response: ForwardedResponse
    do throws(LoadError) {
      response = try await loader.forward(try exchange.download(within: responseTimeout))
    } catch {
      throw error.problem
    }
    let head = response.head
    var result = ServiceResponse(head.status)
    guard request.method != "HEAD", ![204, 304].contains(head.status) else {
      result.fields = exchange.fields(for: head, isChanged: nil)
      // The length of a changed document is unknown.
      result.body = .absent(length: exchange.mayChange(head) ? nil : head.contentLength)
      response.leave()
      return result
    }
    if exchange.mayChange(head), let bytes = try await document(of: response) {
      response.leave()
      let changed = exchange.changed(bytes, of: head)
      result.ownsBody = true
      result.fields = exchange.fields(for: head, isChanged: changed != nil)
      result.body = .bytes((changed ?? bytes)[...])
      return result
    }
    let events = exchange.events(in: head)
    result.fields = exchange.fields(for: head, isChanged: events != nil)
    result.body = .stream(
      BodyStream(
        body: response.body,
        total: events == nil ? head.contentLength : nil,
        isOnlyReader: true,
        events: events,
        leave: response.leave
      )
    )
    return result
  }

  /// The upgrade of a client's connection to a WebSocket.
  func webSocket(_ exchange: MastodonExchange) async throws(Problem) -> ServiceResponse {
    do throws(LoadError) {
      let descriptor = try await loader.connect(to: try exchange.url(), within: Self.connectTimeout)
      return ServiceResponse(101, body: .webSocket(exchange.webSocket(over: descriptor)))
    } catch {
      throw error.problem
    }
  }

  /// The whole document; nil if it is too long to change.
  private func document(of response: ForwardedResponse) async throws(Problem) -> [UInt8]? {
    guard response.head.contentLength ?? 0 <= Self.longestDocument else { return nil }
    var bytes: [UInt8] = []
    do throws(LoadError) {
      while let chunk = try await response.body.chunk(at: bytes.count) {
        bytes += chunk
        guard bytes.count <= Self.longestDocument else { return nil }
      }
      return bytes
    } catch {
      response.leave()
      throw error.problem
    }
  }
}

import Synchronization

/// A server of one picture that changes over time, with conditional and range requests as in RFC 9110.
package final class PictureOrigin: Sendable {
  /// One version of the picture, and its response fields.
  package struct Version: Sendable {
    package var body: [UInt8]
    package var fields: [(String, String)]

    package init(_ body: [UInt8], _ fields: [(String, String)] = []) {
      self.body = body
      self.fields = fields
    }

    fileprivate func value(_ name: String) -> String? { fields.first { $0.0 == name }?.1 }
  }

  private struct State {
    var version: Version
    var override: Reply?
    var cuts: [Int] = []
  }

  private final class SharedState: Sendable {
    let state: Mutex<State>
    init(_ version: Version) { state = Mutex(State(version: version)) }
  }

  private let shared: SharedState
  package let server: LoopbackServer

  package init(_ body: [UInt8], _ fields: [(String, String)] = []) throws {
    let shared = SharedState(Version(body, fields))
    self.shared = shared
    server = try LoopbackServer { request in shared.state.withLock { Self.reply(to: request, &$0) } }
  }

  /// The version that is served from now on.
  package var version: Version {
    get { shared.state.withLock { $0.version } }
    set { shared.state.withLock { $0.version = newValue } }
  }

  /// Sends this reply to every request from now on.
  ///
  /// Nil means the picture.
  package func respond(always reply: Reply?) { shared.state.withLock { $0.override = reply } }

  /// Interrupts the next bodies, in order, after these numbers of bytes.
  package func cut(after counts: Int...) { shared.state.withLock { $0.cuts = counts } }

  package var requests: [Request] { server.log.requests }

  /// Bytes that begin like a JPEG and differ for each seed.
  package static func picture(_ seed: UInt8, size: Int) -> [UInt8] {
    SampleImage.jpeg
      + (0..<max(0, size - SampleImage.jpeg.count)).map { UInt8(truncatingIfNeeded: $0 &* 31) ^ seed }
  }

  private static func reply(to request: Request, _ state: inout State) -> Reply {
    if let override = state.override { return override }
    let version = state.version
    let (tag, date) = (version.value("ETag"), version.value("Last-Modified"))
    let isSame =
      if let asked = request["If-None-Match"] {
        tag.map { opaque($0) == opaque(asked) } ?? false
      } else {
        date != nil && request["If-Modified-Since"] == date
      }
    if isSame { return Reply([.send(Reply.head(304, version.fields))], keepsConnection: true) }
    var (status, fields, body) = (200, version.fields, version.body[...])
    if let first = request.rangeStart, request["If-Range"].map({ $0 == tag || $0 == date }) ?? true {
      guard first < body.count else {
        return .response(416, fields + [("Content-Range", "bytes */\(body.count)")])
      }
      fields.append(("Content-Range", "bytes \(first)-\(body.count - 1)/\(body.count)"))
      (status, body) = (206, body[first...])
    }
    let head = Reply.head(status, fields + [("Content-Length", String(body.count))])
    guard !state.cuts.isEmpty else { return Reply([.send(head + body)], keepsConnection: true) }
    return Reply([.send(head + body.prefix(state.cuts.removeFirst()))])
  }

  private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
}

import FeedimgModel
import NIOCore
import NIOHTTP1

extension ConnectionHandler {
  /// Whether the next byte begins a request, and that may be answered.
  var awaitsRequest: Bool {
    guard case .waiting = phase else { return false }
    return !endsAfterAnswer && !register.isDraining
  }

  /// Answers a plain request whose answer is at hand, as if it had been decoded.
  ///
  /// - Parameter bytes: All that has come and was not read yet.
  /// - Returns: False where it takes more than that; nothing has happened then.
  func answerPlainly(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count <= limits.head, let context, let request = PlainRequest(bytes) else { return false }
    let lines = UnsafeRawBufferPointer(rebasing: bytes[request.fields])
    let fields = latestFields.fields(in: lines) { lines in
      // Why somebody may not ask is told by those who decode.
      guard let read = PlainRequest.fields(lines, atMost: limits.fieldCount),
        read["Host"].map(HostField.isWellFormed) ?? true, access.objection(to: read) == nil
      else { return nil }
      return access.withoutOwn(read)
    }
    let takesCopies = output?.takesCopies ?? false
    guard let fields,
      let answer = routes.answerAtOnce(bytes[request.target], fields, takesCopies: takesCopies)
    else { return false }
    phase = .answering(Self.plainHead, nil)
    send(answer, context: context)
    return true
  }

  /// What an answer depends on, of all plain requests.
  private static let plainHead = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
}

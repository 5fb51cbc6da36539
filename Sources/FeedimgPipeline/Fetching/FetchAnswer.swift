import FeedimgCache
package import FeedimgModel

/// What a client is answered by the cache of answers.
package struct FetchAnswer: Sendable {
  package enum Body: Sendable {
    /// None, as the head alone was asked for; with the length that it would have, where that is known.
    case absent(length: Int?)
    case whole([UInt8])
    /// With its length, where that is announced.
    case arriving(ResponseStream, length: Int?)
  }

  package let status: Int
  /// As the server sent them, without those that are about its connection and without `Content-Length`.
  package let fields: HTTPFields
  package let body: Body
  /// How the cache dealt with the request (RFC 9211).
  package let cacheStatus: String
  /// Whether this is all that there is, whatever the client has of it or wants.
  package let isWhole: Bool
  /// To be called when nobody takes the body any more, or it has ended.
  package let leave: @Sendable () -> Void
}

/// Why the cache has no answer.
package struct FetchError: Error, Sendable {
  /// What went wrong; nil where the client wanted no server to be asked.
  package let cause: LoadError?
  /// Whether something is stored that must not be shown without asking (RFC 9111 §5.2.2.2).
  package let hasStored: Bool
  /// How the cache dealt with the request (RFC 9211).
  package let cacheStatus: String
}

extension FetchAnswer {
  /// What is stored, with its age now.
  init(_ found: AnswerShelf.Finding, to request: FetchRequest, at now: Double, cacheStatus: String) {
    let age = DeltaSeconds.whole(found.answer.age(at: now))
    let fields = found.answer.handedOn.fields.filter { !$0.isNamed("age") }
    self.init(
      status: found.answer.head.status,
      fields: HTTPFields(fields + [HTTPFields.Field(name: "Age", value: String(age))]),
      body: request.isHead ? .absent(length: found.bytes.count) : .whole(found.bytes),
      cacheStatus: cacheStatus,
      isWhole: true,
      leave: {}
    )
  }

  /// What a server is answering.
  init(
    _ arrival: StreamingResponse,
    to request: FetchRequest,
    cacheStatus: String,
    isWhole: Bool,
    leave: @escaping @Sendable () -> Void
  ) {
    let head = arrival.answer.head
    let length = head.bodyLength
    self.init(
      status: head.status,
      fields: arrival.answer.handedOn,
      body: request.isHead ? .absent(length: length) : .arriving(arrival.body, length: length),
      cacheStatus: cacheStatus,
      isWhole: isWhole,
      leave: leave
    )
  }
}

extension StoredResponse {
  /// The fields that go from one connection to another, without what no recipient would take.
  ///
  /// An answer without a date has that of its coming (RFC 9110 §6.6.1).
  fileprivate var handedOn: HTTPFields {
    var fields = head.fields.storable.fields.compactMap {
      $0.isNamed("content-length") ? nil : $0.wellFormed
    }
    if !fields.contains(where: { $0.isNamed("date") }) {
      let date = HTTPDate.text(DeltaSeconds.whole(respondedAt))
      fields.append(HTTPFields.Field(name: "Date", value: date))
    }
    return HTTPFields(fields)
  }
}

import FeedimgJSON
import FeedimgModel

/// What the service answers.
struct ServiceAnswer: Sendable {
  /// What follows the fields.
  enum Body: Sendable {
    case bytes(ArraySlice<UInt8>)
    /// Nothing, as the head alone was asked for; with the length that it would have, where that is known.
    case absent(length: Int?)
    /// What is still coming.
    case stream(AnswerStream)
    /// Events as they happen, until the client leaves.
    case events(EventReader)
  }

  var status: Int
  var fields: HTTPFields
  /// More fields, whose text is known; they come first.
  var lines: FieldLines?
  var body: Body
  /// All of what the bytes of the body are of, at the same places, where that is sent for less than they are.
  var copy: SealedBody?

  init(_ status: Int = 200, fields: [(String, String)] = [], body: Body = .bytes([])) {
    self.status = status
    self.fields = HTTPFields(fields.map { HTTPFields.Field(name: $0.0, value: $0.1) })
    self.body = body
  }

  /// A text of a media type, never to be kept by anybody.
  init(_ status: Int = 200, text: String, as mediaType: String) {
    self.init(
      status,
      fields: [("Content-Type", mediaType), ("Cache-Control", "no-store")],
      body: .bytes(Array(text.utf8)[...])
    )
  }

  /// One JSON value.
  init(_ status: Int = 200, json: String) { self.init(status, text: json, as: "application/json") }

  /// The length of the body; nil where only its end will tell.
  var length: Int? {
    switch body {
    case .bytes(let bytes): bytes.count
    case .absent(let length): length
    case .stream(let stream): stream.length
    case .events: nil
    }
  }

  /// All of the body; nil where it is still to come.
  var whole: ArraySlice<UInt8>? {
    switch body {
    case .bytes(let bytes): bytes
    case .absent: []
    case .stream, .events: nil
    }
  }

  /// Whether the answer lasts until somebody leaves.
  var isEndless: Bool { if case .events = body { true } else { false } }

  /// Tells that nobody takes the answer.
  func abandon() {
    if case .stream(let stream) = body { stream.leave() }
  }
}

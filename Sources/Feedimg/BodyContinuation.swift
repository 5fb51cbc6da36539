import FeedimgCache
import FeedimgModel
import FeedimgTransfer

/// The beginning of an image, and how to go on with it (RFC 9111 §3.3, §3.4).
struct BodyContinuation: Sendable {
  /// What an answer means for the beginning.
  enum Step: Sendable {
    /// The body goes on behind the beginning; the answer is that of the whole.
    case append(StoredAnswer)
    /// The beginning is all of the image, and the body is none of it.
    case complete(StoredAnswer)
    /// The body is all of an image.
    case replace
    /// The beginning is of no use: it must be asked for without it.
    case startOver
    /// The answer brings no image.
    case refuse
  }

  let beginning: ImageBeginning
  private let resumption: Resumption

  /// Nil where it is not safe to go on.
  init?(_ beginning: ImageBeginning, by identity: RequestIdentity, at now: Double) {
    let answer = beginning.answer
    // The rest must be of the image that was chosen then (RFC 9111 §4.1).
    guard Vary(answer.head.fields).matches(answer.varied, identity.sent),
      let resumption = Resumption(answer.head, kept: beginning.bytes.count, now: DeltaSeconds.whole(now))
    else { return nil }
    self.beginning = beginning
    self.resumption = resumption
  }

  /// What asks for the rest.
  var fields: HTTPFields { resumption.fields }

  /// Decides before the first byte of a body is kept.
  func step(_ answer: StoredAnswer) -> Step {
    switch resumption.step(answer.head) {
    case .append: .append(whole(answer))
    case .complete: .complete(all)
    case .replace: .replace
    case .startOver: .startOver
    case .answer: .refuse
    }
  }

  /// The answer that the whole has: servers need not repeat with a part what they said before (RFC 9110 §15.3.7).
  private func whole(_ part: StoredAnswer) -> StoredAnswer {
    var whole = beginning.answer.updated(by: part)
    whole.head.status = 200
    whole.head.contentLength = resumption.whole(after: part.head).contentLength
    whole.head.endsByClosing = part.head.endsByClosing && whole.head.contentLength == nil
    return whole
  }

  /// What a 416 says is about itself, but for the length of the image.
  private var all: StoredAnswer {
    var all = beginning.answer
    all.head.contentLength = beginning.bytes.count
    all.head.endsByClosing = false
    return all
  }
}

extension ImageTransfer {
  /// How to go on with what broke off before; nil where nothing did, or that is not safe.
  func continuation() -> BodyContinuation? {
    loader.store.beginning(of: variant.url.key)
      .flatMap { BodyContinuation($0, by: identity, at: loader.clock()) }
  }
}

extension LoadError {
  /// Whether the rest of the image may well be had another time.
  var breaksOff: Bool {
    switch code {
    case .cancelled, .truncated, .connection, .timeout, .unavailable: true
    default: false
    }
  }
}

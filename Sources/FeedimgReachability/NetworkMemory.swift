import FeedimgModel

/// What the latest look at the network saw, for as long as nothing speaks against it (pure).
///
/// Who decides about many images looks as often, and hardly ever sees anything new: to ask whether something was heard
/// since takes one system call, and to look takes a dozen.
struct NetworkMemory {
  /// What a look depends on besides the network.
  struct Question: Equatable {
    var services: NetworkServices
    var peer: String?
  }

  /// What a look saw.
  struct Sight {
    var state: NetworkState
    /// How the networks that it came by are marked.
    var marks: [(network: NetworkIdentity, word: Metered?)] = []
  }

  /// A load of one image looks fewer times; for those it is not worth it to listen.
  static let looksBeforeListening = 8
  /// Not all that a look sees is told of, such as what an access point says; this late it is seen at most.
  static let longestTrust = Duration.seconds(1)

  private var issued = 0
  /// Looks up to this number may have seen what is no longer so.
  private var outdated = 0
  private var known: (number: Int, sight: Sight, question: Question, time: ContinuousClock.Instant)?

  /// Begins a look.
  ///
  /// - Returns: Its number, counted from 1.
  mutating func begin() -> Int {
    issued += 1
    return issued
  }

  /// Takes note of what a look saw, unless a later one has ended before, or something was heard since it began.
  ///
  /// - Parameters:
  ///   - sight: What it saw.
  ///   - number: That of the look.
  ///   - question: What it depended on.
  ///   - time: When it began, by a clock that runs on while the computer sleeps.
  mutating func keep(
    _ sight: Sight,
    _ number: Int,
    _ question: Question,
    at time: ContinuousClock.Instant
  ) {
    if max(known?.number ?? 0, outdated) < number { known = (number, sight, question, time) }
  }

  /// Something was heard that neither what is known tells of, nor a look that goes on.
  mutating func forget() { (known, outdated) = (nil, issued) }

  /// What is known, if it holds.
  ///
  /// - Parameters:
  ///   - question: What a look would depend on now.
  ///   - number: That of the first look since which every change was heard of.
  ///   - time: Now, by the same clock.
  /// - Returns: Nil where the network has to be looked at.
  func sight(_ question: Question, heardSince number: Int, at time: ContinuousClock.Instant) -> Sight? {
    guard let known, known.number >= number, known.question == question,
      known.time.duration(to: time) < Self.longestTrust
    else { return nil }
    return known.sight
  }
}

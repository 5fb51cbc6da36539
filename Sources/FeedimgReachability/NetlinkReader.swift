package import FeedimgModel
import Synchronization

/// Reads the state of the network from the kernel, over netlink.
///
/// It has no thread. It opens a socket at the first look and keeps it, so that later looks cost a few
/// questions of some microseconds each. Who looks often has it listen as well, so that only what changes is looked at.
package final class NetlinkReader: NetworkReading {
  /// The kernel while nobody asks it.
  ///
  /// Who asks takes it out; a second one at the same time opens its own.
  private let idleKernel = Mutex<Loan?>(nil)
  /// What was seen last; never looked for under the lock.
  private let memory = Mutex(NetworkMemory())
  /// Guards what services said; they are asked outside.
  private let memo: Mutex<AdviceMemo>

  private let choose: @Sendable () -> NetworkServices
  private let peer: @Sendable () -> String?
  private let mark: @Sendable (NetworkIdentity) -> Metered?

  /// Makes a reader, which opens nothing yet.
  ///
  /// - Parameters:
  ///   - services: Whom to ask besides the kernel, chosen anew for each look; that takes a millisecond at first and
  ///     some tenths later.
  ///   - adviceLife: How old what they said may be for who looks often; they are asked at each look, if it is zero.
  ///   - peer: The address of who answered last over the internet, such as `192.0.2.1`; the way there is asked for.
  ///   - mark: How the user marked a network; nil where there is no mark. It may be called on any thread.
  package init(
    services: @escaping @autoclosure @Sendable () -> NetworkServices = .none,
    adviceLife: Duration = .zero,
    peer: @escaping @Sendable () -> String? = { nil },
    mark: @escaping @Sendable (NetworkIdentity) -> Metered? = { _ in nil }
  ) {
    choose = services
    memo = Mutex(AdviceMemo(life: adviceLife))
    self.peer = peer
    self.mark = mark
  }

  /// Whom to ask now.
  var services: NetworkServices { choose() }

  package func currentState() -> NetworkState { state(asRemembered: true) }

  /// The same, for who looks because something has happened: nothing is remembered, and services are asked in any case.
  func freshState() -> NetworkState { state(asRemembered: false) }

  private func state(asRemembered: Bool) -> NetworkState {
    do throws(NetlinkError) {
      let loan = try borrow()
      let question = NetworkMemory.Question(services: services, peer: peer())
      // In any case, lest what is heard piles up.
      let hasHeard = hasHeard(loan)
      if asRemembered, !hasHeard, let state = remembered(question, loan) {
        giveBack(loan)
        return state
      }
      let (number, time) = (memory.withLock { $0.begin() }, ContinuousClock.now)
      // Before the look, so that no change falls between.
      if number > NetworkMemory.looksBeforeListening { loan.listen(from: number, to: question.services) }
      let sight = try look(loan, question, asksAnew: !asRemembered)
      // Not where asking failed: what is left of the answer would be in the way.
      giveBack(loan)
      memory.withLock { $0.keep(sight, number, question, at: time) }
      return sight.state
    } catch {
      return .untold(error.reason, isReachable: TrialRoute.isThere())
    }
  }

  /// Whether anything was heard since this was asked last; what is remembered goes then.
  private func hasHeard(_ loan: Loan) -> Bool {
    guard let (events, _) = loan.listening, events.drain() != .none else { return false }
    memory.withLock { $0.forget() }
    memo.withLock { $0.forget() }
    return true
  }

  /// What the latest look saw, for who has heard nothing since.
  private func remembered(_ question: NetworkMemory.Question, _ loan: Loan) -> NetworkState? {
    guard let (_, number) = loan.listening else { return nil }
    let sight = memory.withLock { $0.sight(question, heardSince: number, at: .now) }
    guard let sight, sight.marks.allSatisfy({ mark($0.network) == $0.word }) else { return nil }
    return sight.state
  }

  private func look(
    _ loan: Loan,
    _ question: NetworkMemory.Question,
    asksAnew: Bool
  ) throws(NetlinkError) -> NetworkMemory.Sight {
    var marks: [(network: NetworkIdentity, word: Metered?)] = []
    let peer = question.peer.flatMap { IPAddress($0) }
    let survey = NetworkSurvey(kernel: loan.kernel, peer: peer) { network in
      let word = self.mark(network)
      marks.append((network, word))
      return word
    } advise: {
      self.advice(on: $0, from: question.services, by: loan.adviser, asksAnew: asksAnew)
    }
    let state = try survey.state()
    return NetworkMemory.Sight(state: state, marks: marks)
  }

  private func advice(
    on path: NetworkPath,
    from services: NetworkServices,
    by adviser: NetworkAdviser,
    asksAnew: Bool
  ) -> NetworkAdvice {
    guard services != .none else { return NetworkAdvice() }
    let now = ContinuousClock.now
    let known = asksAnew ? nil : memo.withLock { $0.advice(on: path, from: services, at: now) }
    if let known { return known }
    let advice = adviser.advice(on: path, from: services)
    memo.withLock { $0.note(advice, on: path, from: services, askedAt: now) }
    return advice
  }

  private func borrow() throws(NetlinkError) -> Loan {
    let idle = idleKernel.withLock { kernel in
      defer { kernel = nil }
      return kernel
    }
    if let idle { return idle }
    return Loan(kernel: try LiveKernel())
  }

  private func giveBack(_ loan: Loan) {
    idleKernel.withLock { $0 = $0 ?? loan }
  }
}

// One thread at a time has it: who borrows takes it out of the mutex, and nobody keeps it after giving back.
private final class Loan: @unchecked Sendable {
  let kernel: LiveKernel
  let adviser = NetworkAdviser()
  /// The events since the look of this number; nil until listening is worth it.
  private(set) var listening: (events: NetworkEvents, number: Int)?

  init(kernel: LiveKernel) { self.kernel = kernel }

  func listen(from number: Int, to services: NetworkServices) {
    if listening == nil, let events = try? NetlinkEvents(isForAll: true) {
      listening = (NetworkEvents(events), number)
    }
    listening?.events.listen(to: services)
  }
}

extension NetlinkError {
  /// Why nothing can be told, in words.
  fileprivate var reason: String {
    switch code {
    case .refused: "this system does not let programs ask for routes (netlink is refused)"
    case .negative, .malformed: "this system does not understand questions for routes"
    case .interrupted: "the network changes faster than it can be read"
    case .overrun: "the system lost part of its answer"
    }
  }
}

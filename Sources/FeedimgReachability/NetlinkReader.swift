package import FeedimgModel
import Synchronization

/// Reads the state of the network from the kernel, over netlink.
///
/// It has no thread. It opens a socket at the first look and keeps it, so that later looks cost a few
/// questions of some microseconds each.
package final class NetlinkReader: NetworkReading {
  /// The kernel while nobody asks it.
  ///
  /// Who asks takes it out; a second one at the same time opens its own.
  private let idleKernel = Mutex<Loan?>(nil)

  private let choose: @Sendable () -> NetworkServices
  private let peer: @Sendable () -> String?
  private let mark: @Sendable (NetworkIdentity) -> Metered?

  /// Makes a reader, which opens nothing yet.
  ///
  /// - Parameters:
  ///   - services: Whom to ask besides the kernel, chosen anew for each look; that takes a millisecond at first and
  ///     some tenths later.
  ///   - peer: The address of who answered last over the internet, such as `192.0.2.1`; the way there is asked for.
  ///   - mark: How the user marked a network; nil where there is no mark. It may be called on any thread.
  package init(
    services: @escaping @autoclosure @Sendable () -> NetworkServices = .none,
    peer: @escaping @Sendable () -> String? = { nil },
    mark: @escaping @Sendable (NetworkIdentity) -> Metered? = { _ in nil }
  ) {
    choose = services
    self.peer = peer
    self.mark = mark
  }

  /// Whom to ask now.
  var services: NetworkServices { choose() }

  package func currentState() -> NetworkState {
    do throws(NetlinkError) {
      let loan = try borrow()
      let services = services
      let survey = NetworkSurvey(kernel: loan.kernel, peer: peer().flatMap { IPAddress($0) }, mark: mark) {
        loan.adviser.advice(on: $0, from: services)
      }
      let state = try survey.state()
      // Not where asking failed: what is left of the answer would be in the way.
      giveBack(loan)
      return state
    } catch {
      return .untold(error.reason, isReachable: TrialRoute.isThere())
    }
  }

  private func borrow() throws(NetlinkError) -> Loan {
    let idle = idleKernel.withLock { kernel in
      defer { kernel = nil }
      return kernel
    }
    if let idle { return idle }
    return Loan(kernel: try LiveKernel(), adviser: NetworkAdviser())
  }

  private func giveBack(_ loan: Loan) {
    idleKernel.withLock { $0 = $0 ?? loan }
  }
}

// One thread at a time has it: who borrows takes it out of the mutex, and nobody keeps it after giving back.
private struct Loan: @unchecked Sendable {
  let kernel: LiveKernel
  let adviser: NetworkAdviser
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

/// When two processes are interrupted, by the numbers of their calls.
///
/// Zero means never.
struct Moments: CustomStringConvertible {
  /// The call before which the first one stops, so that the second does its work.
  var stop = 0
  /// The same, numbered among the calls that lock files.
  var lock = 0
  /// The call after which the first one is killed.
  ///
  /// Without a stop, the second then does its work.
  var kill = 0
  /// The call after which the second one is killed.
  var second = 0
  /// The call before which the second one stops, so that the first is killed.
  var secondStop = 0
  /// The call after which a third one is killed.
  ///
  /// It stores another image after the two, or beside the first.
  var third = 0

  var description: String {
    let second = secondStop > 0 ? "stopped at \(secondStop) while the first is killed" : "killed at \(second)"
    let third = third > 0 ? ", third killed at \(third)" : ""
    return "first stopped at \(lock > 0 ? "lock \(lock)" : "\(stop)"), killed at \(kill), second \(second)"
      + third
  }

  /// The kinds of interruption that are tried at all moments.
  enum Row: CaseIterable {
    /// The first is killed, and the second runs after it.
    case killFirst
    /// The second is killed too, after the first.
    case killBoth
    /// The first stops before it locks a file that it has made, and is killed later.
    case stopAtLock
    /// The first continues after the second is done, to its end or until it is killed.
    case stopFirst
    /// The first continues, or is killed, after the second was killed.
    case stopFirstKillSecond
    /// The first is killed while both work.
    case killFirstLate
    /// A third is killed as well, after the other two.
    case killThree
    /// The first is stopped while two others are killed. Then it continues or is killed.
    case stopFirstKillTwo

    /// The number of locks that are tried.
    private static let locks = 4

    /// How rarely its moments are tried, in hundredths.
    var interval: Int {
      switch self {
      case .killFirst: 1
      case .stopAtLock: 10
      case .stopFirst: 100
      case .killBoth, .stopFirstKillSecond, .killFirstLate: 400
      case .killThree, .stopFirstKillTwo: 20_000
      }
    }

    /// The number of moments for these numbers of calls.
    ///
    /// The third makes as many calls as the second.
    func count(_ first: Int, _ second: Int) -> Int {
      switch self {
      case .killThree, .stopFirstKillTwo: first * second * second
      case .killFirst: first
      case .stopAtLock: Self.locks * first
      case .stopFirst: first * first
      case .killBoth, .stopFirstKillSecond, .killFirstLate: first * second
      }
    }

    func moments(_ number: Int, _ first: Int, _ second: Int) -> Moments {
      switch self {
      case .killFirst: return Moments(kill: number + 1)
      case .stopAtLock: return Moments(lock: number / first + 1, kill: number % first + 1)
      case .killBoth: return Moments(kill: number / second + 1, second: number % second + 1)
      case .stopFirst:
        let (stop, kill) = (number / first + 1, number % first + 1)
        return Moments(stop: stop, kill: kill < stop ? 0 : kill)
      case .stopFirstKillSecond:
        let (stop, end) = (number / second + 1, number % second + 1)
        return Moments(stop: stop, kill: number.isMultiple(of: 2) ? stop : 0, second: end)
      case .killFirstLate: return Moments(stop: number / second + 1, secondStop: number % second + 1)
      case .killThree, .stopFirstKillTwo:
        let (start, end) = (number / (second * second) + 1, number / second % second + 1)
        let stop = self == .killThree ? 0 : start
        let kill = self == .killThree || number.isMultiple(of: 2) ? start : 0
        return Moments(stop: stop, kill: kill, second: end, third: number % second + 1)
      }
    }
  }
}

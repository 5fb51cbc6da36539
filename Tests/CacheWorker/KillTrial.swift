import FeedimgHTTPCache
import FeedimgModel
import Glibc

/// Stops and kills processes that share a cache at each of their system calls, and checks the result.
///
/// Two processes take part in each trial. The second runs alone while the first is stopped or dead. In some
/// trials a third is killed after the second. The next process stores one image. Then rows and bodies must
/// agree, with no other files.
struct KillTrial {
  let folder: String
  /// Only every nth moment.
  ///
  /// With 1 it tries all of them, which takes hours.
  let stride: Int

  private var template: String { folder + "/before" }
  private var cache: String { folder + "/cache" }

  /// Prints the problems and the number of trials.
  ///
  /// - Parameter name: The only scenario to run. Nil means all.
  func run(_ name: String?) {
    var (trials, failures) = (0, 0)
    for scenario in KillScenario.all where name == nil || name == scenario.name {
      Victim.mark = 0
      prepare(scenario)
      let marked = Victim.mark
      let (first, second) = counts(scenario)
      for row in Moments.Row.allCases {
        let step = max(1, self.stride * scenario.interval * row.interval / 100)
        // Chosen at random, so that each has its turn in the end.
        let turns = Swift.stride(from: .random(in: 0..<step), to: row.count(first, second), by: step)
        for turn in turns {
          let moments = row.moments(turn, first, second)
          let faults = play(scenario, moments, marked: marked, isWatched: turn / step % 2 == 0)
          trials += 1
          failures += faults.count
          if failures <= 100 { for fault in faults { say("\(scenario.name): \(fault): \(moments)") } }
        }
      }
    }
    say("trials \(trials) failures \(failures)")
  }

  /// Runs one trial.
  ///
  /// - Parameters:
  ///   - scenario: The work of the processes.
  ///   - moments: When they are interrupted.
  ///   - marked: The progress that an earlier process marked.
  ///   - isWatched: Whether another process keeps the index open, so that no process is the first to open it.
  /// - Returns: The problem found, if any.
  private func play(_ scenario: KillScenario, _ moments: Moments, marked: Int, isWatched: Bool) -> [String] {
    Files.remove(cache)
    Files.copy(template, to: cache)
    Victim.mark = marked
    let watcher = isWatched ? watch(scenario) : nil
    let first = Victim(in: cache, moments) { work(scenario.first, scenario) }
    let isStopped = first.wait() == .stopped
    let second = Victim(in: cache, Moments(stop: moments.secondStop, kill: moments.second)) {
      work(scenario.second, scenario)
    }
    let isSecondStopped = second.wait() == .stopped
    if moments.third > 0 {
      _ = Victim(in: cache, Moments(kill: moments.third)) { work(KillScenario.storing([9]), scenario) }.wait()
    }
    if isSecondStopped, isStopped { first.kill() }
    if isSecondStopped { _ = second.resume() }
    if isStopped, !isSecondStopped { _ = first.resume() }
    watcher?.kill()
    return scenario.faults(in: cache)
  }

  private func watch(_ scenario: KillScenario) -> Victim {
    let watcher = Victim(in: cache) {
      let cache = scenario.makeCache(in: cache)
      _ = cache.contains([Specimen.key(0)])
      raise(SIGSTOP)
    }
    _ = watcher.wait()
    return watcher
  }

  /// The number of calls of the two processes, with some more for repairs after a kill.
  private func counts(_ scenario: KillScenario) -> (first: Int, second: Int) {
    let counts = [scenario.first, scenario.second].map { task in
      _ = Victim(in: cache) { work(task, scenario) }.wait()
      return Victim.calls * 5 / 4 + 10
    }
    return (counts[0], counts[1])
  }

  private func prepare(_ scenario: KillScenario) {
    Files.remove(cache)
    Files.remove(template)
    mkdir(folder, 0o700)
    _ = Victim(in: cache) { work(scenario.before, scenario, daysAgo: scenario.daysBefore) }.wait()
    scenario.spoil(cache)
    if let left = scenario.left { leave(left, scenario) }
    Files.copy(cache, to: template)
  }

  /// Kills a process when it has a body without a row.
  private func leave(_ left: KillScenario.Left, _ scenario: KillScenario) {
    Files.copy(cache, to: template)
    func kill(after call: Int) -> Victim.State {
      Files.remove(cache)
      Files.copy(template, to: cache)
      return Victim(in: cache, Moments(kill: call)) { work(left.work, scenario) }.wait()
    }
    let count = Files.bodies(in: cache).count
    var latest = 0
    for call in 1... {
      guard kill(after: call) == .killed else { break }
      if Files.bodies(in: cache).count > count { latest = call }
      if left.isFirst, latest > 0 { break }
    }
    _ = kill(after: latest)
    Files.remove(template)
  }

  private func work(_ task: (DiskCache) throws -> Void, _ scenario: KillScenario, daysAgo: Double = 0) {
    let cache = scenario.makeCache(in: cache, daysAgo: daysAgo)
    // The other process may hold a lock, so that this fails. Only the remaining files count.
    try? task(cache)
    cache.close()
  }
}

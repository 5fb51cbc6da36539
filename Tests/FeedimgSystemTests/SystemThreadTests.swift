import FeedimgSystem
import Foundation
import Glibc
import Testing

@Suite("A thread of the system")
struct SystemThreadTests {
  /// The content of `/proc/thread-self/FILE` in the thread.
  private func report(_ file: String, ofThreadNamed name: String) async -> String {
    await withCheckedContinuation { continuation in
      let isStarted = SystemThread.start(name) {
        let text = try? String(contentsOfFile: "/proc/thread-self/\(file)", encoding: .utf8)
        continuation.resume(returning: text ?? "unreadable")
      }
      if !isStarted { continuation.resume(returning: "not started") }
    }
  }

  @Test(
    "has its given name, truncated to the kernel's limit",
    arguments: [
      ("feedimg-disk", "feedimg-disk\n"), ("a-name-of-twenty-four-by", "a-name-of-twent\n"), ("", "\n"),
    ]
  )
  func name(given: String, shown: String) async {
    await #expect(report("comm", ofThreadNamed: given) == shown)
  }

  @Test("blocks signals, except those for its own faults")
  func signals() async throws {
    let status = await report("status", ofThreadNamed: "signals")
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("SigBlk:") })
    let mask = try #require(UInt64(line.dropFirst("SigBlk:".count).filter { !$0.isWhitespace }, radix: 16))
    func isWithheld(_ signal: Int32) -> Bool { mask & (1 << UInt64(signal - 1)) != 0 }
    for signal in [SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGCHLD, SIGALRM] {
      #expect(isWithheld(signal), "\(signal)")
    }
    for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT] {
      #expect(!isWithheld(fault), "\(fault)")
    }
  }

  @Test("does not change the signal mask of its creator")
  func signalsOfStarter() {
    var (before, after) = (sigset_t(), sigset_t())
    pthread_sigmask(SIG_BLOCK, nil, &before)
    #expect(SystemThread.start("short") {})
    pthread_sigmask(SIG_BLOCK, nil, &after)
    for signal in 1...31 {
      #expect(sigismember(&before, Int32(signal)) == sigismember(&after, Int32(signal)))
    }
  }

  @Test("cannot be cancelled")
  func cancellation() async throws {
    let state = await withCheckedContinuation { continuation in
      let isStarted = SystemThread.start("cancelled") {
        var state: Int32 = -1
        pthread_setcancelstate(Int32(PTHREAD_CANCEL_DISABLE), &state)
        continuation.resume(returning: state)
      }
      #expect(isStarted)
    }
    #expect(state == Int32(PTHREAD_CANCEL_DISABLE))
  }

  @Test("releases its captured values when it ends")
  func release() async {
    final class Held: Sendable {
      let onDeinit: @Sendable () -> Void
      init(_ onDeinit: @escaping @Sendable () -> Void) { self.onDeinit = onDeinit }
      deinit { onDeinit() }
    }
    await withCheckedContinuation { continuation in
      let held = Held { continuation.resume() }
      #expect(SystemThread.start("holder") { _ = held })
    }
  }
}

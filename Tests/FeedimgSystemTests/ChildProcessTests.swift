import CTestKernel
import FeedimgSystem
import Glibc
import Synchronization
import TestSystem
import Testing

@Suite struct ChildProcessTests {
  @Test func `a program whose end is unknown has not succeeded`() throws {
    let ended = Mutex<Result<Int32, ChildProcessError>?>(nil)
    onThreads(1) { _ in
      guard test_refuse_waiting() == 0 else { return }
      let null = open("/dev/null", O_RDWR | O_CLOEXEC)
      let result = ChildProcess.run(["/bin/true"], variables: [], input: null, output: null)
      close(null)
      ended.withLock { $0 = result }
    }
    let result = try #require(ended.withLock { $0 })
    let error = #expect(throws: ChildProcessError.self) { try result.get() }
    #expect(error?.code == ECHILD)
  }
}

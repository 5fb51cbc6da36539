import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import FeedimgService

/// The effects of the first and the last connection.
@Suite struct ConnectionRegisterTests {
  private final class Count: Sendable {
    let value = Mutex(0)
  }

  private let loop = EmbeddedEventLoop()
  private let rested = Count()

  private func register() -> ConnectionRegister {
    ConnectionRegister(limit: 100, bodyLimit: 10) { [rested] in rested.value.withLock { $0 += 1 } }
  }

  private func admit(_ register: ConnectionRegister) throws -> EmbeddedChannel {
    let channel = EmbeddedChannel(loop: loop)
    #expect(register.admit(channel))
    return channel
  }

  @Test func `the service rests whenever no connection was open for a while`() throws {
    let register = register()
    let first = try admit(register)
    loop.advanceTime(by: .seconds(100))
    #expect(rested.value.withLock { $0 } == 0, "one is open")
    first.close(promise: nil)
    loop.advanceTime(by: .milliseconds(999))
    #expect(rested.value.withLock { $0 } == 0, "another one may come")
    loop.advanceTime(by: .milliseconds(1))
    #expect(rested.value.withLock { $0 } == 1)
    try admit(register).close(promise: nil)
    loop.advanceTime(by: .seconds(1))
    #expect(rested.value.withLock { $0 } == 2)
  }
}

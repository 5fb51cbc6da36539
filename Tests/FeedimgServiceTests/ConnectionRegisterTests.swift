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
  private let given = Count()
  private let rested = Count()

  private func register() -> ConnectionRegister {
    ConnectionRegister(
      limit: 100,
      bodyLimit: 10,
      releaseMemory: { [given] in given.value.withLock { $0 += 1 } },
      rest: { [rested] in rested.value.withLock { $0 += 1 } }
    )
  }

  private func admit(_ register: ConnectionRegister) throws -> EmbeddedChannel {
    let channel = EmbeddedChannel(loop: loop)
    #expect(register.admit(channel))
    return channel
  }

  private var givenBack: Int { given.value.withLock { $0 } }

  @Test func `memory is released once, when the last of many connections has closed`() throws {
    let register = register()
    let channels = try (0..<64).map { _ in try admit(register) }
    for channel in channels.dropLast() { channel.close(promise: nil) }
    loop.advanceTime(by: .seconds(10))
    #expect(givenBack == 0, "one is open")
    channels.last?.close(promise: nil)
    loop.advanceTime(by: .milliseconds(999))
    #expect(givenBack == 0, "another one may come")
    loop.advanceTime(by: .milliseconds(1))
    #expect(givenBack == 1)
    try admit(register).close(promise: nil)
    loop.advanceTime(by: .seconds(10))
    #expect(givenBack == 1, "a single connection is not worth it")
  }

  @Test func `the loader is suspended whenever no connection was open for a while`() throws {
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

  @Test func `memory is released after much copying, if no connection came meanwhile`() throws {
    let register = register()
    let first = try admit(register)
    register.noteCopied(256 << 10)
    first.close(promise: nil)
    let second = try admit(register)
    loop.advanceTime(by: .seconds(10))
    #expect(givenBack == 0)
    second.close(promise: nil)
    loop.advanceTime(by: .seconds(1))
    #expect(givenBack == 1)
  }
}

import Feedimg
import FeedimgService
import Glibc

/// `feedimg-serve`, which `feedimg serve` becomes: serves until it is told to end.
@main
enum Main {
  static func main() {
    // The first thing, so that no signal is lost while the service starts.
    let signals = SignalWatch.signals([SIGTERM, SIGINT, SIGHUP])
    TaskThread.takeOver()
    // Not on the main thread, which the runtime would only serve if this function ended in it.
    Task.detached { await run(until: signals) }
    while true { pause() }
  }

  private static func run(until signals: AsyncStream<Int32>) async {
    do {
      try await serve(until: signals)
    } catch let error as ServiceError {
      complain(error.message)
      exit(error.isUsage ? 2 : 1)
    } catch let error as ConfigurationError {
      for message in error.messages { complain(message) }
      exit(error.isSystemFailure ? 1 : 2)
    } catch {
      complain("\(error)")
      exit(1)
    }
  }

  private static func serve(until signals: AsyncStream<Int32>) async throws {
    let configuration = try ServiceConfiguration(arguments: ProcessEnvironment.arguments())
    let service = try Service(configuration)
    for warning in service.warnings { complain(warning) }
    try await service.start()
    for address in service.addresses { complain("serving on \(address)") }
    if configuration.needsToken, service.addresses.contains(where: { $0.hasPrefix("http") }) {
      complain("clients bring the token in \(try service.tokenFile())")
    }
    // The address has the token in it, which is for who sits at the terminal, and not for a journal.
    if isatty(STDERR_FILENO) == 1, let page = service.page { complain("to look at: \(page)") }
    service.reportReady()
    var isStopping = false
    for await signal in signals {
      if signal == SIGHUP {
        service.reload()
        for warning in service.warnings { complain(warning) }
        continue
      }
      guard !isStopping else {
        // Who asks twice does not want to wait; where the disk hangs, this ends the process all the same.
        alarm(2)
        service.writeUsage()
        exit(1)
      }
      isStopping = true
      Task {
        await service.stop(within: patience)
        exit(0)
      }
    }
  }

  /// Less than what service managers wait before they kill.
  private static let patience = Duration.seconds(20)

  private static func complain(_ message: String) {
    // Lines of the journal and of terminals end where the message does.
    let text = message.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : String($0) }.joined()
    let bytes = Array("feedimg: \(text)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
  }
}

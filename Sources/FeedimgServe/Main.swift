import Feedimg
import FeedimgService
import FeedimgSystem
import Glibc

/// `feedimg-serve`, which `feedimg serve` executes: serves until a signal stops it.
@main
enum Main {
  static func main() {
    if let refusal = ProcessEnvironment.refusedCall() {
      printError(refusal)
      exit(1)
    }
    // All threads inherit the mask, so that the signals wait for this thread, also while the service starts.
    var waited = sigset_t()
    sigemptyset(&waited)
    for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&waited, number) }
    pthread_sigmask(SIG_BLOCK, &waited, nil)
    signal(SIGPIPE, SIG_IGN)
    // If the parent ignores SIGCHLD, the service inherits that, and could not learn how its child processes end.
    signal(SIGCHLD, SIG_DFL)
    TaskThread.shareArena()
    let (signals, arrived) = AsyncStream.makeStream(of: Int32.self)
    Task(executorPreference: TaskThread.executor) { await run(until: signals) }
    var number: Int32 = 0
    var stops = 0
    while true {
      guard sigwait(&waited, &number) == 0 else { continue }
      if number != SIGHUP { stops += 1 }
      // The alarm ends the process also where the disk hangs, which may block the task that takes the signals.
      if stops == 2 { alarm(2) }
      arrived.yield(number)
    }
  }

  private static func run(until signals: AsyncStream<Int32>) async {
    do {
      try await serve(until: signals)
    } catch let error as ServiceError {
      printError(error.message)
      exit(error.isUsage ? 2 : 1)
    } catch let error as ConfigurationError {
      for message in error.messages { printError(message) }
      exit(error.isSystemFailure ? 1 : 2)
    } catch {
      printError("\(error)")
      exit(1)
    }
  }

  private static func serve(until signals: AsyncStream<Int32>) async throws {
    let configuration = try ServiceConfiguration(arguments: ProcessEnvironment.arguments())
    let service = try Service(configuration)
    if configuration.replacesGatewayToken {
      print(try service.replaceGatewayToken())
      exit(0)
    }
    for warning in service.warnings { printError(warning) }
    try await service.start()
    for address in service.addresses { printError("serving on \(address)") }
    if configuration.needsToken, service.addresses.contains(where: { $0.hasPrefix("http") }) {
      printError("clients need the token in \(service.tokenFile)")
    }
    // The address contains the token, which belongs on a terminal and not in a journal.
    if isatty(STDERR_FILENO) == 1, let page = service.page { printError("page: \(page)") }
    service.watchWarnings { printError($0) }
    service.reportReady()
    var isStopping = false
    for await signal in signals {
      if signal == SIGHUP {
        service.reload()
        for warning in service.warnings { printError(warning) }
        continue
      }
      guard !isStopping else {
        // A second signal does not wait.
        service.writeUsage()
        exit(1)
      }
      isStopping = true
      Task(executorPreference: TaskThread.executor) {
        await service.stop(within: gracePeriod)
        exit(0)
      }
    }
  }

  /// Less than the time after which service managers kill the process.
  private static let gracePeriod = Duration.seconds(20)

  private static func printError(_ message: String) {
    // Each message is one line.
    let text = Printable.text(message).replacing("\n", with: " ")
    let bytes = Array("feedimg: \(text)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
  }
}

import ArgumentParser
import Feedimg

/// What the shell learns of a run.
enum ExitStatus: Int32 {
  case success = 0
  /// The network, a server or a disk failed, or a policy has errors.
  case failure = 1
  /// An option, an item, a setting or a policy was not understood.
  case usage = 2
  /// Nothing to show but the placeholder.
  case nothingToShow = 3

  /// Says on standard error what went wrong, in one sentence, and how that ends the program.
  init(reporting error: any Error) {
    switch error {
    case let failure as CommandFailure:
      if let message = failure.message { Output.complain(message) }
      self = failure.status
    case let error as ConfigurationError:
      for message in error.messages { Output.complain(message) }
      self = error.isSystemFailure ? .failure : .usage
    case let fault as PolicyFault:
      for message in fault.messages { Output.complain(message) }
      self = fault.isUnreadable ? .usage : .failure
    default:
      guard FeedimgCommand.exitCode(for: error).isSuccess else {
        Output.complain(FeedimgCommand.fullMessage(for: error).replacing(#/^Error: /#, with: ""))
        self = .usage
        return
      }
      // Help, the version and completion scripts come as errors that are none.
      let text = FeedimgCommand.fullMessage(for: error, columns: 1 << 16)
      Output.line(HelpText.wrapped(text, width: Output.width ?? 80))
      self = .success
    }
  }
}

/// Ends a command with a status, and a sentence where one has not been said yet.
struct CommandFailure: Error {
  var status: ExitStatus
  var message: String?

  init(_ status: ExitStatus, _ message: String? = nil) {
    self.status = status
    self.message = message
  }

  /// - Throws: ``CommandFailure`` with status 1 if the system hides `/proc`, which tasks need.
  static func refuseTasksWithoutProc() throws(CommandFailure) {
    guard !ProcessEnvironment.canRunTasks() else { return }
    throw CommandFailure(.failure, "this command needs /proc, which cannot be read here; mount it (proc(5))")
  }
}

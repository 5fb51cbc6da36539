import ArgumentParser
import Feedimg

/// The exit status of the program.
enum ExitStatus: Int32 {
  case success = 0
  /// The network, a server or the disk failed, or a policy has errors.
  case failure = 1
  /// An option, an item, a setting or a policy is invalid.
  case usage = 2
  /// Only the placeholder can be shown.
  case nothingToShow = 3

  /// Prints an error on standard error and chooses the status for it.
  init(reporting error: any Error) {
    switch error {
    case let failure as CommandError:
      if let message = failure.message { Output.report(message) }
      self = failure.status
    case let error as ConfigurationError:
      Output.report(error.messages)
      self = error.isSystemFailure ? .failure : .usage
    case let fault as PolicyFileError:
      Output.report(fault.messages)
      self = fault.isUnreadable ? .usage : .failure
    default:
      guard FeedimgCommand.exitCode(for: error).isSuccess else {
        Output.report(FeedimgCommand.fullMessage(for: error).replacing(#/^Error: /#, with: ""))
        self = .usage
        return
      }
      // The parser also throws help, the version and completion scripts.
      let text = FeedimgCommand.fullMessage(for: error, columns: 1 << 16)
      Output.line(HelpText.wrapped(text, width: Output.width ?? 80))
      self = .success
    }
  }
}

/// Ends a command with a status, and with a message unless one has been printed.
struct CommandError: Error {
  var status: ExitStatus
  var message: String?

  init(_ status: ExitStatus, _ message: String? = nil) {
    self.status = status
    self.message = message
  }

  /// - Throws: ``CommandError`` with status 1 if the system hides `/proc` or refuses a thread or descriptor, which
  ///   tasks need.
  static func refuseTasks() throws(CommandError) {
    guard ProcessEnvironment.canRunTasks() else {
      throw CommandError(.failure, "this command needs /proc, which cannot be read; mount it (proc(5))")
    }
    if let refusal = ProcessEnvironment.refusedCall() { throw CommandError(.failure, refusal) }
  }
}

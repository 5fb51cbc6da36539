import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg doctor`: what works here, and what does not.
struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Say what feedimg can and cannot see on this system, and why.",
    discussion: """
      Looks at everything that feedimg uses: the kernel, services on the system bus, libraries, folders and the \
      policy. Nothing is changed and no packet is sent. With --evidence, what the kernel said follows, to paste \
      into a bug report: it has no names of Wi-Fi networks, and without --unmasked no hardware addresses, \
      addresses of the internet or name of the home folder.

      EXAMPLES
        feedimg doctor
        feedimg doctor --evidence
        feedimg doctor --json | jq -r '.findings[] | select(.verdict == "broken") | .text'

      Ends with 1 if something is broken or feedimg cannot work, else with 0, also where something is missing.
      """
  )

  @Flag(help: "Print one JSON object.") var json = false

  @Flag(help: "Add what the system said, for a bug report.") var evidence = false

  @Flag(help: "Leave out nothing of it.") var unmasked = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The policy to look at: a file, or the name of one that comes along.",
      valueName: "policy"
    ),
    completion: .file(extensions: ["md"])
  )
  var policy: String?

  @OptionGroup var cache: CacheFolderOption
  @OptionGroup var settings: ConfigurationFolderOption

  func run() throws {
    var configuration = settings.configuration
    configuration.cacheFolder = cache.cacheFolder
    if let policy { configuration.policy = .named(policy) }
    let diagnosis = Diagnosis(configuration, isMasked: !unmasked)
    Output.line(
      json ? diagnosis.json(withEvidence: evidence) : DoctorText.text(diagnosis, withEvidence: evidence)
    )
    if !diagnosis.canWork { throw CommandFailure(.failure, "feedimg cannot work on this system") }
    if !diagnosis.isHealthy { throw CommandFailure(.failure) }
  }
}

/// A diagnosis as a person reads it.
enum DoctorText {
  static func text(_ diagnosis: Diagnosis, withEvidence hasEvidence: Bool) -> String {
    let width = diagnosis.findings.map(\.subject.count).max() ?? 0
    var lines = diagnosis.findings.map { finding in
      let verdict = pad(finding.verdict.rawValue, 7)
      return
        "\(finding.verdict == .ok ? verdict : Output.bold(verdict))  \(pad(finding.subject, width))  \(finding.text)"
    }
    if hasEvidence { lines += ["", "feedimg \(Version.text)"] + diagnosis.evidence }
    return lines.joined(separator: "\n")
  }

  private static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}

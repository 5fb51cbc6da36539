import ArgumentParser
import Feedimg
import FeedimgAdmin

/// `feedimg doctor`: checks which features work on this system.
struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check which features work on this system, and explain why others do not.",
    discussion: """
      Checks every part that feedimg uses: the kernel, services on the system bus, libraries, folders and the \
      policy. It changes no setting and no image, and contacts no other machine. It connects to the socket of \
      `feedimg serve`, which starts the service under systemd. It waits at most two seconds for the gateway.

      --evidence adds the kernel's data for a bug report. The evidence omits the names of Wi-Fi networks. Without \
      --unmasked, it also hides hardware addresses, public addresses and the name of the home folder.

      EXAMPLES
        feedimg doctor
        feedimg doctor --evidence
        feedimg doctor --json | jq -r '.findings[] | select(.verdict == "broken") | .text'

      Ends with 1 if a part is broken or feedimg cannot work, else with 0. A missing part is not an error.
      """
  )

  @Flag(help: "Print one JSON object.") var json = false

  @Flag(help: "Add the system's data for a bug report.") var evidence = false

  @Flag(help: "Do not hide addresses and the home folder.") var unmasked = false

  @Option("policy", "The policy to check: a name or a file.", completion: .file(extensions: ["md"]))
  var policy: String?

  @OptionGroup var folders: CacheFolders

  func run() throws {
    var configuration = folders.configuration
    if let policy { configuration.policy = .named(policy) }
    let diagnosis = Diagnosis(configuration, isMasked: !unmasked)
    Output.line(
      json ? diagnosis.json(withEvidence: evidence) : text(diagnosis)
    )
    if !diagnosis.canWork { throw CommandError(.failure, "feedimg cannot work on this system") }
    if !diagnosis.isHealthy { throw CommandError(.failure) }
  }

  private func text(_ diagnosis: Diagnosis) -> String {
    let width = diagnosis.findings.map(\.subject.count).max() ?? 0
    var lines = diagnosis.findings.map { finding in
      let word = finding.verdict.rawValue.padded(to: 7)
      let verdict = finding.verdict == .ok ? word : Output.bold(word)
      return "\(verdict)  \(finding.subject.padded(to: width))  \(finding.text)"
    }
    if evidence { lines += ["", "feedimg \(Version.text)"] + diagnosis.evidence }
    return lines.joined(separator: "\n")
  }
}

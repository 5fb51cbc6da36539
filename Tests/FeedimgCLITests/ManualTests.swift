import FeedimgJSON
import Testing

/// The manual page, compared with the program.
@Suite struct ManualTests {
  private static var manual: String {
    get throws {
      let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
      let text = try TestFolder.text(of: "/\(root)/Documentation/feedimg.1")
      // Hyphens of options are written so (groff_char(7)).
      return text.split(separator: "\\-", omittingEmptySubsequences: false).joined(separator: "-")
    }
  }

  /// The long options of a command and of its subcommands, each with the command.
  private func options(_ command: JSONValue, _ path: [String] = []) -> [(command: String, option: String)] {
    guard case .object(let members) = command, let name = members["commandName"]?.text else { return [] }
    let path = path + [name]
    var found: [(command: String, option: String)] = []
    if case .array(let arguments)? = members["arguments"] {
      for case .object(let argument) in arguments where argument["shouldDisplay"] == true {
        guard case .array(let names)? = argument["names"] else { continue }
        for case .object(let name) in names where name["kind"]?.text == "long" {
          if let option = name["name"]?.text { found.append((path.joined(separator: " "), "--\(option)")) }
        }
      }
    }
    if case .array(let commands)? = members["subcommands"] {
      for command in commands { found += options(command, path) }
    }
    return found
  }

  @Test func `the manual page has every option of the help`() throws {
    let folder = try TestFolder()
    let run = try CommandRun(["--experimental-dump-help"], in: folder)
    let command = try #require(try run.objects.first?["command"])
    let manual = try Self.manual
    let options = options(command)
    #expect(options.count > 100)
    for (command, option) in options {
      // Not followed by the rest of a longer option.
      let places = manual.split(separator: option, omittingEmptySubsequences: false).dropFirst()
      let isThere = places.contains { $0.first.map { !$0.isLetter && $0 != "-" } ?? true }
      #expect(isThere, "\(option) of `\(command)` is not in the manual")
    }
  }
}

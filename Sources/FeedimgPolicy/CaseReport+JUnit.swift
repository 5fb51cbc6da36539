extension CaseReport {
  /// The report as one `testsuite` of JUnit's XML, which continuous integration servers read.
  package var junit: String {
    var text =
      #"<testsuite name="\#(Self.escaped(policy))" tests="\#(caseCount)" failures="\#(failures.count)">"#
      + "\n"
    for testCase in cases {
      let name = testCase.name.isEmpty ? "line \(testCase.line)" : testCase.name
      let start =
        #"  <testcase name="\#(Self.escaped(name))" classname="\#(Self.escaped(policy))""#
        + #" file="\#(Self.escaped(fileName))" line="\#(testCase.line)""#
      if let failure = failures.first(where: { $0.testCase == testCase }) {
        text +=
          start + ">\n" + #"    <failure message="\#(Self.escaped(failure.message))"/>"# + "\n  </testcase>\n"
      } else {
        text += start + "/>\n"
      }
    }
    return text + "</testsuite>\n"
  }

  /// Several reports as one document.
  package static func junit(_ reports: [CaseReport]) -> String {
    let suites = reports.map(\.junit).joined()
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n\(suites)</testsuites>\n"
  }

  /// The text for an attribute (XML 1.0 §2.4); control characters, which XML cannot hold, become question marks.
  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "\t": escaped += " "
      case "\0"..<" ", "\u{FFFE}", "\u{FFFF}": escaped += "?"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}

import FeedimgJSON
import FeedimgModel
import FeedimgPolicy
import Testing

/// Tables of cases, including those of the shipped policies.
struct CaseTests {
  @Test func `the eight cases of the default policy check fifteen states and all rules`() throws {
    let report = try CaseReport(Shipped.cases("default"), of: Shipped.table("default"))
    #expect(report.failures.map(\.message) == [])
    #expect(report.caseCount == 8)
    #expect(report.exercisedRules == [1, 2, 3, 4, 5, 6])
    #expect(report.checkedStateCount == 15)
    #expect(report.stateCount == 90)
  }

  private static let table = """
    | network | always original | → image | upgrade |
    |--|--|--|--|
    | wifi | - | original | - |
    | - | yes | original | wifi |
    | - | no | thumbnail | wifi |
    """

  @Test(arguments: [
    (
      "| LTE | cellular | no | remote | cached | original | - | - | - | - | - |",
      "load is nothing by rule 3, expected original"
    ),
    (
      "| LTE | cellular | - | remote | remote | - | not placeholder | - | - | - | - |",
      "show is placeholder by rule 3, expected not placeholder"
    ),
    (
      "| LTE | cellular | yes | remote | none | - | - | thumbnail, placeholder | - | - | - |",
      "image is original by rule 2, expected thumbnail, placeholder"
    ),
    (
      "| LTE | cellular | yes | remote | none | - | - | - | cache | - | - |",
      "source is network by rule 2, expected cache"
    ),
    (
      "| any | - | yes | remote | none | - | - | - | - | wifi | - |",
      "upgrade is never by rule 1, expected wifi"
    ),
    ("| any | - | - | remote | none | - | - | - | - | - | not 3 |", "rule is 3, expected not 3"),
  ])
  func `a failing case reports the decision, its rule, and the expectation`(
    row: String,
    message: String
  ) throws {
    let table = try PolicyTable(name: "x", fileName: "x.md", markdown: Array(Self.table.utf8))
    let text = """
      | case | network | always original | original | thumbnail | → load | show | image | source | upgrade | rule |
      |--|--|--|--|--|--|--|--|--|--|--|
      \(row)
      """
    let cases = try PolicyCases(fileName: "x.tests.md", markdown: Array(text.utf8))
    let report = try CaseReport(cases, of: table)
    #expect(report.failures.map(\.message) == [message])
    #expect(report.failures.map(\.place) == ["x.tests.md:3"])
  }

  @Test func `a case over a quantity is checked in each of its regions`() throws {
    let table = try PolicyTable(
      name: "x",
      fileName: "x.md",
      markdown: Array("| size | → image |\n|--|--|\n| <= 300 kB | original |\n| - | thumbnail |\n".utf8)
    )
    let text = "| size | original | thumbnail | network | → load |\n|--|--|--|--|--|\n"
    func failures(_ size: String) throws -> [String] {
      let row = "| \(size) | remote | none | wifi | original |\n"
      let cases = try PolicyCases(fileName: "x.tests.md", markdown: Array((text + row).utf8))
      return try CaseReport(cases, of: table).failures.map { Fact.size.value(in: $0.witness.situation) }
    }
    #expect(try failures("<= 300 kB") == [])
    #expect(try failures("< 1 kB") == [])
    #expect(try failures("<= 0.3 MB") == [])
    #expect(try failures("< 1 MB") == ["300001 B"])
    #expect(try failures("unknown") == ["unknown"])
  }

  @Test func `a file without cases is refused`() {
    let error = #expect(throws: PolicyErrors.self) {
      try PolicyCases(fileName: "x.tests.md", markdown: Array("# nothing\n".utf8))
    }
    #expect(error?.description == "x.tests.md: no cases, expected a table of cases")
  }

  @Test func `failures are reported as text, JSON and JUnit XML`() throws {
    let table = try PolicyTable(name: "x", fileName: "x.md", markdown: Array(Self.table.utf8))
    let text = """
      | case             | network  | always original | original | thumbnail | → load   |
      |------------------|----------|-----------------|----------|-----------|----------|
      | LTE & "off" <now | cellular | no              | remote   | cached    | original |
      |                  | wifi     | -               | remote   | -         | original |
      """
    let cases = try PolicyCases(fileName: "x.tests.md", markdown: Array(text.utf8))
    let report = try CaseReport(cases, of: table)
    #expect(
      report.lines == [
        #"FAIL x.tests.md:3 LTE & "off" <now: load is nothing by rule 3, expected original"#
      ]
    )
    #expect(report.summary == "1 of 2 cases pass; rules exercised 2 of 3; states checked 7 of 90")
    #expect(report.json["failures"]?.text(.compact).contains(#""witness":{"network":"cellular""#) == true)
    #expect(
      CaseReport.junit([report]) == """
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites>
        <testsuite name="x" tests="2" failures="1">
          <testcase name="LTE &amp; &quot;off&quot; &lt;now" classname="x" file="x.tests.md" line="3">
            <failure message="load is nothing by rule 3, expected original"/>
          </testcase>
          <testcase name="line 4" classname="x" file="x.tests.md" line="4"/>
        </testsuite>
        </testsuites>

        """
    )
  }
}

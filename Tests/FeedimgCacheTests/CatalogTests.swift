import FeedimgModel
import Glibc
import Testing

@testable import FeedimgCache

@Suite struct CatalogTests {
  let folder: TestFolder
  let catalog: Catalog

  init() throws {
    folder = try TestFolder()
    catalog = Catalog(path: folder.path + "/catalog")
  }

  func makeRecord(_ key: String, storedAt: Double = 0) throws -> EntryRecord {
    let head = ResponseHead(status: 200, fields: HTTPFields(), url: try ImageURL("https://a/"))
    return EntryRecord(
      ImageMetadata(key: key, role: .original, mediaType: "image/png", head: head),
      body: BodyName(key: key, mediaType: "image/png"),
      size: 1,
      checksum: 1,
      storedAt: storedAt
    )
  }

  @Test func `what was appended is read back, the last line of a body alone`() throws {
    #expect(try catalog.records().isEmpty)
    var record = try makeRecord("a")
    try catalog.append(line: record.line)
    record.respondedAt = 5
    try catalog.append(line: record.line)
    let other = try makeRecord("b")
    try catalog.append(line: other.line)
    #expect(try catalog.records() == [record.body: record, other.body: other])
  }

  @Test func `torn lines spoil no other`() throws {
    let records = try ["a", "b", "c"].map { try makeRecord($0) }
    for record in records {
      try catalog.append(line: record.line)
      let torn = content(of: catalog.path) + record.line.prefix(20)
      overwrite(catalog.path, torn)
    }
    #expect(try catalog.records().count == 3)
  }

  @Test func `a catalog of mostly dead records is made anew`() throws {
    let records = try (0..<100).map { try makeRecord("\($0)") }
    for record in records { try catalog.append(line: record.line) }
    let long = content(of: catalog.path).count
    let alive = Set(records.suffix(40).map(\.body))
    try catalog.compact(to: 60) { alive.contains($0) }
    #expect(content(of: catalog.path).count == long)
    try catalog.compact(to: 40) { alive.contains($0) }
    #expect(content(of: catalog.path).count < long / 2)
    #expect(Set(try catalog.records().keys) == alive)
    #expect(access(catalog.path + ".new", F_OK) != 0)
  }

  @Test func `nobody waits for who makes it anew, and nothing is lost`() throws {
    let records = try (0..<100).map { try makeRecord("\($0)") }
    for record in records { try catalog.append(line: record.line) }
    let late = try makeRecord("late")
    var isAppended = false
    try catalog.compact(to: 0) { body in
      // While the catalog is being made anew, another commit comes.
      if !isAppended {
        isAppended = true
        try? catalog.append(line: late.line)
        // A second process that tries the same has nothing to do.
        try? catalog.compact(to: 0) { _ in false }
      }
      return body == records[7].body
    }
    #expect(Set(try catalog.records().keys) == [records[7].body, late.body])
  }

  @Test func `what a kill has left of a new catalog goes with the next look, also where none is due`() throws
  {
    let record = try makeRecord("a")
    try catalog.append(line: record.line)
    overwrite(catalog.path + ".new", Array(record.line.prefix(20)))
    try catalog.compact(to: 1) { _ in true }
    #expect(access(catalog.path + ".new", F_OK) != 0)
    #expect(try catalog.records() == [record.body: record])
  }

  @Test func `a catalog that is missing needs not be made anew`() {
    #expect(throws: FileFault.self) { try catalog.compact(to: 0) { _ in false } }
  }
}

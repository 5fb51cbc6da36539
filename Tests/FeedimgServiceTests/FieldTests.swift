import FeedimgModel
import Testing

@testable import FeedimgService

/// The smaller fields of HTTP.
@Suite struct FieldTests {
  @Test func `an entity tag matches a list with it, weak or not, or a star`() {
    let tag = EntityTag(of: Array("hello".utf8))
    #expect(tag.text.hasPrefix("\"5-") && tag.text.hasSuffix("\""))
    #expect(tag == EntityTag(of: Array("hello".utf8)))
    #expect(tag != EntityTag(of: Array("hellp".utf8)))
    for list in [tag.text, "W/\(tag.text)", "\"x\", \(tag.text)", " * "] {
      #expect(EntityTagList(list).contains(tag.text))
    }
    for list in ["", "\"x\"", String(tag.text.dropFirst())] {
      #expect(!EntityTagList(list).contains(tag.text))
    }
    #expect(!EntityTagList("W/\(tag.text)").containsStrongly(tag.text))
  }

  @Test(arguments: [
    ("\"a,b\"", "\"a,b\"", true, "a comma within quotes"),
    ("\"x\", W/\"a,b\" , \"y\"", "\"a,b\"", true, "among others, weak"),
    ("\"x\",\"a\"", "W/\"a\"", true, "a tag that is weak itself"), ("*", "\"a\"", true, "any"),
    ("\"a\", \"b\"", "\"a,b\"", false, "two tags are not one"),
    ("\"a", "\"a\"", false, "an unterminated tag"), ("", "\"a\"", false, "none"),
  ]) func `a list of tags is split outside quotes`(
    _ list: String,
    _ tag: String,
    _ isNamed: Bool,
    _ reason: String
  ) {
    #expect(EntityTagList(list).contains(tag) == isNamed, "\(reason)")
  }

  @Test(arguments: [
    (nil, 3, LoadPriority.visible, "the default of RFC 9218"),
    ("u=0", 0, .visible, "the most urgent"), ("u=5, i", 5, .near, "beside another member"),
    ("i, u=7;x=1", 7, .prefetch, "with a parameter"), ("u=1, u=6", 6, .prefetch, "the last one counts"),
    ("u=8", 3, .visible, "out of range"), ("u", 3, .visible, "without a value"),
    ("u=a", 3, .visible, "no number"),
    ("", 3, .visible, "empty"), (",;=,", 3, .visible, "only signs"),
  ]) func `a priority is an urgency`(_ field: String?, _ urgency: Int, _ load: LoadPriority, _ reason: String)
  {
    let priority = RequestPriority(field)
    #expect((priority.urgency, priority.load) == (urgency, load), "\(reason)")
  }
}

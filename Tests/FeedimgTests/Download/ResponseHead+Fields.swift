import FeedimgModel

extension ResponseHead {
  /// The head of a response with these fields.
  init(_ status: Int, _ fields: [(String, String)], length: Int? = nil) throws {
    self.init(
      status: status,
      fields: HTTPFields(fields.map { HTTPFields.Field(name: $0, value: $1) }),
      url: try ImageURL("http://a/"),
      contentLength: length
    )
  }
}

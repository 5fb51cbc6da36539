package import FeedimgModel

extension StoredAnswer {
  /// What is stored with the news of an answer to HEAD (RFC 9111 §4.3.5).
  ///
  /// Where it tells of the same validators and the same length, as far as it tells of them, its news count like those of
  /// a 304. If not, the image has changed: it is stale from now on, and stays until a new one comes.
  ///
  /// - Parameters:
  ///   - head: The answer 200 to HEAD, with when it came.
  ///   - size: The length of the body that is stored.
  /// - Returns: What to keep beside the old body.
  package func updated(byHead head: StoredAnswer, size: Int) -> StoredAnswer {
    let validators = Validators(of: self)
    let isSameLength = head.head.contentLength.map { $0 == size } ?? true
    guard head.head.status == 200, isSameLength, validators.match(notModified: head.head.fields) else {
      return outdated
    }
    return updated(by: head)
  }

  /// The same, to be asked about whatever it said of its freshness.
  private var outdated: StoredAnswer {
    var copy = self
    let freshness: Set<String> = ["cache-control", "expires", "pragma"]
    copy.head.fields.fields.removeAll { freshness.contains($0.name.lowercased()) }
    copy.head.fields.fields.append(HTTPFields.Field(name: "Cache-Control", value: "no-cache"))
    return copy
  }
}

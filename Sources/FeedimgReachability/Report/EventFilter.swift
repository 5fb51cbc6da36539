import Glibc

extension NetlinkReader {
  /// Whether the kernel keeps changes of narrow routes from waking who watches the network; nil without events.
  package var filtersEvents: Bool? {
    guard let events = try? NetlinkEvents() else { return nil }
    // With no room for the filter itself, the kernel tells its length in instructions (socket(7), SO_GET_FILTER,
    // which has the number of SO_ATTACH_FILTER).
    var count: socklen_t = 0
    return getsockopt(events.descriptor, SOL_SOCKET, SO_ATTACH_FILTER, nil, &count) == 0 && count > 0
  }
}

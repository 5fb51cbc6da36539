import ArgumentParser

/// `feedimg`, the root of all verbs.
struct FeedimgCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "feedimg",
    abstract: "Choose and load the images of a feed by network, setting and cache.",
    discussion: """
      A feed item has an original and a thumbnail. feedimg decides by a table that people can read which of the \
      two to show and load now, and does it: a cached original always wins; else Wi-Fi and Ethernet load the \
      original; cellular loads the thumbnail, or the original if your setting says so; offline shows the cached \
      thumbnail, else the placeholder.

      EXAMPLES
        feedimg resolve item.json                     what to show now, and why
        feedimg resolve item.json --network cellular  as if there
        feedimg load item.json -o photo.jpg           fetch it, or use the cache
        feedimg load https://x.example/a.jpg          the same for a single image
        feedimg prefetch feed.json                    fetch ahead, where data is free
        feedimg network --watch                       the network, each change
        feedimg settings set always-load-originals-on-cellular yes
        feedimg policy table                                what is decided when
        feedimg serve                                 one cache for all programs, over HTTP

      An item is JSON:
        {"originalImage": "https://x.example/a.jpg",
         "thumbnailImage": "https://x.example/a-small.jpg"}

      EXIT STATUS
        0  done
        1  failed: the network, a server, a disk; a policy with errors
        2  not understood: an option, an item, a setting, a policy
        3  nothing to show but the placeholder
      """,
    version: Version.text,
    subcommands: [
      ResolveCommand.self, LoadCommand.self, PrefetchCommand.self, NetworkCommand.self, SettingsCommand.self,
      CacheCommand.self, PolicyCommand.self, UsageCommand.self, ServeCommand.self, DoctorCommand.self,
    ]
  )
}
